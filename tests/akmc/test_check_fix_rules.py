"""Each safe fix, and what holds for all of them: one run is enough, clean files and other bytes stay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from akmc.cli import run

Capture = pytest.CaptureFixture[str]
HEAD = "---\nsteps:\n"
BODY = "---\n## build\nGo.\n"

# name -> (before, after), whole files; what is left after the fix checks clean
MENDED = {
    "a heading typo": (HEAD + "  - id: build\n---\n## biuld\nGo.\n", HEAD + "  - id: build\n" + BODY),
    "closing hashes without a blank": (HEAD + "  - id: build\n---\n## build##\nGo.\n", HEAD + "  - id: build\n" + BODY),
    "a heading without a blank": (HEAD + "  - id: build\n---\n##build\nGo.\n", HEAD + "  - id: build\n" + BODY),
    "const": (
        "---\nparams:\n  level: {const: strict} # one\nsteps:\n  - id: build\n" + BODY,
        "---\nparams:\n  level: {enum: [strict]} # one\nsteps:\n  - id: build\n" + BODY,
    ),
    "a misspelt key": (
        HEAD + "  - id: build\n    unit: {tiemout : 5s}  # soon\n" + BODY,
        HEAD + "  - id: build\n    unit: {timeout : 5s}  # soon\n" + BODY,
    ),
    "a key in capitals and dashes": (
        HEAD + "  - id: build\n    unit: {'On-Error': continue}\n" + BODY,
        HEAD + "  - id: build\n    unit: {on_error: continue}\n" + BODY,
    ),
    "a misspelt value": (
        HEAD + '  - id: build\n    unit: {on_error: "contniue"}\n' + BODY,
        HEAD + "  - id: build\n    unit: {on_error: continue}\n" + BODY,
    ),
    "a command as a text": (
        HEAD + "  - id: build\n    unit: {exec: {command: sleep  1 a:b}}\n" + BODY,
        HEAD + '  - id: build\n    unit: {exec: {command: [sleep, "1", "a:b"]}}\n' + BODY,
    ),
    "a lone value": (
        "---\ntags:   ci\nsteps:\n  - id: build\n" + BODY,
        "---\ntags:   [ci]\nsteps:\n  - id: build\n" + BODY,
    ),
    "a number for a text": (
        HEAD + "  - id: build\n    unit: {model: 4.10}\n" + BODY,
        HEAD + '  - id: build\n    unit: {model: "4.10"}\n' + BODY,
    ),
    "indexes in a flow list": (
        HEAD
        + "  - id: a\n  - id: build\n    inputs: [steps.a.output.r[0], steps.a.output.r[1].k]\n---\n## a\nX.\n## build\nGo.\n",
        HEAD
        + '  - id: a\n  - id: build\n    inputs: ["steps.a.output.r[0]", "steps.a.output.r[1].k"]\n---\n## a\nX.\n## build\nGo.\n',
    ),
}


def put(text: str, name: str = "workflows/a.md") -> Path:
    path = Path(name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("name", MENDED)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_fix_changes_what_it_names_alone(bundle: Path, name: str, end: str) -> None:
    before, after = (text.replace("\n", end) for text in MENDED[name])
    path = put(before)
    assert run(["check", "--strict", "--fix"]) == 0
    assert path.read_bytes().decode() == after


@pytest.mark.parametrize("name", MENDED)
def test_each_fix_is_announced(bundle: Path, name: str, capfd: Capture) -> None:
    path = put(MENDED[name][0])
    run(["check", "--format", "json"])
    assert any(item["fixable"] for item in json.loads(capfd.readouterr().out)["diagnostics"])
    run(["check"])
    assert "fixable with --fix)" in capfd.readouterr().err
    assert path.read_text() == MENDED[name][0]


def test_an_extension_is_renamed_and_its_content_mended(bundle: Path) -> None:
    put(
        "name: N\non: {workflow_dispatch: {}}\njobs: {main: {runs-on: [self-hosted], steps: [{id: a, rnu: make}]}}\n",
        "workflows/a.yaml",
    )
    assert run(["check", "--fix"]) == 0
    assert Path("workflows/a.yml").read_text().endswith("steps: [{id: a, run: make}]}}\n")
    assert not Path("workflows/a.yaml").exists()


def test_an_extension_in_another_case_is_renamed(bundle: Path) -> None:
    put("---\nsteps:\n  - id: a\n    unit: {exec: {command: [make]}}\n---\n## a\nA.\n", "workflows/A.Md")
    assert run(["check", "--fix"]) == 0
    assert [path.name for path in Path("workflows").glob("A.*")] == ["A.md"]


LEFT = {
    "two candidates": "  - id: build\n    unit: {exec: {c: [make]}}\n",
    "the right key is there too": "  - id: build\n    unit: {timeout: 5s, tiemout: 6s}\n",
    "a misplaced key": "  - id: build\n    timeout: 5s\n",
    "a removed key": "  - id: build\n    title: T\n",
    "what a shell would read": "  - id: build\n    unit: {exec: {command: make && echo}}\n",
    "a block text": "  - id: build\n    unit:\n      exec:\n        command: |\n          make all\n",
}


@pytest.mark.parametrize("name", LEFT)
def test_what_is_not_safe_is_left(bundle: Path, name: str) -> None:
    path = put(HEAD + LEFT[name] + BODY)
    before = path.read_bytes()
    assert run(["check", "--fix"]) == 1
    assert path.read_bytes() == before


def test_a_near_miss_gate_is_shown_and_not_changed(bundle: Path, capfd: Capture) -> None:
    path = put(HEAD + "  - id: build\n" + BODY + "\n### Gate\n- Good.\n")
    assert run(["check", "--strict", "--fix", "--format", "json"]) == 1
    (finding,) = json.loads(capfd.readouterr().out)["diagnostics"]
    assert (finding["rule"], finding["fixable"]) == ("near-miss-gate", False)
    assert path.read_text().endswith("### Gate\n- Good.\n")


# Lines of a step that are right or wrong in one of many ways, and of a body.
UNIT = st.sampled_from(
    [
        "timeout: 5s",
        "tiemout: 5s # late",
        "on_error: contniue",
        "model: 5",
        "env: env/x",
        "exec: {command: make  all}",
        "exec: {command: [make], cwd: 1}",
        "output: {const: 1}",
        "output: {const: [a, b], type: array}",
        "retry: {max: 1, on: tiemout}",
        "llm: {Temperature: 0}",
        "isolation: Worktree",
        "nonsense: {a: [}",
        "# a comment",
    ]
)
BODY_LINE = st.sampled_from(["## biuld", "##build", "## build ##", "## tset", "Go.", "", "### Gate", "```", "text  "])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    unit=st.lists(UNIT, max_size=4),
    body=st.lists(BODY_LINE, max_size=6),
    end=st.sampled_from(["\n", "\r\n"]),
    bom=st.booleans(),
)
def test_one_run_is_enough_and_other_lines_stay(
    bundle: Path, capfd: Capture, unit: list[str], body: list[str], end: str, bom: bool
) -> None:
    settings_lines = [f"      {line}" for line in unit]
    lines = ["---", "steps:", "  - id: build", "    unit:", *settings_lines, "  - id: test", "---", *body, ""]
    text = ("\ufeff" if bom else "") + end.join(lines)
    path = put(text)
    capfd.readouterr()
    run(["check", "--format", "json"])
    found = json.loads(capfd.readouterr().out)["diagnostics"]
    run(["check", "--fix"])
    once = path.read_bytes()
    capfd.readouterr()
    run(["check", "--fix", "--format", "json"])
    left = json.loads(capfd.readouterr().out)
    assert path.read_bytes() == once
    assert left["summary"]["fixed"] == 0
    assert not [item for item in left["diagnostics"] if item["fixable"]]
    if not any(item["fixable"] for item in found):
        assert once == text.encode()
    after = once.decode().removeprefix("\ufeff").split(end)
    assert len(after) == len(lines)
    right = {"      timeout: 5s", "      # a comment", "Go.", "", "text  ", "```", "### Gate", "---", "  - id: test"}
    assert all(new == old for old, new in zip(lines, after, strict=True) if old in right)
