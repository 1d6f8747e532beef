"""Each folder's README tells where everything is, and what it says of the interpreter's size and layers is true."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {
    "akmc": "akmc",
    "grammar": "akmc_grammar",
    "schemas": "akm_schemas",
    "passes": "akmc_passes",
    "runtime": "akm_run",
}
RUNTIME = ROOT / "runtime" / "akm_run"
OUTER = ("cli", "commands", "crash", "explain", "report", "show")  # what a person types and is shown


def named(text: str) -> set[str]:
    """Every word in backticks: ``core.py``, ``journal/``, or a bare name of a pass."""
    return {word for quoted in re.findall(r"`([^`]+)`", text) for word in quoted.split()}


@pytest.mark.parametrize("folder", sorted(FOLDERS))
def test_every_module_is_named_and_nothing_else(folder: str) -> None:
    package = ROOT / folder / FOLDERS[folder]
    text = (ROOT / folder / "README.md").read_text()
    words = named(text)
    modules = {path.name for path in package.glob("*.py") if not path.name.startswith("__")}
    folders = {f"{path.name}/" for path in package.iterdir() if path.is_dir() and path.name != "__pycache__"}
    missing = {name for name in modules | folders if name not in words and name.removesuffix(".py") not in words}
    assert missing == set()
    gone = {word for word in words if re.fullmatch(r"\w+\.py|\w+/", word)} - modules - folders
    assert {word for word in gone if not list(package.rglob(word.rstrip("/")))} == set()


def test_the_interpreters_sizes_are_those_of_its_readme() -> None:
    page = ROOT / "runtime" / "README.md"
    rows = re.findall(r"^\| (\d+) \| ([^|]+) \|", page.read_text(), re.MULTILINE)
    assert len(rows) == 8
    lines = {where: lines_of(where) for _, where in rows}
    if os.environ.get("AKMC_UPDATE_GOLDEN"):
        text = page.read_text()
        for said, where in rows:
            text = text.replace(f"| {said} | {where} |", f"| {round(lines[where], -1)} | {where} |")
        page.write_text(text)
    wrong = {where: lines[where] for said, where in rows if int(said) != pytest.approx(lines[where], rel=0.1)}
    assert wrong == {} or os.environ.get("AKMC_UPDATE_GOLDEN"), "run it with AKMC_UPDATE_GOLDEN=1 and read the diff"


def lines_of(where: str) -> int:
    """The lines of all files that a cell of the reading order names."""
    paths = [RUNTIME / word for word in named(where)]
    files = [found for path in paths for found in (path.iterdir() if path.is_dir() else (path,)) if found.is_file()]
    return sum(len(file.read_text().splitlines()) for file in files)


def test_what_decides_and_performs_knows_nothing_of_what_shows() -> None:
    inner = [
        path for path in RUNTIME.rglob("*.py") if path.relative_to(RUNTIME).parts[0].removesuffix(".py") not in OUTER
    ]
    assert len(inner) > 50
    found = {
        (path.relative_to(RUNTIME).as_posix(), module)
        for path in inner
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom)
        for module in [node.module or ""]
        if module.startswith("akm_run.") and module.split(".")[1] in OUTER
    }
    assert found == {("__main__.py", "akm_run.cli")}
