"""The pre-commit hook: which files it takes, and that it works from a clone with nothing installed before."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[2]
HOOKS = ROOT / ".pre-commit-hooks.yaml"
GOOD = "---\nsteps:\n  - id: build\n---\n## build\nGo.\n"
BAD = GOOD + "\n## stray\nNo.\n"
YML = "name: N\non: {workflow_dispatch: {}}\njobs: {main: {runs-on: [self-hosted], steps: [{id: a, run: make}]}}\n"
ACTIONS = "name: CI\non: push\njobs: {test: {runs-on: ubuntu-latest, steps: [{run: make}]}}\n"


def hook(name: str) -> dict[str, str]:
    """A hook of the manifest."""
    return next(dict(row) for row in YAML(typ="safe").load(HOOKS.read_text("utf-8")) if row["id"] == name)


@pytest.mark.parametrize(
    ("path", "taken"),
    [
        ("workflows/a.md", True),
        ("workflows/a.yml", True),
        ("workflows/a.yaml", True),
        ("tasks/deep/t.yml", True),
        ("services/api/workflows/deep/a.md", True),
        (".github/workflows/ci.yml", False),
        ("services/.github/workflows/ci.yml", False),
        (".akm/workflows/a.md", False),
        ("workflows/.drafts/a.md", False),
        ("workflows/.a.md", False),
        ("workflows/README.md", False),
        ("workflows/a.json", False),
        ("myworkflows/a.md", False),
        ("docs/a.md", False),
        ("commands/a.md", False),
    ],
)
def test_which_files_it_takes(path: str, taken: bool) -> None:
    row = hook("akmc-check")
    matches = re.search(row["files"], path) is not None and re.search(row["exclude"], path) is None
    assert matches is taken


def git(*words: str, cwd: Path) -> None:
    who = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=cwd, check=True, capture_output=True)


def commit_all(folder: Path) -> None:
    git("init", "-q", cwd=folder)
    git("add", "-A", cwd=folder)
    git("commit", "-q", "-m", "all", cwd=folder)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of this checkout as it is now."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    where = tmp_path_factory.mktemp("akmc") / "clone"
    for name in filter(None, listed.decode().split("\0")):
        source = ROOT / name
        if name.startswith("tests/") or not source.exists():
            continue
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, where / name, follow_symlinks=False)
    commit_all(where)
    return where


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pre-commit keeps what it installed, which the tests of one process share."""
    return tmp_path_factory.mktemp("pre-commit")


def pre_commit(home: Path, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "PYTHON"))}
    env |= {"PRE_COMMIT_HOME": str(home), "PRE_COMMIT_COLOR": "never", "AKM_CONFIG_DIR": str(home)}
    argv = [sys.executable, "-m", "pre_commit", *words]
    return subprocess.run(argv, cwd=cwd, env=env, capture_output=True, encoding="utf-8", check=False)


def configure(scratch: Path, clone: Path) -> None:
    """Have the repository in ``scratch`` use every hook of ``clone``, as its users write it down."""
    revision = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=clone, check=True, capture_output=True, text=True
    ).stdout
    hooks = ", ".join(f"{{id: {row['id']}}}" for row in YAML(typ="safe").load(HOOKS.read_text("utf-8")))
    text = f"repos:\n  - repo: {clone}\n    rev: {revision.strip()}\n    hooks: [{hooks}]\n"
    (scratch / ".pre-commit-config.yaml").write_text(text)


needs_pre_commit = pytest.mark.skipif(
    importlib.util.find_spec("pre_commit") is None or shutil.which("git") is None or not (ROOT / ".git").exists(),
    reason="needs pre-commit, git and a checkout",
)


@needs_pre_commit
@pytest.mark.timeout(900)
@pytest.mark.xdist_group("pre-commit")
def test_try_repo_on_a_clone_checks_several_files_at_once(clone: Path, home: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    sources = {
        "workflows/good.md": GOOD,
        "workflows/bad.md": BAD,
        "services/api/workflows/nightly.yml": YML,
        "services/api/workflows/stray.md": BAD,
        "workflows/README.md": "# What is here\n",
        ".github/workflows/ci.yml": ACTIONS,
    }
    for name, text in sources.items():
        (scratch / name).parent.mkdir(parents=True, exist_ok=True)
        (scratch / name).write_text(text)
    commit_all(scratch)
    done = pre_commit(home, "try-repo", str(clone), "akmc-check", "--all-files", "--verbose", cwd=scratch)
    said = done.stdout + done.stderr
    assert done.returncode == 1, said
    assert "workflows/bad.md:8:4" in said
    assert "services/api/workflows/stray.md:8:4" in said
    assert "4 files checked: 2 errors" in said
    assert "ci.yml" not in said


@needs_pre_commit
@pytest.mark.timeout(900)
@pytest.mark.xdist_group("pre-commit")
def test_the_hook_refreshes_several_plans(clone: Path, home: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    source = "---\nsteps: [{id: build, unit: {exec: {command: [make]}}}]\n---\n## build\nGo.\n"
    plans = {"workflows/a.md": "plans/a.json", "services/api/workflows/b.md": "services/api/b.json"}
    for name, plan in plans.items():
        for path in (scratch / name, scratch / plan):
            path.parent.mkdir(parents=True, exist_ok=True)
        (scratch / name).write_text(source)
        words = [sys.executable, "-m", "akmc", "compile", name, "-o", plan]
        subprocess.run(words, cwd=scratch, check=True, capture_output=True)
        (scratch / name).write_text(source.replace("make", "cmake"))
    configure(scratch, clone)
    commit_all(scratch)
    for status, said in ((1, "files were modified by this hook"), (0, "Passed")):
        done = pre_commit(home, "run", "akmc-compile", "--files", *plans, "--verbose", cwd=scratch)
        assert (done.returncode, said in done.stdout) == (status, True), done.stdout + done.stderr
    assert all("cmake" in (scratch / plan).read_text() for plan in plans.values())


@needs_pre_commit
@pytest.mark.timeout(900)
@pytest.mark.xdist_group("pre-commit")
def test_the_hook_tells_what_a_commit_means(clone: Path, home: Path, tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    source = "---\nsteps: [{id: build, unit: {exec: {command: [make]}}}]\n---\n## build\nGo.\n"
    names = ("workflows/a.md", "workflows/deep/b.md", ".github/workflows/ci.yml")
    for name in names:
        (scratch / name).parent.mkdir(parents=True, exist_ok=True)
        (scratch / name).write_text(ACTIONS if name.endswith(".yml") else source)
    configure(scratch, clone)
    commit_all(scratch)
    for name in names[:2]:
        (scratch / name).write_text(source.replace("make", "cmake"))
    git("add", "-A", cwd=scratch)
    done = pre_commit(home, "run", "akmc-diff", "--files", *names, cwd=scratch)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "since HEAD: 2 security in 2 of 2 workflows" in done.stdout
    assert done.stdout.count("runs `cmake`, ran `make`") == 2
    assert "ci.yml" not in done.stdout
    done = pre_commit(home, "run", "akmc-diff", "--files", names[2], cwd=scratch)
    assert "no files to check" in done.stdout, done.stdout + done.stderr
