"""Pinned plans: their bytes change only with ``irVersion`` or a recorded decision.

``AKMC_UPDATE_GOLDEN=1`` writes them anew; the diff then belongs to a decision in ``docs/decisions``. The source is the
one file that lies in ``workflows/`` itself; what it composes lies deeper.
"""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Callable, Iterator
from typing import Any, get_args

import pytest

from akm_schemas import plan as structs

PLANS = pathlib.Path(__file__).resolve().parents[1] / "golden" / "plans"
NAMES = sorted(path.name for path in PLANS.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_a_pinned_plan_keeps_its_bytes_and_its_text(
    name: str, copy_tree: Callable[[pathlib.Path], pathlib.Path], run_program: Any
) -> None:
    root = copy_tree(PLANS / name)
    (source,) = (path for path in (root / "workflows").iterdir() if path.is_file())
    run_program("akmc", "compile", f"workflows/{source.name}", "-o", "now.json")
    now = {"plan.json": (root / "now.json").read_bytes()}
    now["plan.txt"] = run_program("akmc", "show", "now.json").stdout.encode()
    for pinned, data in now.items():
        if os.environ.get("AKMC_UPDATE_GOLDEN"):
            (PLANS / name / pinned).write_bytes(data)
        assert data == (PLANS / name / pinned).read_bytes(), pinned
    run_program("akmc", "verify", "--sources", "now.json")


def parts(value: Any) -> Iterator[dict[str, Any]]:
    """Every object of the pinned plans."""
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from parts(inner)


def pinned() -> list[Any]:
    return [json.loads((PLANS / name / "plan.json").read_text()) for name in NAMES]


def tags(union: Any) -> set[str]:
    return {str(struct.__struct_config__.tag) for struct in get_args(union)}


def test_the_pinned_plans_hold_every_kind_of_every_part() -> None:
    found = [part for plan in pinned() for part in parts(plan)]
    kinds = {part["kind"] for part in found if isinstance(part.get("kind"), str)}
    for union in (structs.Target, structs.Engine, structs.Binding, structs.InputBinding):
        assert tags(union) <= kinds
    assert {"unit", "map", "route"} <= kinds
    targets = [part["target"] for part in found if "target" in part]
    assert {target["via"] for target in targets if "via" in target} == {"direct", "task"}
    assert {target["template"] for target in targets if "template" in target} == {"none", "arguments"}
    assert {"ref" in target for target in targets if target.get("template") == "arguments"} == {True, False}
    platforms = {part["platform"] for part in found if "platform" in part}
    assert platforms == {"claude", "opencode", "codex", "gemini", "opencode-sdk", "command"}


def test_every_member_of_a_plan_is_pinned_somewhere() -> None:
    """A new optional member needs a golden plan that has it, so that its spelling is guarded too."""
    structs_of = [value for value in vars(structs).values() if isinstance(value, type(structs.Plan))]
    members = {name for struct in structs_of for name in struct.__struct_encode_fields__}
    found = {name for plan in pinned() for part in parts(plan) for name in part}
    assert members - found == {"contextLength", "enableThinking", "supportsJsonSchema"} - found


@pytest.mark.parametrize("name", NAMES)
def test_nothing_of_the_machine_is_in_a_pinned_plan(name: str) -> None:
    text = (PLANS / name / "plan.json").read_text()
    for word in (str(pathlib.Path.home()), str(PLANS), os.uname().nodename):
        assert word not in text
