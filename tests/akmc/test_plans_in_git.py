"""Plans kept in git: why one is stale, how they are refreshed, how merges are resolved."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from akm_schemas.decode import decode_plan
from akmc.cli import run
from akmc.faults import CONFIG, FOUND, OK, USAGE

Write = Callable[[Mapping[str, str]], Path]
Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).resolve().parents[2]

NEAR = {"kind": "llm", "endpoint": "http://127.0.0.1:9/v1/chat/completions", "model": "tiny"}
CONFIG_FILE: dict[str, Any] = {
    "engines": {"near": NEAR, "far": {**NEAR, "model": "huge"}},
    "defaults": {"engine": "near"},
    "workflow": {"judgeEngine": "near", "maxConcurrency": 3},
}
EXEC = "---\nsteps:\n  - id: build\n    unit: {exec: {command: [make]}}\n---\n## build\nBuilds.\n"
ASKS = "---\nsteps:\n  - id: ask\n---\n## ask\nAsk.\n### gate\n- Asked.\n"
OUTER = """name: A
on: {workflow_dispatch: {}}
jobs:
  main:
    runs-on: [self-hosted]
    steps:
      - {id: k, uses: workflows/kid}
      - {id: t, uses: tasks/t}
"""
FILES = {
    "workflows/a.yml": OUTER,
    "workflows/kid.yml": OUTER.replace("workflows/kid", "scripts/x.sh").replace("      - {id: t, uses: tasks/t}\n", ""),
    "workflows/ask.md": ASKS,
    "tasks/t.yml": "version: 4\nuses: commands/c\n",
    "commands/c.md": "Ask.\n",
    "commands/d.md": "Ask.\n",
    "scripts/x.sh": "ls\n",
    ".akm/config.json": json.dumps(CONFIG_FILE),
}


def git(*words: str, expect: int | None = 0) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false", "-c", "core.hooksPath="]
    done = subprocess.run(["git", *who, *words], capture_output=True, text=True, check=False)
    assert expect is None or done.returncode == expect, done.stdout + done.stderr
    return done.stdout


def check(capfd: Capture, source: str = "workflows/a.yml") -> str:
    """What ``--check`` says of the plan p.json, without its first and last line."""
    capfd.readouterr()
    assert run(["compile", "--check", source, "-o", "p.json"]) == FOUND
    head, *causes, last = capfd.readouterr().err.splitlines()
    assert head.startswith("akmc: p.json is stale: ")
    assert last == f"  help: akmc compile {source} -o p.json"
    return "\n".join(causes)


def changed_config(**workflow: Any) -> str:
    return json.dumps({**CONFIG_FILE, "workflow": {**CONFIG_FILE["workflow"], **workflow}})


@pytest.mark.parametrize(
    ("files", "causes"),
    [
        ({"scripts/x.sh": "ls -1\n"}, "  changed: scripts/x.sh"),
        ({"workflows/kid.yml": FILES["workflows/kid.yml"] + "\n"}, "  changed: workflows/kid.yml"),
        (
            {"tasks/t.yml": "version: 4\nuses: commands/d\n"},
            "  gone: commands/c.md\n  added: commands/d.md\n  changed: tasks/t.yml",
        ),
        (
            {".akm/config.json": FILES[".akm/config.json"].replace("9/v1", "9/v2")},
            '  config: the engine "near" has another endpoint',
        ),
        (
            {".akm/config.json": FILES[".akm/config.json"].replace('"tiny"', '"small"')},
            "  config: it gives another steps[1].unit.target.model",
        ),
        ({".akm/config.json": changed_config(maxConcurrency=4)}, "  config: workflow.maxConcurrency was 3, is 4"),
        (
            {".akm/config.json": changed_config(maxConcurrency=4), "scripts/x.sh": "ls -1\n"},
            "  changed: scripts/x.sh\n  config: workflow.maxConcurrency was 3, is 4",
        ),
    ],
)
def test_the_inputs_that_made_it_stale(write: Write, capfd: Capture, files: dict[str, str], causes: str) -> None:
    write(FILES)
    assert run(["compile", "workflows/a.yml", "-o", "p.json"]) == OK
    assert run(["compile", "--check", "workflows/a.yml", "-o", "p.json"]) == OK
    write(files)
    assert check(capfd) == causes


def test_a_judge_and_another_source_and_many_files(write: Write, capfd: Capture) -> None:
    write(FILES)
    run(["compile", "workflows/ask.md", "-o", "p.json"])
    write({".akm/config.json": changed_config(judgeEngine="far")})
    assert check(capfd, "workflows/ask.md") == '  config: workflow.judgeEngine was "near", is "far"'
    assert "  source: it was made from workflows/ask\n" in check(capfd) + "\n"


def test_the_lowering_and_the_format(write: Write, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(FILES)
    run(["compile", "workflows/ask.md", "-o", "p.json"])
    plan = (root / "p.json").read_text()
    monkeypatch.setattr("akmc_passes.lower.LOWERING", 2)
    assert check(capfd, "workflows/ask.md") == "  lowering: it was lowered by version 1, this is 2"
    for text, says in (
        (
            plan.replace('"irVersion":5', '"irVersion":4'),
            "it is of another format (irVersion: the plan has irVersion 4",
        ),
        (plan.replace('"irVersion":5', '"irVersion":6'), "upgrade akmc"),
        (plan.replace("Asked", "asked"), "it cannot be read as a plan (contentHash"),
        ("{", "it cannot be read as a plan"),
    ):
        (root / "p.json").write_text(text)
        assert run(["compile", "--check", "workflows/ask.md", "-o", "p.json"]) == FOUND
        assert says in capfd.readouterr().err


@pytest.fixture
def repository(write: Write) -> Path:
    """A repository with two plans, one of them indented, and JSON that is none."""
    root = write({**FILES, "workflows/b.md": EXEC, "other.json": '{"irVersion": "not really"}', "more.json": "[1"})
    git("init", "-q", "-b", "main")
    (root / "plans").mkdir()
    assert run(["compile", "workflows/a.yml", "-o", "plans/a.json"]) == OK
    assert run(["compile", "workflows/b.md", "--pretty", "-o", "plans/b.json"]) == OK
    git("add", "-A")
    git("commit", "-qm", "one")
    return root


def test_refresh_writes_what_is_stale_and_nothing_else(repository: Path, capfd: Capture) -> None:
    capfd.readouterr()
    assert run(["compile", "--refresh"]) == OK
    assert capfd.readouterr() == ("", "") and git("status", "--porcelain") == ""
    (repository / "scripts/x.sh").write_text("ls -1\n")
    assert run(["compile", "--refresh"]) == OK
    said = capfd.readouterr().err
    assert said.startswith("akmc: wrote plans/a.json (contentHash ") and said.count("\n") == 1
    assert git("diff", "--name-only").split() == ["plans/a.json", "scripts/x.sh"]
    (repository / "workflows/b.md").write_text(EXEC.replace("make", "cmake"))
    assert run(["compile", "--refresh", "plans/b.json"]) == OK
    text = (repository / "plans/b.json").read_text()
    assert text.count("\n") > 10 and "cmake" in text
    assert run(["compile", "--check", "workflows/b.md", "-o", "plans/b.json"]) == OK


def test_one_plan_that_cannot_be_made_hides_no_other(repository: Path, capfd: Capture) -> None:
    (repository / "workflows/a.yml").write_text(OUTER.replace("tasks/t", "tasks/gone"))
    (repository / "workflows/b.md").write_text(EXEC.replace("make", "cmake"))
    before = (repository / "plans/a.json").read_bytes()
    assert run(["compile", "--refresh"]) == USAGE
    assert "unresolved-ref" in capfd.readouterr().err
    assert (repository / "plans/a.json").read_bytes() == before
    assert "cmake" in (repository / "plans/b.json").read_text()
    (repository / ".akm/config.json").write_text("{")
    assert run(["compile", "--refresh"]) == CONFIG


def test_a_source_that_is_gone_or_ambiguous(repository: Path, capfd: Capture) -> None:
    (repository / "workflows/b.md").unlink()
    assert run(["compile", "--refresh"]) == FOUND
    assert 'its source "workflows/b.md" was not found' in capfd.readouterr().err
    for folder in ("one", "two"):
        path = repository / folder / "workflows" / "b.md"
        path.parent.mkdir(parents=True)
        path.write_text(EXEC)
        git("add", "-A")
        assert run(["compile", "--refresh"]) == (OK if folder == "one" else FOUND), capfd.readouterr().err
    assert "2 files are called so: one/workflows/b.md, two/workflows/b.md" in capfd.readouterr().err
    assert run(["compile", "--refresh", "--bundle", "two", "plans/b.json"]) == OK


@pytest.mark.parametrize(
    "words", [["-o", "x.json"], ["--check"], ["--emit", "text"], ["other.json"], ["absent.json"], ["more.json"]]
)
def test_calls_that_make_no_sense(repository: Path, capfd: Capture, words: list[str]) -> None:
    assert run(["compile", "--refresh", *words]) in (USAGE, FOUND)
    assert "  help: " in capfd.readouterr().err


def test_refresh_needs_git_or_names(write: Write, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(FILES)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(root.parent))
    assert run(["compile", "--refresh"]) == USAGE
    assert "git repository" in capfd.readouterr().err
    run(["compile", "workflows/ask.md", "-o", "p.json"])
    assert run(["compile", "--refresh", "p.json"]) == OK


@pytest.mark.parametrize("attributes", ["plans/*.json -merge\n", ""])
def test_a_merge_is_resolved_by_compiling(repository: Path, capfd: Capture, attributes: str) -> None:
    (repository / ".gitattributes").write_text(attributes)
    source = repository / "workflows" / "b.md"
    plan = repository / "plans" / "b.json"
    run(["compile", "workflows/b.md", "-o", "plans/b.json"])
    git("add", "-A")
    git("commit", "-qm", "two")

    def change(branch: str, command: str) -> None:
        source.write_text(EXEC.replace("[make]", f"[make, {command}]"))
        assert run(["compile", "--refresh"]) == OK
        git("commit", "-qam", branch)

    git("switch", "-qc", "topic")
    change("topic", "theirs")
    git("switch", "-q", "main")
    change("main", "ours")
    git("merge", "topic", expect=1)
    assert set(git("diff", "--name-only", "--diff-filter=U").split()) == {"plans/b.json", "workflows/b.md"}
    source.write_text(EXEC.replace("[make]", "[make, ours, theirs]"))
    capfd.readouterr()
    status = run(["compile", "--refresh"])
    if not attributes:
        assert status == FOUND
        assert "akmc compile SOURCE -o plans/b.json" in capfd.readouterr().err
        assert run(["compile", "workflows/b.md", "-o", "plans/b.json"]) == OK
    git("add", "-A")
    git("commit", "-qm", "merged")
    assert decode_plan(plan.read_bytes()).steps[0].unit.target.command == ["make", "ours", "theirs"]  # type: ignore[union-attr]
    assert run(["compile", "--check", "workflows/b.md", "-o", "plans/b.json"]) == OK


@pytest.mark.parametrize(
    ("path", "taken"),
    [
        ("workflows/a.md", True),
        ("api/scripts/deep/x.sh", True),
        ("env/ci.env", True),
        ("commands/c.md", True),
        (".akm/config.json", True),
        ("api/.akm/models.json", True),
        ("plans/a.json", True),
        ("p.json", True),
        ("workflows/README.md", False),
        (".github/workflows/ci.yml", False),
        ("api/.github/scripts/x.sh", False),
        (".akm/state.db", False),
        ("src/main.py", False),
    ],
)
def test_which_files_the_hook_looks_at(path: str, taken: bool) -> None:
    rows = YAML(typ="safe").load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    row = next(row for row in rows if row["id"] == "akmc-compile")
    matches = re.search(row["files"], path) is not None and re.search(row["exclude"], path) is None
    assert matches is taken
    assert row["pass_filenames"] is False and row["entry"] == "akmc compile --refresh"


def test_the_page_names_what_is_there() -> None:
    page = (ROOT / "docs" / "plans-in-git.md").read_text("utf-8")
    for word in ("akmc compile --refresh", "plans/*.json -merge", "akmc-compile", "akmc compile --check"):
        assert word in page
