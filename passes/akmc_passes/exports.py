"""What a child workflow shows to the workflow that composes it: its exports, and the params that it needs."""

from __future__ import annotations

from typing import Final

from msgspec import UNSET

from akm_schemas.json_types import Json, JsonObject
from akmc_grammar.ir import SourceIR
from akmc_passes.contract import Program

IMPLICIT: Final[dict[str, Json]] = {"runId": {"type": "string"}, "status": {"type": "string"}}
"""What a workflow without ``outputs`` exports."""


def exports_of(ir: SourceIR) -> JsonObject:
    """The schema of a composing step's artifact: a closed object of the child's exports.

    Only what an output declares is known of it; the others may be anything.
    """
    named: dict[str, Json] = {
        name: {} if output.schema is UNSET else output.schema for name, output in ir.outputs.items()
    }
    properties = named or dict(IMPLICIT)
    return {
        "type": "object",
        "properties": properties,
        "required": [*sorted(properties)],
        "additionalProperties": False,
    }


def needed_params(child: Program) -> dict[str, str]:
    """The params without default that a reference inside the child reads, each with the text of such a reference."""
    ir = child.document.ir
    assert ir is not None
    needed: dict[str, str] = {}
    for reference in child.references.values():
        if reference.root == "params" and "default" not in ir.params.get(reference.name, {}):
            needed.setdefault(reference.name, reference.text)
    return needed
