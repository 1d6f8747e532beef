"""Plans: source in, plan out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from akm_schemas.bounds import CONFIG_BYTES_FROZEN, PLAN_BYTES_UNFROZEN
from akm_schemas.canonical import canonical_bytes
from akmc_passes.lower import own_bytes

WHOLE = """---
description: Everything
params:
  rows: {type: array}
defaults: {on_error: continue}
budget: {max_units: 5}
outputs:
  first: {from: "steps.scan.output[0].n", schema: {}}
steps:
  - id: scan
    unit:
      exec: {command: [make, "-j4"], cwd: src, pass_env: [ZED, ABLE]}
      retry: {max: 2, on: [timeout]}
      on_error: fail
      isolation: worktree
    output: {type: array}
    gate: {max_loops: 3}
  - id: fan
    inputs: [params.rows]
    map: {over: steps.scan.output, reducer: vote, unit: {exec: {command: [ls]}, output: {}}}
  - id: fork
    route: {input: "steps.scan.output[0].n", when: [{match: 1.0, step: end}], default: end}
  - id: end
    gate: {max_loops: 4}
    unit: {exec: {command: [ls]}}
---
# A title

## scan
Scan.
### gate
- ok
## fan
Fan.
## end
End.
"""
CONFIG = {
    "engines": {"local": {"kind": "llm", "endpoint": "http://127.0.0.1:9/v1/chat/completions", "model": "tiny"}},
    "defaults": {"engine": "local"},
    "workflow": {"judgeEngine": "local"},
}


def test_a_whole_plan(check: Callable[..., Any]) -> None:
    checked = check(WHOLE, config=CONFIG)
    assert checked.rules == [("exec-gate-loops", 17), ("inert-gate", 24)]
    plan = checked.plan
    assert (plan["irVersion"], plan["budget"], plan["execution"]) == (5, {"maxUnits": 5}, {"maxConcurrency": None})
    assert plan["outputs"] == {
        "first": {"from": {"text": "steps.scan.output[0].n", "root": "steps", "name": "scan", "path": [0, "n"]}}
    }
    scan, fan, fork, end = plan["steps"]
    unit = scan["unit"]
    assert unit["target"] | {"contentHash": ""} == {
        "kind": "exec",
        "command": ["make", "-j4"],
        "cwd": "src",
        "passEnv": ["ZED", "ABLE"],
        "contentHash": "",
        "inputBindings": [],
    }
    assert (unit["retry"], unit["onError"], unit["isolation"]) == ({"max": 2, "on": ["timeout"]}, "fail", "worktree")
    assert (scan["gate"]["rubric"], scan["gate"]["maxLoops"]) == ("- ok", 1)
    assert "output" not in fan["unit"] and fan["unit"]["onError"] == "continue"
    assert fan["map"] | {"over": None} == {"over": None, "concurrency": 4, "reducer": "vote"}
    assert fan["inputs"] == [{"text": "params.rows", "root": "params", "name": "rows", "path": []}]
    assert fork["route"]["when"] == [{"match": 1.0, "step": "end"}]
    assert "unit" not in fork and "gate" not in end
    assert plan["provenance"]["title"] == "A title"
    assert [step["index"] for step in plan["steps"]] == [0, 1, 2, 3]


def test_exec_freezes_without_any_config(check: Callable[..., Any]) -> None:
    checked = check("---\nsteps:\n  - {id: a, unit: {exec: {command: [make]}}}\n---\n## a\nA.\n", freeze=True)
    assert not checked.program.open
    assert len(checked.program.plan.plan_hash) == 64


def test_an_error_leaves_no_plan(check: Callable[..., Any]) -> None:
    checked = check("---\nsteps:\n  - {id: a, inputs: [steps.b.output]}\n---\n## a\nA.\n")
    assert checked.program.plan is None


def test_own_bytes_is_what_is_written(check: Callable[..., Any]) -> None:
    checked = check(WHOLE, config=CONFIG, stop_after="lower")
    measured = own_bytes(checked.program.plan)
    assert measured == len(canonical_bytes(check(WHOLE, config=CONFIG).plan))


def _wide(count: int, size: int, unit: str = "") -> str:
    steps = "".join(f"  - {{id: s{number}{unit}}}\n" for number in range(count))
    prose = "".join(f"## s{number}\n{'x' * size}\n" for number in range(count))
    return f"---\nsteps:\n{steps}---\n{prose}"


def test_plan_bytes_is_found_at_check(check: Callable[..., Any]) -> None:
    # source of less than a mebibyte whose shared tuning is written once and frozen per step
    tuning = json.dumps({"extra_params": {"note": "x" * 60_000}})
    text = _wide(40, 10).replace("---\n", f"---\ndefaults: {{llm: {tuning}}}\n", 1)
    assert len(text) < 2**20
    checked = check(text)
    assert checked.rules == [("plan-bytes", 4)]
    assert str(PLAN_BYTES_UNFROZEN.high) in checked.printed
    assert checked.program.plan is None


def test_what_config_adds_has_a_bound_of_its_own(check: Callable[..., Any]) -> None:
    engine = {"kind": "agent", "platform": "command", "bin": "x", "args": ["y" * 60_000]}
    config = {"engines": {"big": engine}, "defaults": {"engine": "big"}}
    assert check(_wide(4, 10), config=config).rules == []
    checked = check(_wide(5, 10), config=config)
    assert [rule for rule, _ in checked.rules] == ["config-too-large"]
    assert str(CONFIG_BYTES_FROZEN.high) in checked.printed


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(["params", "budget", "defaults", "steps"]), crlf=st.booleans(), data=st.data())
def test_lowering_does_not_depend_on_spelling(
    check: Callable[..., Any], order: list[str], crlf: bool, data: st.DataObject
) -> None:
    parts = {
        "params": "params: {a: {type: string, maxLength: 3}, b: {enum: [1, x]}}",
        "budget": "budget: {max_units: 5, max_tokens: 7}",
        "defaults": 'defaults: {timeout: "5m", on_error: continue}',
        "steps": "steps:\n  - {id: s, inputs: [params.a], unit: {exec: {command: [make, all]}}}",
    }
    plain = "---\n" + "\n".join(parts.values()) + "\n---\n## s\nGo.\n"
    blank = data.draw(st.sampled_from(["", "\n", "# a comment\n"]))
    other = "---\n" + blank + "\n".join(parts[name] for name in order) + f"\n---\n# Title\n\n## s\n{blank}\nGo.\n\n"
    if blank.startswith("#"):
        other = other.replace("## s\n# a comment\n", "## s\n")
    first = check(plain, freeze=True).program.plan
    second = check(other.replace("\n", "\r\n") if crlf else other, freeze=True).program.plan
    assert first.content_hash == second.content_hash
    again = check(plain, freeze=True).program.plan
    assert msgspec.json.encode(again) == msgspec.json.encode(first)


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ("## s\nGo on.\n", True),  # the prose of an exec step reaches nobody
        ("preamble\n## s\nGo.\n", True),
    ],
)
def test_what_moves_the_content_hash(check: Callable[..., Any], other: str, same: bool) -> None:
    head = "---\nsteps:\n  - {id: s, unit: {exec: {command: [make]}}}\n---\n"
    first, second = check(head + "## s\nGo.\n", freeze=True), check(head + other, freeze=True)
    assert (first.plan["contentHash"] == second.plan["contentHash"]) is same
    assert first.plan["planHash"] != second.plan["planHash"]


def test_one_word_for_an_engine_counts(check: Callable[..., Any]) -> None:
    head = "---\nsteps:\n  - id: s\n---\n"
    first, second = check(head + "## s\nGo.\n", config=CONFIG), check(head + "## s\nGone.\n", config=CONFIG)
    assert first.plan["contentHash"] != second.plan["contentHash"]
