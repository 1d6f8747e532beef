"""``akmc verify --sources``: each answer it has."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from akm_schemas.decode import encode_plan
from akm_schemas.hashing import plan_hash
from akmc.cli import run
from akmc.faults import CONFIG, FOUND, OK
from akmc.session.freezing import read_plan

Write = Callable[[Mapping[str, str]], Path]
Capture = pytest.CaptureFixture[str]

YAML = "name: A\non: {{workflow_dispatch: {{}}}}\njobs: {{main: {{runs-on: [self-hosted], steps: [{}]}}}}\n"
STEPS = (
    "{id: s, uses: scripts/x.sh}, {id: k, uses: workflows/kid}, {id: o, uses: team//workflows/other}, "
    "{id: t, uses: tasks/t}"
)
FILES = {
    "main/workflows/a.yml": YAML.format(STEPS),
    "main/workflows/kid.md": "---\nsteps: [{id: k, unit: {exec: {command: [env]}, env: [env/ci]}}]\n---\n## k\nK.\n",
    "main/tasks/t.yml": "version: 4\nuses: workflows/kid\n",
    "main/scripts/x.sh": "ls\n",
    "main/env/ci.env": "A=1\n",
    "main/.akm/config.json": '{"bundles": {"team": "../team"}}',
    "team/workflows/other.yml": YAML.format("{id: o, uses: scripts/y.sh}"),
    "team/scripts/y.sh": "ls -1\n",
}


@pytest.fixture
def frozen(write: Write, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> Path:
    """A plan of two bundles, seen from inside the first."""
    root = write(FILES)
    monkeypatch.chdir(root / "main")
    assert run(["compile", "workflows/a.yml", "-o", "p.json"]) == OK, capfd.readouterr().err
    return root


def answers(capfd: Capture, *words: str, status: int = FOUND) -> list[str]:
    capfd.readouterr()
    assert run(["verify", "--sources", "p.json", *words]) == status
    captured = capfd.readouterr()
    if status == FOUND:
        assert "its sources have moved on" in captured.err
    return captured.out.splitlines()


def test_nothing_has_moved(frozen: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    assert answers(capfd, status=OK)[0] == "p.json: intact"
    monkeypatch.chdir(frozen / "main" / "workflows")
    assert run(["verify", "--sources", "../p.json"]) == OK


@pytest.mark.parametrize("name", [name for name in FILES if "config" not in name])
def test_each_file_of_every_bundle_counts(frozen: Path, capfd: Capture, name: str) -> None:
    shown = name.partition("/")[2]
    with (frozen / name).open("a") as file:
        file.write("\n")
    assert answers(capfd) == [f"differs: {shown}"]
    (frozen / name).unlink()
    assert answers(capfd) == [f"missing: {shown}"]
    (frozen / name).mkdir()
    assert answers(capfd) == [f"missing: {shown} (it is a directory)"]


def test_answers_come_together_and_sorted(frozen: Path, capfd: Capture) -> None:
    (frozen / "main/scripts/x.sh").write_text("ls -2\n")
    (frozen / "main/env/ci.env").unlink()
    shutil.copy(frozen / "main/workflows/kid.md", frozen / "team/workflows/other.md")
    found = answers(capfd)
    assert found[:2] == ["differs: scripts/x.sh", "missing: env/ci.env"]
    assert found[2].startswith("never in the read set: workflows/other.md ") and len(found) == 3


def test_a_bundle_that_no_config_names(frozen: Path, capfd: Capture) -> None:
    (frozen / "main/.akm/config.json").write_text("{}")
    found = answers(capfd)
    assert found and all(line.endswith("(no config names its bundle)") for line in found)
    (frozen / "main/.akm/config.json").write_text("{")
    assert answers(capfd, status=CONFIG) == []


def test_what_was_never_in_the_read_set(frozen: Path, capfd: Capture) -> None:
    """A plan made by hand, sealed as it should be, that uses a file its read set does not have."""
    plan: dict[str, Any] = json.loads(encode_plan(read_plan("p.json")))
    plan["provenance"]["sourceReadSet"] = [
        entry for entry in plan["provenance"]["sourceReadSet"] if entry["ref"] != "scripts/x.sh"
    ]
    plan["planHash"] = plan_hash(plan)
    Path("p.json").write_text(json.dumps(plan))
    assert run(["verify", "p.json"]) == OK
    assert answers(capfd) == ["never in the read set: scripts/x.sh"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(frozen: Path, capfd: Capture) -> None:
    (frozen / "main/scripts/x.sh").chmod(0)
    assert answers(capfd) == ["missing: scripts/x.sh (Permission denied)"]
