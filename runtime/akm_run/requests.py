"""From a started attempt to the request that a dispatcher gets."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from msgspec import UNSET

from akm_run.dispatch.contract import UnitContext, UnitRequest, UnitResult
from akm_run.events import UnitStarted
from akm_run.frame import Frame
from akm_run.gating import JUDGE_UNREADABLE
from akm_run.judge import Verdict, judge_prompt, read_verdict
from akm_run.policy import correction_of
from akm_run.state import UnitState
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import AgentEngine, CommandTarget, Step, Target

JUDGE_TIMEOUT_S = 600.0  # a gate freezes no timeout: that of an llm unit without one; agents have none


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a run's requests share: its id, params, and the directories units and env files are relative to."""

    run_id: str
    params: JsonObject
    workspace: Path
    bundle: Path
    commit: str | None = None


def target_of(step: Step, started: UnitStarted) -> Target:
    """The target that an attempt dispatches to."""
    if started.role == "judge":
        assert step.gate is not UNSET
        return step.gate.judge
    assert step.unit is not UNSET
    return step.unit.target


def unit_request(frame: Frame, started: UnitStarted, state: UnitState, around: Surroundings) -> UnitRequest:
    """The request for an attempt at a unit of ``frame``."""
    unit, step = frame.unit, frame.step
    planned = frame.units[frame.positions[started.key]]
    return UnitRequest(
        run_id=around.run_id,
        step_id=step.id,
        unit_id=started.unit_id,
        attempt=started.attempt,
        target=unit.target,
        instructions=unit.instructions,
        env=tuple(unit.env),
        schema=frame.schema,
        timeout_s=None if unit.timeout_ms is None else unit.timeout_ms / 1000,
        context=UnitContext(
            params=around.params,
            item=planned.item,
            item_index=planned.index,
            inputs=frame.context.inputs,
            task_inputs=frame.context.task_inputs,
            gate_feedback=frame.context.feedback,
            correction=correction_of(state),
        ),
        workspace=around.workspace,
        bundle=around.bundle,
        isolation=unit.isolation,
        commit=around.commit,
    )


def judge_request(frame: Frame, started: UnitStarted, around: Surroundings) -> UnitRequest:
    """The request for a judge call about the frame's artifact: artifact and rubric, nothing of the run's context."""
    gate = frame.step.gate
    assert gate is not UNSET and frame.reduction is not None
    artifact = getattr(frame.reduction, "value", None)
    endless = isinstance(gate.judge.engine, AgentEngine)
    return UnitRequest(
        run_id=around.run_id,
        step_id=frame.step.id,
        unit_id=started.unit_id,
        attempt=started.attempt,
        target=gate.judge,
        instructions=judge_prompt(artifact, gate.rubric),
        env=(),
        schema=None,
        timeout_s=None if endless else JUDGE_TIMEOUT_S,
        context=UnitContext(params={}),
        workspace=around.workspace,
        bundle=around.bundle,
    )


def judged(result: UnitResult) -> UnitResult:
    """A judge's result, failed when its answer is no verdict, so that the attempt's row says so."""
    if not result.completed:
        return result
    verdict = read_verdict(result.value if isinstance(result.value, str) else "")
    if isinstance(verdict, Verdict):
        return result
    return UnitResult(
        failure_reason=JUDGE_UNREADABLE, diagnostic=verdict.why, notices=result.notices, tokens=result.tokens
    )


def reports_usage(target: Target) -> bool:
    """Whether a target is expected to report token usage."""
    return isinstance(target, CommandTarget)
