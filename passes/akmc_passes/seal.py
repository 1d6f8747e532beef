"""Hashes.

Before: ``program.plan`` is a plan with empty hashes. After: every target's ``contentHash``, the plan's ``contentHash``
and its ``planHash`` are filled. An open plan has no hashes and stays as it is.

That no source has changed since it was read is looked at by the command that publishes, at the last moment (spec 1,
section 5).
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from akm_schemas.hashing import content_hash, plan_hash, target_hash
from akm_schemas.plan import Plan
from akmc_passes.contract import Context, Program

NAME: str = "seal"
AFTER: tuple[str, ...] = ("lower",)
EMITS: tuple[str, ...] = ()


def run(program: Program, context: Context) -> Program:  # noqa: ARG001 (the contract's signature)
    """Fill every hash."""
    if program.plan is None or program.open:
        return program
    return replace(program, plan=sealed(program.plan))


def sealed(plan: Plan) -> Plan:
    """``plan`` with all its hashes; embedded plans are sealed already."""
    value: dict[str, Any] = msgspec.to_builtins(plan)
    for step in value["steps"]:
        if unit := step.get("unit"):
            unit["target"]["contentHash"] = target_hash(
                unit["target"], env=unit["env"], instructions=unit["instructions"]
            )
        if gate := step.get("gate"):
            gate["judge"]["contentHash"] = target_hash(gate["judge"])
    value["contentHash"] = content_hash(value)
    value["planHash"] = plan_hash(value)
    return msgspec.convert(value, Plan)
