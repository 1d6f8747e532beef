"""What a person is told of params: what must be given, what arrays hold, and which lists are too long."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from akm_run.commands.params import effective_params
from akm_run.faults import UsageFault

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def test_help_marks_what_is_required_and_what_arrays_hold(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    params = {
        "names": {"type": "array", "items": {"type": "string", "maxLength": 9}, "maxItems": 3},
        "n": {"type": "integer", "default": 1},
        "unread": {"type": "string"},
    }
    data = plans.data(plans.step("m", over="params.names"), plans.step("z", inputs=["params.n"]), params=params)
    (tmp_path / "plan.json").write_bytes(data)
    told = run_program("akm-run", "plan.json", "--help").stdout
    assert "--names  array of (string, maxLength 9), maxItems 3, required\n" in told
    assert "--n  integer, default 1\n" in told
    assert "--unread  string\n" in told


def test_a_map_over_too_many_items_is_refused_before_anything(plans: PlanMaker) -> None:
    plan = plans.plan(plans.step("first"), plans.step("m", over="params.l"), params={"l": {"type": "array"}})
    items = json.dumps([0] * 10_001)
    with pytest.raises(UsageFault) as caught:
        effective_params(plan, ["--l", items], None)
    assert str(caught.value) == 'params.l has 10001 items: the map of step "m" takes at most 10000 items'
    assert len(effective_params(plan, ["--l", json.dumps([0] * 10_000)], None)["l"]) == 10_000  # type: ignore[arg-type]


def test_a_map_that_a_route_may_skip_is_not_refused(plans: PlanMaker) -> None:
    steps = (
        plans.step("a"),
        plans.route("r", "steps.a.output", [("x", "m")], "z"),
        plans.step("m", over="params.l"),
        plans.step("z"),
    )
    plan = plans.plan(*steps, params={"l": {"type": "array"}})
    assert effective_params(plan, ["--l", json.dumps([0] * 10_001)], None)
