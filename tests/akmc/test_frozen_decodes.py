"""What checks clean freezes, and what freezes decodes: corners where the checker and the decoder could disagree."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from akm_schemas.decode import decode_plan
from akmc.cli import run
from akmc.faults import CONFIG, USAGE

Write = Callable[[Mapping[str, str]], Path]
Capture = pytest.CaptureFixture[str]
EXEC = "exec: {command: [make]}"
TYPED = "---\ntype: workflow\nsteps:\n  - {id: a, unit: {exec: {command: [make]}}}\n---\n## a\nA.\n"


def workflow(unit: str) -> str:
    return f"---\nsteps:\n  - id: a\n    unit: {{{unit}}}\n---\n## a\nA.\n"


@pytest.mark.parametrize(
    "unit",
    [
        'exec: {command: [make], cwd: "a//b"}',
        'exec: {command: [make], cwd: "a/"}',
        'exec: {command: [make], cwd: "./a/."}',
        'exec: {command: [make], cwd: "a b/\u00e9\u2028"}',
        f"retry: {{max: 2, on: [timeout, non_zero_exit, timeout]}}, {EXEC}",
        f"retry: {{max: 0, on: [timeout]}}, {EXEC}",
        f"timeout: none, {EXEC}",
        f"timeout: 2147483647, {EXEC}",
        f"output: {{}}, {EXEC}",
    ],
)
def test_odd_units(write: Write, unit: str) -> None:
    root = write({"workflows/a.md": workflow(unit)})
    assert run(["check", "workflows/a.md"]) == 0
    assert run(["compile", "workflows/a.md", "-o", "p.json"]) == 0
    assert run(["verify", "--sources", "p.json"]) == 0
    assert decode_plan((root / "p.json").read_bytes()).steps[0].unit


def test_a_reason_to_try_again_counts_once(write: Write) -> None:
    root = write({"workflows/a.md": workflow(f"retry: {{max: 2, on: [timeout, non_zero_exit, timeout]}}, {EXEC}")})
    assert run(["compile", "workflows/a.md", "-o", "p.json"]) == 0
    assert json.loads((root / "p.json").read_text())["steps"][0]["unit"]["retry"]["on"] == ["timeout", "non_zero_exit"]


@pytest.mark.parametrize("name", ["a.md", "~a.md", "a b.md", "\u00e9.md", "deep/.hidden.md", "workflows/a b.md"])
def test_names_that_every_system_has(write: Write, name: str) -> None:
    write({name: TYPED})
    assert run(["check", name]) == 0
    assert run(["compile", name, "-o", "p.json"]) == 0
    assert run(["verify", "--sources", "p.json"]) == 0


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a\\b.md", "holds a backslash"),
        ("a\tb.md", "holds a control character"),
        ("a\udcffb.md", "is not UTF-8"),
        ("c:a.md", "names a drive"),
        ("workflows/a\\b.md", "holds a backslash"),
        ("workflows/a\udcff/b.md", "is not UTF-8"),
    ],
)
def test_names_that_no_plan_can_carry(write: Write, capfd: Capture, name: str, why: str) -> None:
    root = write({name: TYPED})
    for words in (["check", name], ["compile", name, "-o", "p.json"]):
        assert run(words) == USAGE
        assert why in capfd.readouterr().err
    assert not (root / "p.json").exists()


@pytest.mark.parametrize("key", ["bin", "args"])
def test_a_command_line_of_an_engine_that_no_system_starts(write: Write, capfd: Capture, key: str) -> None:
    engine = {"kind": "agent", "platform": "command", "bin": "x", key: "a\0b" if key == "bin" else ["a\0b"]}
    config = {"engines": {"coder": engine}, "defaults": {"engine": "coder"}}
    root = write({"workflows/a.md": workflow("on_error: fail"), ".akm/config.json": json.dumps(config)})
    assert run(["compile", "workflows/a.md", "-o", "p.json"]) == CONFIG
    assert f"engines.coder.{key}: a word of a command line cannot hold a NUL" in capfd.readouterr().err
    assert not (root / "p.json").exists()
