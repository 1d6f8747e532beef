"""The git settings of docs/diff.md, typed as they stand there, in a real repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[3] / "docs" / "diff.md"
SOURCE = "---\nsteps:\n  - id: build\n    unit: {exec: {command: [make, all]}}\n---\n## build\nBuilds.\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits of one plan, the settings and attributes of the page, and ``akmc`` on PATH."""
    root, programs = tmp_path / "repository", tmp_path / "bin"
    (root / "workflows").mkdir(parents=True)
    (root / "plans").mkdir()
    programs.mkdir()
    packages = os.pathsep.join(filter(None, sys.path))
    script = f'#!/bin/sh\nPYTHONPATH="{packages}" exec "{sys.executable}" -m akmc "$@"\n'
    (programs / "akmc").write_text(script)
    (programs / "akmc").chmod(0o755)
    page = PAGE.read_text("utf-8")
    settings = [line for line in page.splitlines() if line.startswith("git config diff.")]
    assert [line.split()[2] for line in settings] == ["diff.akm-plan.textconv", "diff.akm-plan.command"]
    attributes = re.search(r"# \.gitattributes\n(plans/.*\n)", page)
    assert attributes is not None
    (root / ".gitattributes").write_text(attributes[1])
    run(root, "git init -q -b main")
    for line in settings:
        run(root, line)
    for word in ("all", "some"):
        (root / "workflows" / "a.md").write_text(SOURCE.replace("all", word))
        run(root, "akmc compile workflows/a.md -o plans/a.json")
        run(root, "git add -A && git -c user.name=t -c user.email=t@example.invalid commit -qm one")
    return root


def run(root: Path, line: str) -> str:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {
        "PATH": f"{root.parent / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "AKM_CONFIG_DIR": str(root.parent / "none"),
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_SYSTEM": "/dev/null",
        "GIT_PAGER": "cat",
        "NO_COLOR": "1",
    }
    done = subprocess.run(["sh", "-c", line], cwd=root, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


needs_git = pytest.mark.skipif(shutil.which("git") is None or shutil.which("sh") is None, reason="needs git and sh")


@needs_git
def test_the_documented_drivers(repository: Path) -> None:
    shown = run(repository, "git diff HEAD~1 -- plans")
    assert shown.splitlines()[0] == "a/plans/a.json -> b/plans/a.json: 1 security"
    assert "runs `make some`, ran `make all`" in shown
    assert '{"budget"' not in shown
    as_text = run(repository, "git log -p -1 -- plans")
    assert re.search(r"^-.*\ball\b", as_text, re.MULTILINE) and re.search(r"^\+.*\bsome\b", as_text, re.MULTILINE)
    assert '{"budget"' not in as_text
    # what came or went, what is no plan: git goes on with the next file
    (repository / "plans" / "b.json").write_text("no plan")
    (repository / "plans" / "a.json").unlink()
    shown = run(repository, "git add -AN && git diff HEAD -- plans")
    assert "plans/a.json: a plan came or went" in shown
    (repository / "plans" / "a.json").write_text("<<<<<<< conflict\n")
    run(repository, "git diff HEAD -- plans")
