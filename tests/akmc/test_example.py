"""The bundled example does what the README says: check, compile, diff, run, on a real git working tree."""

from __future__ import annotations

import json
import pathlib
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "examples" / "review-changes"
SOURCE = "workflows/review-changes.md"


@pytest.fixture
def tree(copy_tree: Callable[[pathlib.Path], pathlib.Path]) -> pathlib.Path:
    """The example in a repository with one commit."""
    root = copy_tree(EXAMPLE)
    (root / ".gitignore").write_text(".akm/\n.home/\n*.json\n")
    who = ["-c", "user.name=T", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
    for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "start"]):
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)
    return root


def test_a_clean_tree_is_approved(tree: pathlib.Path, run_program: Any) -> None:
    run_program("akmc", "check", "--strict", "--freeze")
    run_program("akmc", "compile", SOURCE, "-o", "plan.json")
    (tree / "tidy.py").write_text("x = 1\n")
    result = json.loads(run_program("akm-run", "plan.json", "--json").stdout)
    assert result["outputs"] == {"verdict": "clean", "report": "0 problems in 1 changed files"}
    assert {step["id"]: step["status"] for step in result["steps"]}["list-problems"] == "skipped"


def test_problems_are_found_and_routed(tree: pathlib.Path, run_program: Any) -> None:
    run_program("akmc", "compile", SOURCE, "-o", "plan.json")
    (tree / "greet.py").write_text('def greet(name)\n    return "hello" + name   \n')
    (tree / "note.txt").write_text("x" * 60 + "\n")
    result = json.loads(run_program("akm-run", "plan.json", "--json", "--longest", "50").stdout)
    assert result["outputs"]["verdict"] == "problems"
    problems = result["steps"][-1]["output"].splitlines()
    assert problems[0] == "3 problems in 2 changed files"
    assert [line.split(":")[:2] for line in problems[1:]] == [["greet.py", "2"], ["greet.py", "1"], ["note.txt", "1"]]


def test_an_edit_is_told_as_what_it_means(tree: pathlib.Path, run_program: Any) -> None:
    text = (tree / SOURCE).read_text()
    (tree / SOURCE).write_text(text.replace("concurrency: 4", "concurrency: 2"))
    found = json.loads(run_program("akmc", "diff", f"HEAD:{SOURCE}", SOURCE, "--format", "json").stdout)
    assert [change["class"] for change in found["changes"]] == ["behaviour"]
