"""Each claim of the security page names a test that exists, and each file of hostile input is named there."""

from __future__ import annotations

import ast
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text()
NAMED = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


def test_every_named_test_exists() -> None:
    missing = []
    for path, name in NAMED:
        file = ROOT / path
        tree = ast.parse(file.read_text()) if file.is_file() else ast.Module([], [])
        if name not in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}:
            missing.append(f"{path}::{name}")
    assert missing == []


def test_every_row_and_promise_has_its_test() -> None:
    rows = re.findall(r"^\| [^|]+ \| `tests/", PAGE, re.MULTILINE)
    assert len(rows) > 30
    table = PAGE.partition("| Claim | Test |")[2].partition("\n\n")[0].strip().splitlines()[1:]
    assert all("::test_" in row for row in table)


def test_every_file_of_hostile_input_is_named() -> None:
    files = {f"tests/security/{path.name}" for path in (ROOT / "tests" / "security").glob("test_*.py")}
    assert files <= {path for path, _ in NAMED}


def test_the_contact_is_where_forges_look_for_it() -> None:
    contact = ROOT / ".github" / "SECURITY.md"
    assert "docs/security.md" in contact.read_text()
