"""From unit results to the promoted artifact: reducers and the step's own schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from msgspec import UNSET, Struct

from akm_schemas.canonical import canonical_bytes
from akm_schemas.counting import counted
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import Step
from akm_schemas.subset_validate import validate


class Promoted(Struct, frozen=True):
    """The artifact of a step."""

    value: Json


class Fault(Struct, frozen=True):
    """Why a step cannot go on or has no artifact: a failure reason and what to show for it."""

    reason: str
    summary: str


Reduction: TypeAlias = Promoted | Fault


class Slot(Struct, frozen=True):
    """One unit's contribution; ``abstains``: it succeeded with empty text."""

    completed: bool
    value: Json
    abstains: bool = False


def collect(slots: Sequence[Slot]) -> Promoted:
    """Every slot in item order, null for a failed one."""
    return Promoted([slot.value if slot.completed else None for slot in slots])


def vote(slots: Sequence[Slot]) -> Reduction:
    """The most frequent successful value, by canonical equality; null for an empty list.

    A tie and a vote without a single success are no artifact.
    """
    if not slots:
        return Promoted(None)
    ballots: dict[bytes, int] = {}
    values: dict[bytes, Json] = {}
    for slot in slots:
        if slot.completed and not slot.abstains:
            ballot = canonical_bytes(slot.value)
            ballots[ballot] = ballots.get(ballot, 0) + 1
            values.setdefault(ballot, slot.value)
    if not ballots:
        return Fault("vote_no_success", f"none of {counted(len(slots), 'unit')} succeeded with a value to vote for")
    most = max(ballots.values())
    leaders = [ballot for ballot, count in ballots.items() if count == most]
    if len(leaders) > 1:
        return Fault("vote_tie", f"{len(leaders)} values lead with {counted(most, 'vote')} each, so none wins")
    return Promoted(values[leaders[0]])


def schema_errors(schema: JsonObject, value: Json) -> tuple[str, ...]:
    """The misses of ``value``, one line each with its pointer, at most 50 and then how many more; empty when it fits."""
    return tuple(validate(schema, value).lines())


def reduced(step: Step, slots: Sequence[Slot]) -> Reduction:
    """The artifact that a step's units make, held to the step's own schema."""
    if step.map is UNSET:
        reduction: Reduction = Promoted(slots[0].value)
    else:
        reduction = vote(slots) if step.map.reducer == "vote" else collect(slots)
    if isinstance(reduction, Fault) or step.output is UNSET:
        return reduction
    errors = schema_errors(step.output, reduction.value)
    return Fault("validation_error", errors_text(errors)) if errors else reduction


def errors_text(errors: tuple[str, ...]) -> str:
    """Schema misses of a round as feedback for the next."""
    return "\n".join(["The result does not fit its schema:", *(f"- {error}" for error in errors)])
