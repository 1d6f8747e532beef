"""The size of a plan is that of its canonical JSON, whichever way it is measured."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from akm_schemas.decode import decode_plan, plan_json
from akm_schemas.json_types import Json
from akm_schemas.plan import Plan
from akm_schemas.plan_sizes import own_size
from akmc_passes.lower import own_bytes

PLANS = sorted((Path(__file__).resolve().parents[1] / "golden" / "plans").rglob("plan.json"))
HASHES = 2 * 64  # both hashes of a plan count, whether they are there yet or not


def plan_of(path: Path) -> Plan:
    plan = decode_plan(path.read_bytes())
    return msgspec.structs.replace(plan, content_hash="", plan_hash="")


def expected(plan: Plan) -> int:
    return own_size(plan_json(plan)) + HASHES


def test_there_are_plans() -> None:
    assert len(PLANS) >= 5


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.parent.name)
def test_golden_plans(path: Path) -> None:
    plan = plan_of(path)
    assert own_bytes(plan) == expected(plan)


@pytest.mark.parametrize(
    "value",
    [1.0, -0.0, 0.5, 1e21, 1e-7, 100, 2**53, -(2**53), [1.0], {"ü": [2, 1.5]}, "1.5, [1.5]", "\x7f\x1b\n\U0001f600"],
)
def test_values_that_are_written_in_their_own_way(value: Json) -> None:
    plan = msgspec.structs.replace(plan_of(PLANS[0]), params={"p": {"default": value}})
    assert own_bytes(plan) == expected(plan)
