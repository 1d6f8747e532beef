"""``akmc show``, ``akmc verify`` and ``akmc new``."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from akmc.cli import run
from akmc.faults import FOUND, USAGE

Write = Callable[[Mapping[str, str]], Path]
Run = Callable[..., "subprocess.CompletedProcess[str]"]
Capture = pytest.CaptureFixture[str]

CONFIG = json.dumps(
    {
        "engines": {"local": {"kind": "llm", "endpoint": "http://127.0.0.1:9/v1/chat/completions", "model": "tiny"}},
        "defaults": {"engine": "local"},
        "workflow": {"judgeEngine": "local"},
    }
)
SOURCE = """\
---
params: {rows: {type: array}}
budget: {max_units: 9}
outputs: {all: {from: steps.each.output}}
steps:
  - id: build
    unit:
      exec: {command: [make, "a b"], cwd: src, pass_env: [CI]}
      timeout: none
  - id: each
    inputs: [steps.build.output]
    output: {type: array}
    map: {over: params.rows, concurrency: 2, unit: {retry: {max: 1, on: [timeout]}}}
    gate: {max_loops: 2}
  - id: fork
    route: {input: steps.build.output, when: [{match: 1, step: last}], default: last}
  - id: last
    unit: {exec: {command: [make]}, on_error: continue}
---
# Title

Free prose.

## build
Builds.
## each
Handles one.

With \x1b[31mcolour.
### gate
- Handled.
## last
Ends.
"""
TEXT = """\
param rows: {"type":"array"}
budget max_units: 9

step build (unit)
  exec: ["make","a b"]
  cwd: "src"
  pass env: CI
  timeout: none
  instructions:
    | Builds.

step each (map)
  over: params.rows
  concurrency: 2, reducer: collect
  input: steps.build.output
  engine: {"endpoint":"http://127.0.0.1:9/v1/chat/completions","kind":"llm","name":"local"}
  model: tiny
  engine concurrency: 1
  timeout: 600000 ms
  retry: 1 on timeout
  instructions:
    | Handles one.
    |
    | With \\x1b[31mcolour.
  step output: {"type":"array"}
  gate: at most 2 rounds, judged by local (llm)
  engine: {"endpoint":"http://127.0.0.1:9/v1/chat/completions","kind":"llm","name":"local"}
  model: tiny
  engine concurrency: 1
  rubric:
    | - Handled.

step fork (route)
  route by: steps.build.output
  when 1: last
  otherwise: last

step last (unit)
  exec: ["make"]
  timeout: 600000 ms
  on error: continue
  instructions:
    | Ends.

output all: steps.each.output
"""


@pytest.fixture
def plan(write: Write, capfd: Capture) -> Path:
    """A compiled plan beside its source."""
    root = write({".akm/config.json": CONFIG, "workflows/a.md": SOURCE})
    assert run(["compile", "workflows/a.md", "-o", "p.json"]) == 0, capfd.readouterr().err
    capfd.readouterr()
    return root / "p.json"


def test_show_text_whole(plan: Path, capfd: Capture) -> None:
    assert plan.exists() and run(["show", "p.json"]) == 0
    head, _, rest = capfd.readouterr().out.partition("planHash: ")
    assert head.startswith("plan workflows/a\ntitle: Title\nformat: markdown\ncontentHash: ")
    assert rest.partition("\n")[2] == TEXT


def test_show_of_a_source_has_the_preamble_too(plan: Path, capfd: Capture) -> None:
    run(["show", "p.json"])
    of_plan = capfd.readouterr().out
    assert run(["show", "workflows/a.md"]) == 0
    of_source = capfd.readouterr().out
    preamble = "\npreamble:\n  | # Title\n  |\n  | Free prose.\n"
    assert preamble in of_source and of_source.replace(preamble, "") == of_plan


def test_show_json(plan: Path, capfd: Capture) -> None:
    assert run(["show", "--format", "json", "p.json"]) == 0
    shown: dict[str, Any] = json.loads(capfd.readouterr().out)
    build, each, fork, last = shown["steps"]
    exec_part = {"command": ["make", "a b"], "cwd": "src", "passEnv": ["CI"]}
    assert build["orchestration"] == {"timeoutMs": None, "exec": exec_part, "hasSchema": False}
    assert each["orchestration"] == {
        "timeoutMs": 600000,
        "engine": "local",
        "model": "tiny",
        "fanOut": {"over": "params.rows", "concurrency": 2, "reducer": "collect"},
        "hasSchema": True,
    }
    route = {"input": "steps.build.output", "when": [{"match": 1, "step": "last"}], "default": "last"}
    assert fork["orchestration"] == {"route": route, "hasSchema": False}
    assert last["instructions"] == "Ends." and last["orchestration"]["exec"] == {"command": ["make"]}
    assert "preamble" not in shown


def test_show_reads_a_plan_from_standard_input(akmc: Run, plan: Path) -> None:
    done = akmc("show", "-", stdin=plan.read_text())
    assert done.returncode == 0 and "step build (unit)" in done.stdout


@pytest.mark.parametrize("text", ["", "{}", "[]", "not json", '{"irVersion": 99}', '{"irVersion": 1}'])
@pytest.mark.parametrize("command", ["show", "verify"])
def test_what_is_no_plan_is_refused_in_words(write: Write, capfd: Capture, command: str, text: str) -> None:
    write({"p.json": text})
    assert run([command, "p.json"]) == (USAGE if command == "show" else FOUND)
    captured = capfd.readouterr()
    assert captured.out == "" and "p.json" in captured.err and "help:" in captured.err


def test_verify_names_the_part_that_changed(plan: Path, capfd: Capture) -> None:
    assert run(["verify", "p.json"]) == 0
    whole = plan.read_text()
    for old, new, part in (
        ('"a b"', '"a c"', "steps[0]"),
        ("Handled.", "handled.", "contentHash"),
        ("Title", "title", "planHash"),
    ):
        plan.write_text(whole.replace(old, new, 1))
        assert plan.read_text() != whole
        capfd.readouterr()
        assert run(["verify", "p.json"]) == FOUND
        assert part in capfd.readouterr().err


def test_verify_sources(plan: Path, write: Write, capfd: Capture) -> None:
    assert plan.exists() and run(["verify", "--sources", "p.json"]) == 0
    write({"workflows/a.md": SOURCE + "More.\n"})
    assert run(["verify", "p.json"]) == 0
    capfd.readouterr()
    assert run(["verify", "--sources", "p.json"]) == FOUND
    assert capfd.readouterr().out == "differs: workflows/a.md\n"
    (plan.parent / "workflows" / "a.md").unlink()
    assert run(["verify", "--sources", "p.json"]) == FOUND
    assert capfd.readouterr().out == "missing: workflows/a.md\n"


def test_verify_sources_of_another_bundle(plan: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = plan.parent / "elsewhere"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert run(["verify", "--sources", "--bundle", "..", "../p.json"]) == 0


def test_verify_sources_names_a_file_that_would_be_read_now(plan: Path, write: Write, capfd: Capture) -> None:
    source = (plan.parent / "workflows" / "a.md").read_text()
    yaml = "name: B\non: {workflow_dispatch: {}}\njobs: {m: {runs-on: [self-hosted], steps: [{id: k, run: make}]}}\n"
    write({"workflows/b.yml": yaml})
    assert run(["compile", "workflows/b.yml", "-o", "b.json"]) == 0
    assert run(["verify", "--sources", "b.json"]) == 0
    write({"workflows/b.md": source})
    capfd.readouterr()
    assert run(["verify", "--sources", "b.json"]) == FOUND
    assert capfd.readouterr().out.startswith("never in the read set: workflows/b.md ")


@pytest.mark.parametrize("name", ["hello-there", "team/hello", "workflows/hello", "hello.md"])
def test_a_new_workflow_checks_clean_and_freezes(bundle: Path, capfd: Capture, name: str) -> None:
    assert run(["new", name]) == 0
    path = capfd.readouterr().out.strip()
    assert path == f"workflows/{name.removeprefix('workflows/').removesuffix('.md')}.md"
    assert run(["check", "--strict", "--freeze"]) == 0
    assert run(["compile", path, "-o", "p.json"]) == 0
    assert (bundle / "p.json").exists()


@pytest.mark.parametrize("name", ["hello", "team/42", "42"])
def test_the_yaml_form_checks_clean_and_freezes_too(bundle: Path, capfd: Capture, name: str) -> None:
    assert run(["new", "--yaml", name]) == 0
    path = capfd.readouterr().out.strip()
    assert path == f"workflows/{name}.yml"
    assert run(["check", "--strict", "--freeze"]) == 0
    assert run(["compile", path, "-o", "p.json"]) == 0
    assert (bundle / "p.json").exists()


def test_the_next_command_can_be_typed(bundle: Path, capfd: Capture) -> None:
    assert run(["new", "--bundle", "my flows", "a"]) == 0
    assert (bundle / "my flows" / "workflows" / "a.md").exists()
    captured = capfd.readouterr()
    assert (
        captured.out == "my flows/workflows/a.md\n" and captured.err == "next: akmc check 'my flows/workflows/a.md'\n"
    )


def test_new_goes_into_the_bundle_around(bundle: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    (bundle / "workflows" / "deep").mkdir(parents=True)
    monkeypatch.chdir(bundle / "workflows" / "deep")
    assert run(["new", "a"]) == 0
    assert capfd.readouterr().out == "../../workflows/a.md\n"
    assert (bundle / "workflows" / "a.md").is_file()


@pytest.mark.parametrize("taken", ["workflows/a.md", "workflows/a.yml"])
def test_new_never_overwrites(write: Write, taken: str) -> None:
    root = write({taken: "mine"})
    assert run(["new", "a"]) == USAGE and run(["new", "--yaml", "a"]) == USAGE
    assert (root / taken).read_text() == "mine" and len(list((root / "workflows").iterdir())) == 1


@pytest.mark.parametrize("name", ["", "../a", "/etc/a", "a b", ".hidden", "a//b", "README", "ü"])
def test_new_refuses_names_that_no_ref_could_carry(bundle: Path, name: str) -> None:
    assert run(["new", name]) == USAGE
    assert list(bundle.iterdir()) == []
