"""What follows a failed attempt, and when the budget ends everything (spec 3, section 3)."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from akm_run.state import Spending, UnitState
from akm_schemas.bounds import RETRY_MAX, RUN_UNITS
from akm_schemas.plan import Budget, CommandTarget, Target, Unit

BACKOFF_LIMIT_S = 60.0
CHILD_FAILED = "child_failed"
BUDGET_EXCEEDED = "budget_exceeded"
CHILD_BLOCKED = "child_blocked"  # the one failure of a unit that blocks its step: a person must act on the child
CORRECTABLE = ("parse_error", "validation_error")


class Limits(Struct, frozen=True):
    """Options of one invocation: a cap on every ``retry.max``, and how many steps may finish (``None``: all)."""

    max_retries: int = RETRY_MAX.high
    max_steps: int | None = None


def can_loop(target: Target) -> bool:
    """Whether a rejection may dispatch the step again: exec and script steps have effects and never loop."""
    return isinstance(target, CommandTarget)


def after_failure(state: UnitState, unit: Unit, limits: Limits) -> Literal["final", "retry", "correction"]:
    """What follows the failed last attempt of ``state``."""
    if state.reason in CORRECTABLE and isinstance(unit.target, CommandTarget) and not state.corrected:
        return "correction"
    if state.reason in unit.retry.on and state.retries < min(unit.retry.max, limits.max_retries):
        return "retry"
    return "final"


def backoff_s(state: UnitState) -> float:
    """Seconds to wait before the next retry: 1, 2, 4 ... after ``cooldown`` and ``llm_*``, none after others."""
    reason = state.reason or ""
    if reason != "cooldown" and not reason.startswith("llm_"):
        return 0.0
    return min(BACKOFF_LIMIT_S, float(2 ** min(state.retries, 10)))


def pause_s(asked_s: float, unit: Unit, elapsed_s: float) -> float:
    """Seconds that a server's ``Retry-After`` holds up the next attempt: never beyond what is left of the unit's timeout
    after an attempt that took ``elapsed_s``."""
    return asked_s if unit.timeout_ms is None else min(asked_s, max(0.0, unit.timeout_ms / 1000 - elapsed_s))


def correction_of(state: UnitState) -> tuple[str, ...]:
    """What the running attempt is told about the answer before it; empty unless it is a correction."""
    if state.cause != "correction":
        return ()
    return state.errors or (state.diagnostic or state.reason or "the answer could not be read",)


def units_left(budget: Budget, spent: Spending) -> int:
    """How many dispatches the run may still make."""
    ceiling = RUN_UNITS.high if budget.max_units is UNSET else min(budget.max_units, RUN_UNITS.high)
    return max(0, ceiling - spent.units)


def exceeded(budget: Budget, spent: Spending) -> str | None:
    """The text of the ceiling that forbids another dispatch, or ``None``."""
    if units_left(budget, spent) == 0:
        return "budget exceeded (max_units ceiling)"
    if budget.max_tokens is not UNSET and spent.tokens >= budget.max_tokens:
        return "budget exceeded (max_tokens ceiling)"
    return None


def budget_advice(budget: Budget, spent: Spending) -> str:
    """What an author can do about a run that has reached a ceiling; a resumed run fails again at its first dispatch."""
    if units_left(budget, spent) > 0:
        return _larger("max_tokens", budget.max_tokens)
    if budget.max_units is UNSET or budget.max_units >= RUN_UNITS.high:
        unset = "the default without a budget, and " if budget.max_units is UNSET else ""
        return (
            f"{RUN_UNITS.high} units are {unset}the most of any run; resume does not help: split the work, "
            "for a child workflow has a budget of its own"
        )
    return _larger("max_units", budget.max_units)


def _larger(key: str, ceiling: int | UnsetType) -> str:
    return (
        f"resume does not help, for a run keeps its budget: raise budget.{key} (now {ceiling}) in the source, compile "
        "it, and run the new plan with --reuse and the id of this run"
    )
