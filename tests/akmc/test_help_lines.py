"""Whoever reports a finding says what to do about it: no call without a help line."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from akmc_grammar.rules import RULES

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(
    path
    for folder in ("grammar/akmc_grammar", "passes/akmc_passes", "akmc/akmc/session")
    for path in (ROOT / folder).glob("*.py")
)


def silent(path: Path) -> Iterator[str]:
    """The calls of ``X.report("rule", ...)`` without ``help``; wrappers that take it by position are not such calls."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != "report":
            continue
        named = {keyword.arg for keyword in node.keywords}
        if len(node.args) == 3 and _is_rule(node.args[0]) and "help" not in named and None not in named:
            yield f"{path.name}:{node.lineno}"


def _is_rule(node: ast.expr) -> bool:
    literal = isinstance(node, ast.Constant) and node.value in RULES
    return literal or (isinstance(node, ast.Attribute) and node.attr.endswith("rule"))


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_report_has_a_help_line(path: Path) -> None:
    assert list(silent(path)) == []


def test_the_search_finds_calls(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    calls = ['("inert-gate", at, "idle")', '("inert-gate", at, "idle", help="do")', '(shape.rule, at, "bad")']
    module.write_text("".join(f"sink.report{call}\n" for call in calls))
    assert list(silent(module)) == ["module.py:1", "module.py:3"]
