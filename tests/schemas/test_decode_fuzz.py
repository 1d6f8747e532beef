"""Whatever the bytes are: a plan that is the one we wrote, or a PlanError."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from akm_schemas.canonical import canonical_bytes
from akm_schemas.decode import PlanError, decode_plan


def kind_of(data: bytes) -> str:
    try:
        decode_plan(data)
    except PlanError as error:
        assert error.message
        assert "Traceback" not in str(error)
        return error.kind
    return "decoded"


def test_every_flipped_byte_is_found(kit: Any) -> None:
    data = kit.file_of(kit.small_plan())
    kinds = set()
    for place in range(len(data)):
        for bit in (0x01, 0x20, 0x80):
            changed = bytearray(data)
            changed[place] ^= bit
            kind = kind_of(bytes(changed))
            assert kind != "decoded", place
            kinds.add(kind)
    assert {"malformed", "integrity", "version"} == kinds


def test_flipped_bytes_of_a_rich_plan_are_found(kit: Any) -> None:
    data = kit.file_of(kit.rich_plan())
    chance = random.Random(5)
    for place in chance.sample(range(len(data)), 250):
        changed = bytearray(data)
        changed[place] ^= 1 << chance.randrange(8)
        assert kind_of(bytes(changed)) != "decoded", place


def test_every_truncation_is_refused(kit: Any) -> None:
    data = kit.file_of(kit.small_plan())
    for end in range(len(data) - 1):
        assert kind_of(data[:end]) == "malformed"
    assert kind_of(data[:-1]) == "decoded"


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path] if path else []
    if isinstance(value, dict):
        for name, child in value.items():
            found += _places(child, (*path, name))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            found += _places(child, (*path, index))
    return found


def _holder(plan: Any, path: tuple[Any, ...]) -> Any:
    for part in path[:-1]:
        plan = plan[part]
    return plan


def test_removed_and_repeated_members_are_found(kit: Any) -> None:
    for path in _places(kit.rich_plan()):
        plan = kit.rich_plan()
        del _holder(plan, path)[path[-1]]
        assert kind_of(canonical_bytes(plan)) != "decoded", path
    data = kit.file_of(kit.small_plan())
    for name in (b'"budget":{}', b'"id":"build"', b'"kind":"exec"', b'"lowering":1'):
        assert data.count(name) == 1
        assert kind_of(data.replace(name, name + b"," + name)) == "malformed"


ODD: tuple[Any, ...] = (None, True, 0, -1, 1.5, 2**53, "", "x", [], {}, [[]], {"kind": "exec"}, 1e300, "\U0001f600")


def test_resealed_plans_with_odd_values_never_crash(kit: Any) -> None:
    """Whoever can hash can seal anything: the shape and the bounds have to hold on their own."""
    chance = random.Random(3)
    decoded = 0
    for path in _places(kit.rich_plan()):
        for value in chance.sample(ODD, 2):
            plan = kit.rich_plan()
            _holder(plan, path)[path[-1]] = value
            try:
                kit.sealed(plan)
            except Exception:  # noqa: BLE001 - hashing assumes a plan's shape; such plans cannot be sealed
                continue
            decoded += kind_of(canonical_bytes(plan)) == "decoded"
    assert decoded > 0, "some odd values are legal somewhere, titles for one"


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.sampled_from(["exec", "command", "unit", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["steps", "unit", "gate", "target", "judge", "kind", "frozenPlan", "env", "id"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(JSON)
@settings(max_examples=100)
def test_random_json_is_refused(value: Any) -> None:
    assert kind_of(canonical_bytes(value)) in ("malformed", "version", "integrity")
    if isinstance(value, dict):
        assert kind_of(canonical_bytes({**value, "irVersion": 5})) in ("malformed", "integrity", "bounds")


@given(st.binary(max_size=64))
@settings(max_examples=50)
def test_random_bytes_are_refused(data: bytes) -> None:
    assert kind_of(data) == "malformed"
