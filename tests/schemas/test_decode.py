"""Reading plans: what passes, and what each stage refuses."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest

from akm_schemas.bounds import CHILD_BYTES, PLAN_BYTES
from akm_schemas.canonical import canonical_bytes
from akm_schemas.decode import PlanError, decode_plan, encode_plan, plan_json, pretty_plan
from akm_schemas.plan import ChildTarget, Plan


def refused(data: bytes) -> PlanError:
    with pytest.raises(PlanError) as caught:
        decode_plan(data)
    assert caught.value.message
    return caught.value


def change(plan: Any, path: tuple[Any, ...], value: Any) -> Any:
    place = plan
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    return plan


def test_round_trip(kit: Any) -> None:
    for value in (kit.small_plan(), kit.rich_plan()):
        data = kit.file_of(value)
        plan = decode_plan(data)
        assert isinstance(plan, Plan)
        assert encode_plan(plan) == data
        assert canonical_bytes(plan_json(plan)) + b"\n" == data
        assert decode_plan(pretty_plan(plan)) == plan
        assert pretty_plan(plan).count(b"\n") > 10


def test_children_are_plans_too(kit: Any) -> None:
    target = decode_plan(kit.file_of(kit.rich_plan())).steps[4].unit.target  # type: ignore[union-attr]
    assert isinstance(target, ChildTarget)
    assert target.frozen_plan.steps[0].unit.target.frozen_plan.steps[0].id == "deep"  # type: ignore[union-attr]


def test_other_spacing_of_the_same_values_passes(kit: Any) -> None:
    value = kit.rich_plan()
    plan = decode_plan(kit.file_of(value))
    assert decode_plan(json.dumps(value, indent=4).encode()) == plan
    assert decode_plan(json.dumps(value).encode()) == plan
    assert decode_plan(pretty_plan(plan).replace(b"\n", b"\r\n")) == plan
    assert decode_plan(kit.file_of(value).rstrip()) == plan


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b"\xff\xfe", "not UTF-8"),
        (b"null", "a plan is a JSON object, found null"),
        (b"[]", "a plan is a JSON object, found an array"),
        (b"{}", "there is no irVersion number"),
        (b'{"irVersion": "5"}', "there is no irVersion number"),
        (b'{"irVersion": true}', "there is no irVersion number"),
        (b'{"irVersion": 5}', "expected a list of steps, found nothing"),
        (b'{"irVersion": 5, "irVersion": 5}', "given twice"),
        (b'{"irVersion": 5, "steps": [1]}', "expected a step, found an integer"),
        (b"[" * 300 + b"]" * 300, "nested deeper"),
        (b"---\nsteps: []\n---\n", "not JSON"),
    ],
)
def test_what_is_no_plan(data: bytes, reason: str) -> None:
    error = refused(data)
    assert error.kind in ("malformed", "integrity")
    assert reason in error.message


def test_versions(kit: Any) -> None:
    newer = refused(b'{"irVersion": 6}')
    assert (newer.kind, newer.path) == ("version", "irVersion")
    assert "upgrade" in newer.message
    older = refused(b'{"irVersion": 4, "steps": 3}')
    assert (older.kind, older.path) == ("version", "irVersion")
    assert "recompile the source" in older.message
    nested = refused(kit.file_of(change(kit.rich_plan(), (*CHILD, "irVersion"), 7)))
    assert (nested.kind, nested.path) == ("version", "steps[4].unit.target.frozenPlan.irVersion")


CHILD = ("steps", 4, "unit", "target", "frozenPlan")
GRANDCHILD = (*CHILD, "steps", 0, "unit", "target", "frozenPlan")


@pytest.mark.parametrize(
    ("path", "value", "where", "which"),
    [
        (("steps", 0, "unit", "target", "model"), "n", "steps[0].unit.target", "contentHash"),
        (("steps", 0, "unit", "instructions"), "Other.", "steps[0].unit.target", "contentHash"),
        (("steps", 3, "unit", "env", 0, "value"), "2", "steps[3].unit.target", "contentHash"),
        (("steps", 0, "gate", "judge", "model"), "n", "steps[0].gate.judge", "contentHash"),
        (("steps", 0, "unit", "target", "contentHash"), "Z" * 64, "steps[0].unit.target", "contentHash"),
        (("steps", 3, "unit", "target", "bytesBase64"), "QUJD", "steps[3].unit.target", "contentHash"),
        (("steps", 3, "unit", "target", "bytesBase64"), "Q!JD", "steps[3].unit.target.bytesBase64", "Base64"),
        (("steps", 3, "unit", "target", "kind"), "skript", "steps[3].unit.target.kind", "changed after"),
        (("steps", 3, "unit", "target"), None, "steps[3].unit.target", "changed after"),
        (("steps", 3, "unit", "instructions"), "Other.", "planHash", "planHash"),
        (("steps", 0, "gate", "rubric"), "x", "contentHash", "contentHash"),
        (("params", "limit", "minimum"), 1, "contentHash", "contentHash"),
        (("provenance", "ref"), "workflows/b", "planHash", "planHash"),
        (("provenance", "spans", "steps.0", 0), 4, "planHash", "planHash"),
        (("contentHash",), "0" * 64, "contentHash", "contentHash"),
        (("planHash",), "Z" * 64, "planHash", "planHash"),
        (("planHash",), None, "planHash", "nothing"),
        (("extra",), 1, "contentHash", "contentHash"),
        (("steps", 4, "unit", "target", "planHash"), "0" * 64, "steps[4].unit.target", "planHash"),
        (("steps", 4, "unit", "target", "planHash"), "f" * 64, "steps[4].unit.target", "its planHash"),
        ((*CHILD, "params", "size", "default"), 4, "steps[4].unit.target.frozenPlan", "contentHash"),
        ((*CHILD, "provenance", "title"), "B", "steps[4].unit.target.frozenPlan", "planHash"),
        (
            (*GRANDCHILD, "steps", 0, "unit", "target", "command"),
            ["false"],
            "steps[4].unit.target.frozenPlan.steps[0].unit.target.frozenPlan.steps[0].unit.target",
            "contentHash",
        ),
    ],
)
def test_each_mismatch_names_its_part(kit: Any, path: tuple[Any, ...], value: Any, where: str, which: str) -> None:
    error = refused(kit.file_of(change(kit.rich_plan(), path, value)))
    assert (error.kind, error.path) == ("integrity", where)
    assert which in error.message


@pytest.mark.parametrize(
    ("path", "where", "named"),
    [
        (("extra",), "contentHash", "extra"),
        (("budget", "extra"), "contentHash", "budget.extra"),
        (("steps", 0, "extra"), "contentHash", "steps[0].extra"),
        (("steps", 0, "unit", "target", "extra"), "planHash", "steps[0].unit.target.extra"),
        (("steps", 0, "gate", "judge", "engine", "a b"), "steps[0].gate.judge", 'steps[0].gate.judge.engine["a b"]'),
        (("provenance", "extra"), "planHash", "provenance.extra"),
        ((*CHILD, "extra"), "steps[4].unit.target.frozenPlan", "steps[4].unit.target.frozenPlan.extra"),
    ],
)
def test_a_mismatch_names_a_member_that_no_plan_has(kit: Any, path: tuple[Any, ...], where: str, named: str) -> None:
    error = refused(kit.file_of(change(kit.rich_plan(), path, 1)))
    assert (error.kind, error.path) == ("integrity", where)
    assert error.message.endswith(f"; changed was at least {named}, a member that no plan has")


def test_a_renamed_member_is_named_too(kit: Any) -> None:
    plan = kit.small_plan()
    plan["stepz"] = plan.pop("steps")
    error = refused(kit.file_of(plan))
    assert (error.kind, error.path) == ("integrity", "steps")
    assert "found nothing; changed was at least stepz, a member that no plan has" in error.message


def test_a_mismatch_shows_where_long_hashes_differ(kit: Any) -> None:
    plan = kit.small_plan()
    digest = plan["planHash"]
    last = "0" if digest[-1] != "0" else "1"
    message = refused(kit.file_of({**plan, "planHash": digest[:-1] + last})).message
    assert f'says ..."{last}", the content gives ..."{digest[-1]}";' in message
    message = refused(kit.file_of({**plan, "planHash": "Z" + digest[1:]})).message
    assert f'says "Z{digest[1:16]}"..., the content gives "{digest[:16]}"...;' in message


@pytest.mark.parametrize(
    ("path", "value", "where", "reason"),
    [
        (("extra",), 1, "", "the member extra is not known here"),
        (("budget", "maxUnits"), "9", "budget.maxUnits", "expected an integer, found a string"),
        (("steps", 0, "unit", "onError"), "stop", "steps[0].unit.onError", "'stop' is not one of the words"),
        (
            ("steps", 0, "unit", "timeoutMs"),
            1.5,
            "steps[0].unit.timeoutMs",
            "expected an integer or null, found a number",
        ),
        (
            ("steps", 0, "unit", "target", "passEnv"),
            None,
            "steps[0].unit.target.passEnv",
            "expected an array, found null",
        ),
        (("steps", 0, "output"), None, "steps[0].output", "expected an object, found null"),
        (("steps", 0, "output"), {}, "steps[0].output", "leaving it out"),
        (("steps", 0, "index"), True, "steps[0].index", "expected an integer, found a boolean"),
        (("provenance", "schedule"), [], "provenance.schedule", "expected 1 to 64 entries"),
    ],
)
def test_shape(kit: Any, path: tuple[Any, ...], value: Any, where: str, reason: str) -> None:
    plan = kit.sealed(change(kit.small_plan(), path, value))
    error = refused(kit.file_of(plan))
    assert error.kind in ("malformed", "bounds")
    assert error.path == where
    assert reason in error.message


def test_missing_members(kit: Any) -> None:
    plan = kit.small_plan()
    del plan["outputs"]
    assert refused(kit.file_of(kit.sealed(plan))).message == "the member outputs is missing"


def test_a_default_has_to_be_written_out(kit: Any) -> None:
    plan = kit.plan_of(kit.unit_step("ask", kit.llm_target()))
    del plan["steps"][0]["unit"]["target"]["template"]
    error = refused(kit.file_of(kit.sealed(plan)))
    assert (error.kind, error.path) == ("malformed", "steps[0].unit.target.template")


def test_a_changed_blank_or_escape_is_found(kit: Any) -> None:
    plan = kit.sealed(kit.plan_of(kit.unit_step("a", kit.exec_target("a\x1fb"))))
    data = kit.file_of(plan)
    assert b"\\u001f" in data
    for other in (data.replace(b"\\u001f", b"\\u001F"), data[:-1] + b"\t"):
        assert refused(other).kind == "integrity"
    pretty = pretty_plan(decode_plan(data))
    error = refused(pretty.replace(b"\n  ", b"\n \t", 1))
    assert (error.kind, error.path) == ("integrity", "")
    assert "byte 3 " in error.message


def test_size_of_the_plan(kit: Any) -> None:
    big = kit.plan_of(*[kit.unit_step(f"s{n}", kit.exec_target("a")) for n in range(9)])
    for step in big["steps"]:
        step["unit"]["instructions"] = "x" * 231_000
    size = len(kit.file_of(kit.sealed(big))) - 1
    spare = PLAN_BYTES.high - size
    assert 0 <= spare < 20_000
    big["steps"][0]["unit"]["instructions"] += "x" * spare
    assert decode_plan(kit.file_of(kit.sealed(big)))
    big["steps"][0]["unit"]["instructions"] += "x"
    error = refused(kit.file_of(kit.sealed(big)))
    assert (error.kind, error.path) == ("bounds", "")
    assert str(PLAN_BYTES.high + 1) in error.message


def test_size_of_embedded_plans(kit: Any) -> None:
    def child(letter: str, size: int) -> Any:
        plan = kit.plan_of(*[kit.unit_step(f"s{n}", kit.exec_target("a")) for n in range(4)])
        for step in plan["steps"]:
            step["unit"]["instructions"] = letter * (size // 4)
        return kit.sealed(plan)

    half = child("x", CHILD_BYTES.high // 2 - 3000)
    parent = kit.sealed(kit.plan_of(*[kit.unit_step(f"k{n}", kit.child_target(half)) for n in range(2)]))
    assert decode_plan(kit.file_of(parent))
    over = child("y", CHILD_BYTES.high // 2 + 3000)
    parent = kit.sealed(kit.plan_of(*[kit.unit_step(f"k{n}", kit.child_target(over)) for n in range(2)]))
    error = refused(kit.file_of(parent))
    assert (error.kind, error.path) == ("bounds", "steps[1].unit.target.frozenPlan")


def test_depth_of_embedded_plans(kit: Any) -> None:
    plan = kit.small_plan()
    for _ in range(8):
        plan = kit.sealed(kit.plan_of(kit.unit_step("kid", kit.child_target(plan))))
    assert decode_plan(kit.file_of(plan))
    plan = kit.sealed(kit.plan_of(kit.unit_step("kid", kit.child_target(plan))))
    error = refused(kit.file_of(plan))
    assert error.kind == "bounds"
    assert "deeper than 8 levels" in error.message


def test_a_huge_file_is_refused_unread() -> None:
    started = time.perf_counter()
    assert refused(b" " * 200_000_000).kind == "bounds"
    assert time.perf_counter() - started < 2


def test_large_plans_decode_fast(kit: Any) -> None:
    steps = [kit.unit_step(f"s{n}", kit.llm_target(model="m")) for n in range(200)]
    for step in steps:
        step["unit"]["instructions"] = "words and words\n" * 550
        step["unit"]["output"] = {"type": "object", "properties": {"a": {"type": "string"}}}
    data = kit.file_of(kit.sealed(kit.plan_of(*steps)))
    assert 1_500_000 < len(data) < PLAN_BYTES.high
    best = 9.0
    for _ in range(3):
        started = time.perf_counter()
        decode_plan(data)
        best = min(best, time.perf_counter() - started)
    assert best < 1.0  # 0.1 s on an idle machine
