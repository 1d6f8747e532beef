"""Each rule has an owner that exists, and the owner reports it."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from akmc_grammar.rules import RULES, RULES_BY_CODE
from akmc_passes.pipeline import PIPELINE

ROOT = Path(__file__).resolve().parents[2]
GRAMMAR, SESSION = "grammar/akmc_grammar", "akmc/akmc/session"
# Owners that are no pass of the pipeline: the parts of the front ends, and where they live. A rule of the frontmatter may
# come from the shapes of the key table in ``akm_schemas``.
PARTS = {
    "body": (f"{GRAMMAR}/sections.py",),
    "frontmatter": (
        f"{GRAMMAR}/frontmatter_rules.py",
        f"{GRAMMAR}/markdown.py",
        f"{GRAMMAR}/shape_walk.py",
        "schemas/akm_schemas/keys.py",
    ),
    "session": (f"{SESSION}/session.py", "akmc/akmc/planning.py", "passes/akmc_passes/library.py"),
    "suppression": (f"{SESSION}/suppression.py",),
    "task": (f"{GRAMMAR}/task*.py",),
    "yaml": (f"{GRAMMAR}/yaml_*.py", f"{GRAMMAR}/markdown.py"),
    "yaml_workflow": (f"{GRAMMAR}/*.py", "schemas/akm_schemas/yaml_keys.py"),
}


@cache
def texts(pattern: str) -> frozenset[str]:
    """Every string constant of the modules that match."""
    modules = [path for path in sorted(ROOT.glob(pattern)) if path.name != "rules.py"]
    assert modules, f"{pattern} names no module"
    nodes = (node for path in modules for node in ast.walk(ast.parse(path.read_text("utf-8"))))
    return frozenset(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_the_owner_reports_the_rule(rule: object) -> None:
    name, owner = str(getattr(rule, "name", "")), str(getattr(rule, "owner", ""))
    emitted = {step.NAME: step.EMITS for step in PIPELINE}
    if name in emitted.get(owner, ()):
        return
    assert owner in PARTS, f"{owner} is neither a pass that emits {name} nor a part of a front end"
    assert any(name in texts(pattern) for pattern in PARTS[owner]), f"{owner} never mentions {name}"


def test_codes_and_names_are_unique() -> None:
    assert len(RULES) == len(RULES_BY_CODE) > 80
    assert all(code.startswith("AKM") and len(code) == 7 and code[3:].isdigit() for code in RULES_BY_CODE)
