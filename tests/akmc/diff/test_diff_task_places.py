"""Changes of a composed task or command are placed in the file that changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from akm_schemas.plan import Plan
from akmc.diff.captured import captured
from akmc.diff.compare import compare_plans
from akmc.diff.places import Sources
from akmc.diff.text_format import place_text
from akmc.session.freezing import compile_source

FILES: Final = {
    "workflows/w.yml": """\
name: W
on: {workflow_dispatch: {}}
jobs:
  main:
    runs-on: [self-hosted]
    steps:
      - {id: a, uses: tasks/t}
      - id: r
        uses: akm/command
        with:
          ref: commands/rev
          arguments: the code
      - {id: s, uses: scripts/s.sh, env: {T: "1"}}
      - id: k
        uses: workflows/count
        with: {n: 3}
      - {id: o, uses: workflows/kid}
""",
    "workflows/kid.yml": """\
name: K
on: {workflow_dispatch: {}}
jobs:
  main:
    runs-on: [self-hosted]
    steps:
      - {id: inner, uses: tasks/t}
""",
    "workflows/count.md": "---\nparams: {n: {type: integer}}\nsteps: [{id: a}]\n---\n## a\nCount.\n",
    "tasks/t.yml": """\
version: 4
uses: akm/command
with: {content: Do it}
timeout: 5000
tools: [Read]
redact: [A]
model: big
""",
    "commands/rev.md": "Review $ARGUMENTS now.\nThen stop.\n",
    "scripts/s.sh": "ls\n",
    ".akm/config.json": json.dumps(
        {"engines": {"coder": {"kind": "agent", "platform": "claude"}}, "defaults": {"engine": "coder"}}
    ),
}
Placed = Callable[[str, str, str], set[str]]


def frozen(folder: Path, files: dict[str, str]) -> tuple[Plan, Sources]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    path = "workflows/w.yml"
    result = compile_source(path)
    assert result.plan is not None, [finding.message for finding in result.findings]
    return result.plan, captured(result, path, None)


@pytest.fixture
def placed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Placed:
    """The places of the changes that replacing a text in a file makes."""
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)

    def run(name: str, old: str, new: str) -> set[str]:
        assert old in FILES[name]
        before, after = frozen(tmp_path, FILES), frozen(tmp_path, {**FILES, name: FILES[name].replace(old, new)})
        changes = compare_plans(before[0], after[0], (before[1], after[1])).changes
        assert changes
        return {place_text(change) for change in changes}

    return run


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("Do it", "Do that", "tasks/t.yml:3:8"),
        ("5000", "6000", "tasks/t.yml:4:1"),
        ("timeout: 5000\n", "", "tasks/t.yml:2:1 (was 4:1)"),
        ("[A]", "[A, B]", "tasks/t.yml:6:1"),
        ("[Read]", "[Read, Edit]", "tasks/t.yml:5:1"),
        ("model: big", "model: huge", "tasks/t.yml:7:1"),
    ],
)
def test_a_key_of_a_task(placed: Placed, old: str, new: str, place: str) -> None:
    """The same for the workflow and for the one that it composes."""
    assert placed("tasks/t.yml", old, new) == {place}


def test_another_target_of_a_task(placed: Placed) -> None:
    whole = FILES["tasks/t.yml"]
    found = placed("tasks/t.yml", whole, 'version: 4\nrun: make it\nenv: {T: "x"}\n')
    assert {"tasks/t.yml:2:1", "tasks/t.yml:3:7 (was 2:1)"} <= found
    assert all(place.startswith("tasks/t.yml:") for place in found)


@pytest.mark.parametrize(
    ("name", "old", "new", "place"),
    [
        ("workflows/w.yml", "the code", "the docs", "workflows/w.yml:12:11"),
        ("commands/rev.md", "Then stop", "Then go", "commands/rev.md:2:1"),
        ("scripts/s.sh", "ls", "ls -a", "scripts/s.sh:1:1"),
        ("workflows/w.yml", '{T: "1"}', '{T: "2"}', "workflows/w.yml:13:43"),
        ("workflows/w.yml", '{T: "1"}', '{T: "1", PATH: ./bin}', "workflows/w.yml:13:51 (was 13:37)"),
        ("workflows/w.yml", "{n: 3}", "{n: 4}", "workflows/w.yml:16:16"),
    ],
)
def test_what_the_workflow_or_an_asset_says(placed: Placed, name: str, old: str, new: str, place: str) -> None:
    assert placed(name, old, new) == {place}
