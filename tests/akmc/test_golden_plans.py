"""Pinned plans: their bytes change only with ``irVersion`` or a recorded decision.

``AKMC_UPDATE_GOLDEN=1`` writes them anew; the diff then belongs to a decision in ``docs/decisions``.
"""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

PLANS = pathlib.Path(__file__).resolve().parents[1] / "golden" / "plans"
NAMES = sorted(path.name for path in PLANS.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_a_pinned_plan_keeps_its_bytes(
    name: str, copy_tree: Callable[[pathlib.Path], pathlib.Path], run_program: Any
) -> None:
    root = copy_tree(PLANS / name)
    (source,) = (root / "workflows").iterdir()
    pinned = PLANS / name / "plan.json"
    run_program("akmc", "compile", f"workflows/{source.name}", "-o", "now.json")
    if os.environ.get("AKMC_UPDATE_GOLDEN"):
        pinned.write_bytes((root / "now.json").read_bytes())
    assert (root / "now.json").read_bytes() == pinned.read_bytes()
    run_program("akmc", "verify", "now.json")


def test_the_pinned_plans_hold_every_target_kind_of_markdown() -> None:
    targets = [
        step["unit"]["target"]
        for name in NAMES
        for step in json.loads((PLANS / name / "plan.json").read_text())["steps"]
        if "unit" in step
    ]
    assert {target["kind"] for target in targets} == {"exec", "command"}
    assert {target["engine"]["kind"] for target in targets if "engine" in target} == {"llm", "agent"}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_the_machine_is_in_a_pinned_plan(name: str) -> None:
    text = (PLANS / name / "plan.json").read_text()
    for word in (str(pathlib.Path.home()), str(PLANS), os.uname().nodename):
        assert word not in text
