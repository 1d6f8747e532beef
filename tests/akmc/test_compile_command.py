"""``akmc compile``: what is written, and what is not."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from akm_schemas.decode import decode_plan
from akmc.cli import run
from akmc.faults import CONFIG, FOUND, USAGE
from akmc.session import freezing
from akmc_passes.pipeline import pass_names

Write = Callable[[Mapping[str, str]], Path]
Run = Callable[..., "subprocess.CompletedProcess[str]"]
Capture = pytest.CaptureFixture[str]

EXEC = "---\nsteps:\n  - id: build\n    unit: {exec: {command: [make]}}\n---\n## build\nBuilds.\n"
WARNS = EXEC.replace("    unit:", "    gate: {max_loops: 2}\n    unit:")
ASKS = "---\nsteps:\n  - id: ask\n---\n## ask\nAsk.\n"
BROKEN = EXEC.replace("## build", "## bild")
FILES = {"workflows/a.md": EXEC, "workflows/ask.md": ASKS, "workflows/broken.md": BROKEN, "workflows/warns.md": WARNS}


def test_to_a_file_and_to_standard_output_the_same_bytes(
    write: Write, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    root = write(FILES)
    assert run(["compile", "workflows/a.md", "-o", "p.json"]) == 0
    plan = decode_plan((root / "p.json").read_bytes())
    wrote = f"akmc: wrote p.json (contentHash {plan.content_hash[:12]}, 1 step)\n"
    assert capfdbinary.readouterr() == (b"", wrote.encode())
    for arguments in (["workflows/a.md"], ["workflows/a.md", "-o", "-"]):
        assert run(["compile", *arguments]) == 0
        captured = capfdbinary.readouterr()
        assert captured.out == (root / "p.json").read_bytes() and captured.err == b""
    assert decode_plan((root / "p.json").read_bytes()).steps[0].id == "build"


def test_warnings_go_to_standard_error_and_the_plan_is_written(write: Write, capfd: Capture) -> None:
    write(FILES)
    assert run(["compile", "workflows/warns.md"]) == 0
    captured = capfd.readouterr()
    assert json.loads(captured.out)["irVersion"] == 5
    assert "warning[AKM0407 inert-gate]" in captured.err


@pytest.mark.parametrize(
    ("source", "status", "rule"), [("broken", USAGE, "unexpected-heading"), ("ask", CONFIG, "no-engine")]
)
def test_nothing_is_written_when_something_is_wrong(
    write: Write, capfd: Capture, source: str, status: int, rule: str
) -> None:
    root = write({**FILES, "kept.json": "old"})
    for output in ("kept.json", "new.json", "-"):
        assert run(["compile", f"workflows/{source}.md", "-o", output]) == status
        captured = capfd.readouterr()
        assert captured.out == "" and rule in captured.err
    assert (root / "kept.json").read_text() == "old" and not (root / "new.json").exists()


@pytest.mark.parametrize("config", ["{", '{"enginez": {}}'])
def test_a_faulty_config(write: Write, capfd: Capture, config: str) -> None:
    root = write({**FILES, ".akm/config.json": config})
    assert run(["compile", "workflows/a.md", "-o", "p.json"]) == CONFIG
    assert "config.json" in capfd.readouterr().err and not (root / "p.json").exists()


@pytest.mark.parametrize(
    "arguments", [["absent.md"], ["workflows"], ["docs/x.md"], [], ["workflows/a.md", "--stop-after", "lowr"]]
)
def test_calls_that_make_no_sense(write: Write, arguments: list[str]) -> None:
    write({**FILES, "docs/x.md": "prose"})
    assert run(["compile", *arguments]) == USAGE


def test_the_pretty_twin_is_the_same_plan(write: Write) -> None:
    root = write(FILES)
    run(["compile", "workflows/a.md", "-o", "p.json"])
    run(["compile", "workflows/a.md", "--pretty", "-o", "q.json"])
    plain, pretty = (root / "p.json").read_bytes(), (root / "q.json").read_bytes()
    assert decode_plan(plain) == decode_plan(pretty)
    assert pretty.count(b"\n") > 10 and plain.count(b"\n") == 1 and pretty.endswith(b"}\n")


def test_check_tells_stale_from_fresh_and_never_writes(write: Write, capfd: Capture) -> None:
    root = write(FILES)
    check = ["compile", "--check", "workflows/a.md", "-o", "p.json"]
    assert run(check) == FOUND and not (root / "p.json").exists()
    run(["compile", "workflows/a.md", "--pretty", "-o", "p.json"])
    assert run(check) == 0
    capfd.readouterr()
    for text, reason in ((EXEC.replace("make", "cmake"), "contentHash"), (EXEC + "\n", "planHash")):
        write({"workflows/a.md": text})
        before = (root / "p.json").read_bytes()
        assert run(check) == FOUND
        assert reason in capfd.readouterr().err and (root / "p.json").read_bytes() == before
    write({"p.json": "{}"})
    assert run(check) == FOUND
    write({"workflows/a.md": BROKEN})
    assert run(check) == USAGE
    assert run(["compile", "--check", "workflows/a.md"]) == USAGE


def test_stages(write: Write, capfd: Capture) -> None:
    write(FILES)
    for source in ("a", "ask"):
        assert run(["compile", f"workflows/{source}.md", "--emit", "source-ir"]) == 0
        assert json.loads(capfd.readouterr().out)["sourceIrVersion"] == 1
        assert run(["compile", f"workflows/{source}.md", "--emit", "resolved"]) == 0
        assert {"source", "references", "assets"} <= set(json.loads(capfd.readouterr().out))
    assert run(["compile", "workflows/broken.md", "--emit", "source-ir"]) == USAGE
    assert capfd.readouterr().out == ""
    assert run(["compile", "workflows/a.md", "--emit", "text"]) == 0
    assert capfd.readouterr().out.startswith("plan workflows/a\n")
    assert run(["compile", "workflows/ask.md", "--stop-after", "references"]) == 0
    assert "plan" not in json.loads(capfd.readouterr().out)


def test_passes_are_listed_and_timed(write: Write, capfd: Capture) -> None:
    write(FILES)
    assert run(["compile", "--print-passes"]) == 0
    assert [line.split()[0] for line in capfd.readouterr().out.splitlines()] == pass_names()
    assert run(["compile", "--time-passes", "workflows/a.md", "-o", os.devnull]) == 0
    assert [line.split()[-1] for line in capfd.readouterr().err.splitlines()] == pass_names()


def test_standard_input(akmc: Run, write: Write) -> None:
    root = write(FILES)
    run(["compile", "workflows/a.md", "-o", "p.json"])
    done = akmc("compile", "--stdin-filename", "workflows/a.md", "-", stdin=EXEC)
    assert done.returncode == 0 and done.stdout == (root / "p.json").read_text()


def test_a_source_that_changes_during_the_freeze(write: Write, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(FILES)
    freeze = freezing.compile_source

    def freeze_and_touch(*arguments: object, **options: object) -> object:
        result = freeze(*arguments, **options)  # type: ignore[arg-type]  # handed on as they came
        write({"workflows/a.md": EXEC + "More.\n"})
        return result

    monkeypatch.setattr("akmc.compiling.compile_source", freeze_and_touch)
    assert run(["compile", "workflows/a.md", "-o", "p.json"]) == USAGE
    assert "source-changed-during-freeze" in capfd.readouterr().err and not (root / "p.json").exists()


@pytest.mark.parametrize("options", [[], ["--emit", "source-ir"]])
def test_a_plan_is_never_written_over_its_source(write: Write, options: list[str]) -> None:
    root = write(FILES)
    (root / "link.json").symlink_to("workflows/a.md")
    for output in ("workflows/a.md", "link.json"):
        assert run(["compile", "workflows/a.md", *options, "-o", output]) == USAGE
    assert (root / "workflows" / "a.md").read_text() == EXEC


@pytest.mark.parametrize(
    ("output", "says"),
    [
        ("workflows/ask.md", "lies where the sources of a bundle do"),
        ("workflows/new.yml", "lies where the sources of a bundle do"),
        ("env/new.env", "lies where the sources of a bundle do"),
    ],
)
def test_a_plan_is_never_written_where_sources_lie(write: Write, capfd: Capture, output: str, says: str) -> None:
    root = write({**FILES, "env/a.env": "A=1"})
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert run(["compile", "workflows/a.md", "-o", output]) == USAGE
    assert f'"{output}" {says}' in capfd.readouterr().err
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("damage", ["", "mine", "<<<<<<< HEAD\n{plan}\n=======\n{plan}\n>>>>>>> x\n", "{plan}"])
def test_a_plan_is_written_over_whatever_is_no_source(write: Write, damage: str) -> None:
    root = write(FILES)
    assert run(["compile", "workflows/a.md", "-o", "p.json"]) == 0
    whole = (root / "p.json").read_text()
    (root / "p.json").write_text(damage.replace("{plan}", whole[: len(whole) // 2]))
    assert run(["compile", "workflows/a.md", "-o", "p.json"]) == 0
    assert (root / "p.json").read_text() == whole


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("commands/c.md", '"commands/c.md" is a command, and a command is no workflow'),
        ("tasks/t.yml", '"tasks/t.yml" is a task, and a task is no workflow'),
        ("p.json", "belongs to no family folder; expected one of workflows/*.md, workflows/*.yml\n"),
        ("scripts/s.sh", "is read where a workflow uses it; expected one of workflows/*.md, workflows/*.yml\n"),
    ],
)
def test_what_is_no_workflow_is_told_what_is(write: Write, capfd: Capture, source: str, says: str) -> None:
    write({"commands/c.md": "x", "tasks/t.yml": "version: 4\nrun: x\n", "p.json": "{}", "scripts/s.sh": "x"})
    assert run(["compile", source]) == USAGE
    assert says in capfd.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX pipe")
def test_a_plan_may_come_from_a_pipe(write: Write, capfd: Capture) -> None:
    root = write(FILES)
    run(["compile", "workflows/a.md", "-o", "p.json"])
    reading, writing = os.pipe()
    os.write(writing, (root / "p.json").read_bytes())
    os.close(writing)
    try:
        assert run(["verify", f"/dev/fd/{reading}"]) == 0
    finally:
        os.close(reading)
    assert "intact" in capfd.readouterr().out


_LLM = {"kind": "llm", "endpoint": "http://127.0.0.1:9/v1/chat/completions", "model": "small"}
_SDK = {"kind": "agent", "platform": "opencode-sdk", "llmEngine": "gone"}


@pytest.mark.parametrize(
    ("config", "source", "status"),
    [
        ({"defaults": {"engine": "gone"}}, ASKS, CONFIG),
        ({"workflow": {"judgeEngine": "gone"}}, EXEC + "### gate\n- Good.\n", CONFIG),
        ({"defaults": {"engine": "sdk"}}, ASKS, CONFIG),
        ({}, ASKS.replace("- id: ask", "- {id: ask, unit: {engine: gone}}"), USAGE),
        ({}, ASKS.replace("steps:", "defaults: {engine: gone}\nsteps:"), USAGE),
    ],
)
def test_who_names_an_unknown_engine_is_at_fault(
    write: Write, capfd: Capture, config: dict[str, object], source: str, status: int
) -> None:
    root = write(
        {"workflows/a.md": source, ".akm/config.json": json.dumps({**config, "engines": {"local": _LLM, "sdk": _SDK}})}
    )
    assert run(["compile", "workflows/a.md", "-o", "p.json"]) == status
    rule = "unknown-config-engine" if status == CONFIG else "unknown-engine"
    assert f" {rule}]" in capfd.readouterr().err and not (root / "p.json").exists()
