"""Composition through the command line: what is shown, exit status, publication."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from akmc.cli import run

KID = "---\nsteps:\n  - {id: a, unit: {exec: {command: [make]}}}\n---\n## a\nGo.\n"
Check = Callable[..., "tuple[int, list[tuple[str, str, int]]]"]


def workflow(*refs: str) -> str:
    """A YAML workflow; the first step stands on line 7."""
    lines = "".join(f"      - {{id: s{index}, uses: {ref}}}\n" for index, ref in enumerate(refs))
    return f"name: A\non: {{workflow_dispatch: {{}}}}\njobs:\n  main:\n    runs-on: [self-hosted]\n    steps:\n{lines}"


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, str]], None]:
    """Files in the working directory, without the user's own config."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "none"))

    def write(files: dict[str, str]) -> None:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write


@pytest.fixture
def check(capsysbinary: pytest.CaptureFixture[bytes]) -> Check:
    """``akmc check``: exit status, and rule, path and line of each finding."""

    def call(*words: str) -> tuple[int, list[tuple[str, str, int]]]:
        status = run(["check", "--format", "json", *words])
        found = json.loads(capsysbinary.readouterr().out)["diagnostics"]
        return status, [(item["rule"], item["path"], item["line"]) for item in found]

    return call


def test_a_shared_broken_child_is_shown_once(put: Callable[[dict[str, str]], None], check: Check) -> None:
    put(
        {
            "workflows/a.yml": workflow("workflows/kid", "workflows/kid"),
            "workflows/b.yml": workflow("workflows/kid"),
            "workflows/kid.md": KID.replace("make]", "make], cwd: ..").replace("## a", "## a\n## b"),
        }
    )
    expected = [
        ("composition-invalid", "workflows/a.yml", 7),
        ("composition-invalid", "workflows/a.yml", 8),
        ("composition-invalid", "workflows/b.yml", 7),
        ("exec-cwd-escape", "workflows/kid.md", 3),
        ("empty-section", "workflows/kid.md", 5),
        ("unexpected-heading", "workflows/kid.md", 6),
    ]
    assert check() == (1, expected)
    assert check("workflows/b.yml") == (1, expected[2:])


def test_an_allow_comment_of_a_broken_child_counts(put: Callable[[dict[str, str]], None], check: Check) -> None:
    child = KID.replace("## a\nGo.", "## a\nGo.\n<!-- akm: allow[setext-heading] so -->\nTitle\n-----\n## b\nx")
    put({"workflows/a.yml": workflow("workflows/kid"), "workflows/kid.md": child})
    assert check("workflows/a.yml") == (
        1,
        [("composition-invalid", "workflows/a.yml", 7), ("unexpected-heading", "workflows/kid.md", 10)],
    )


def test_tasks_are_checked_and_not_compiled(
    put: Callable[[dict[str, str]], None], check: Check, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    put({"tasks/t.yml": "version: 4\nuses: workflows/kid\n", "workflows/kid.md": KID, "tasks/old.yml": "version: 3\n"})
    assert check("tasks/t.yml") == (0, [])
    assert check() == (1, [("task-schema-version", "tasks/old.yml", 1)])
    assert run(["compile", "tasks/t.yml"]) == 2
    assert b"a task is no workflow" in capsysbinary.readouterr().err


def test_a_child_without_engine_is_the_fault_of_the_config(put: Callable[[dict[str, str]], None]) -> None:
    asking = workflow("akm/command").replace("akm/command}", "akm/command, with: {content: Hi}}")
    put(
        {
            "workflows/a.yml": workflow("workflows/b"),
            "workflows/b.yml": workflow("workflows/c"),
            "workflows/c.yml": asking,
        }
    )
    assert run(["check", "workflows/a.yml"]) == 0
    assert run(["compile", "workflows/a.yml", "-o", "p.json"]) == 78
    assert not Path("p.json").exists()
    put({"workflows/c.yml": asking + "      - {id: x, run: a | b}\n"})
    assert run(["compile", "workflows/a.yml", "-o", "p.json"]) == 2


def test_a_source_from_standard_input_composes_files(
    put: Callable[[dict[str, str]], None], run_program: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    put({"workflows/kid.md": KID})
    text = workflow("workflows/kid", "workflows/gone")
    done = run_program(
        "akmc", "check", "--format", "concise", "--stdin-filename", "workflows/a.yml", "-", stdin=text, expect=1
    )
    assert done.stdout.count("error[") == 1


def test_time_passes_and_early_stages_work_on_composition(
    put: Callable[[dict[str, str]], None], capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    put({"workflows/a.yml": workflow("workflows/kid"), "workflows/kid.md": KID})
    assert run(["compile", "workflows/a.yml", "--time-passes", "-o", "p.json"]) == 0
    assert b"composition" in capsysbinary.readouterr().err
    assert run(["verify", "p.json", "--sources"]) == 0
    for words in (["--emit", "source-ir"], ["--emit", "resolved"], ["--stop-after", "composition"], ["--emit", "text"]):
        assert run(["compile", "workflows/a.yml", *words]) == 0
