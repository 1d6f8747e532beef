"""Plan files: the pinned ones with bytes or values changed, sealed again or not.

Who can compute a hash can seal anything: a sealed plan with an odd value in it has to be stopped by shape and bounds.
"""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st
from near_misses import VALUES, places

from akm_schemas.canonical import canonical_bytes
from akm_schemas.hashing import content_hash, plan_hash, target_hash

_PINNED: Final = Path(__file__).resolve().parents[1] / "tests" / "golden" / "plans"
_HOSTILE: Final = (
    *("../../etc/passwd", "/etc/passwd", "env/../../x.env", "..", "\x1b[2J", "<script>alert(1)</script>", "=1+1"),
    *("file:///etc/passwd", "http://user:pw@h/chat/completions", "a\0b", "\u202e", "x" * 70_000, "${secret:x}"),
)


@cache
def pinned() -> tuple[bytes, ...]:
    """The pinned plans, sorted by name."""
    return tuple(path.read_bytes() for path in sorted(_PINNED.rglob("*.json")) if b'"irVersion"' in path.read_bytes())


def sealed(plan: Any) -> Any:
    """``plan`` (a JSON value, changed in place) with every hash computed anew, children first.

    Raises whatever the hashing raises for values that have no plan's shape.
    """
    for step in plan["steps"]:
        unit, gate = step.get("unit"), step.get("gate")
        if unit is not None:
            target = unit["target"]
            if target["kind"] == "child-workflow":
                target["planHash"] = sealed(target["frozenPlan"])["planHash"]
            target["contentHash"] = target_hash(target, env=unit["env"], instructions=unit["instructions"])
        if gate is not None:
            gate["judge"]["contentHash"] = target_hash(gate["judge"])
    plan["contentHash"] = content_hash(plan)
    plan["planHash"] = plan_hash(plan)
    return plan


@st.composite
def resealed_plans(draw: st.DrawFn) -> bytes:
    """A pinned plan with up to three values replaced, removed or repeated, and sealed where it still can be."""
    document = {"root": json.loads(draw(st.sampled_from(pinned())))}
    for _ in range(draw(st.integers(0, 3))):
        container, key = draw(st.sampled_from(places(document["root"])))
        change = draw(st.sampled_from(["replace", "hostile", "delete", "repeat"]))
        if change == "delete":
            del container[key]
        elif change == "repeat" and isinstance(container, list):
            container.insert(key, deepcopy(container[key]))
        else:
            container[key] = deepcopy(draw(st.sampled_from(_HOSTILE if change == "hostile" else VALUES)))
    try:
        return canonical_bytes(sealed(document["root"])) + b"\n"
    except Exception:  # noqa: BLE001 - what has no plan's shape cannot be sealed, and is written as it is
        return json.dumps(document["root"]).encode()


@st.composite
def mutated_bytes(draw: st.DrawFn, originals: tuple[bytes, ...]) -> bytes:
    """One of ``originals`` with up to three bytes or pieces changed."""
    data = draw(st.sampled_from(originals))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        piece = draw(
            st.binary(max_size=3) | st.sampled_from([b'"', b"{", b"[" * 300, b"1e400", b"\\ud800", b"\xff", b","])
        )
        data = data[:at] + piece + data[at + draw(st.integers(0, 2)) :]
    return data


def mutated_plans() -> st.SearchStrategy[bytes]:
    """A pinned plan with bytes changed."""
    return mutated_bytes(pinned())
