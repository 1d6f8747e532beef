"""From a started attempt to the request that a dispatcher gets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import UNSET, Struct

from akm_run.ambient import Ambient
from akm_run.artifacts import Promoted
from akm_run.dispatch.contract import UnitContext, UnitRequest, UnitResult
from akm_run.events import UnitStarted
from akm_run.frame import Frame
from akm_run.gating import JUDGE_UNREADABLE
from akm_run.judge import Verdict, judge_prompt, read_verdict
from akm_run.parts import judge_parts, unit_parts
from akm_run.policy import correction_of
from akm_run.run_log import RunLog
from akm_run.state import UnitState
from akm_run.tape import Asked
from akm_schemas.hashing import json_hash
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import CommandTarget, Step, Target

JUDGE_TIMEOUT_S = 600.0  # a gate freezes no timeout, and a judge that hangs would hold the run for ever


class Surroundings(Struct, frozen=True):
    """What a run's requests share: its id, params, the directories units and env files are relative to, its log, and the
    environment that units are given a part of."""

    run_id: str
    params: JsonObject
    workspace: Path
    bundle: Path
    commit: str | None = None
    log: RunLog | None = None
    ambient: Ambient | None = None

    def log_of(self, unit_id: str) -> Callable[[str], None] | None:
        """Who is told what an attempt prints."""
        return None if self.log is None else partial(self.log.write, unit_id)


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
        log=around.log_of(started.unit_id),
        ambient=around.ambient,
    )


def judge_request(frame: Frame, started: UnitStarted, around: Surroundings) -> UnitRequest:
    """The request for a judge call about the frame's artifact: artifact and rubric, nothing of the run's context."""
    gate = frame.step.gate
    assert gate is not UNSET and frame.reduction is not None
    artifact = getattr(frame.reduction, "value", None)
    return UnitRequest(
        run_id=around.run_id,
        step_id=frame.step.id,
        unit_id=started.unit_id,
        attempt=started.attempt,
        target=gate.judge,
        instructions=judge_prompt(artifact, gate.rubric),
        env=(),
        schema=None,
        timeout_s=JUDGE_TIMEOUT_S,
        context=UnitContext(params={}),
        workspace=around.workspace,
        bundle=around.bundle,
        log=around.log_of(started.unit_id),
        ambient=around.ambient,
        conceals=() if frame.step.unit is UNSET else tuple(frame.step.unit.env),
    )


def asked(frame: Frame, started: UnitStarted, params: JsonObject) -> Asked:
    """The identity of an attempt, for recordings."""
    if started.role == "unit":
        planned = frame.units[frame.positions[started.key]]
        return Asked(started.unit_id, started.input_hash, unit_parts(frame.shared, params, planned))
    assert frame.step.gate is not UNSET and isinstance(frame.reduction, Promoted)
    parts = judge_parts(frame.step.gate, json_hash(frame.reduction.value))
    return Asked(started.unit_id, started.input_hash, parts)


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


_NO_ANSWER: Final = frozenset(
    (
        *("aborted", "env_unsupported", "exec_context_too_large", "exec_cwd_escape", "spawn_failed"),
        *("llm_http_error", "llm_rate_limit", "llm_unreachable"),
    )
)


def leaves_usage_open(target: Target, result: UnitResult) -> bool:
    """Whether an engine has answered, or may have, without a word about tokens; a refused request used none."""
    return isinstance(target, CommandTarget) and result.tokens is None and result.failure_reason not in _NO_ANSWER
