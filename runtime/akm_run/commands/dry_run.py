"""``akm-run PLAN --dry-run``: every decision that can be taken now, and nothing dispatched or written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import UNSET

from akm_run.commands.common import opened_journal
from akm_run.console import joined, out
from akm_run.explain.forecast import Forecaster, StepForecast
from akm_run.explain.past import Past
from akm_run.faults import UsageFault
from akm_run.opening import RunFacts
from akm_run.preflight import isolates
from akm_run.publishing import commit_of
from akm_run.scope import Scope
from akm_run.show.document import as_json
from akm_run.widths import run_width
from akm_schemas.bounds import RUN_UNITS
from akm_schemas.counting import counted, worded
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import Budget, Plan
from akm_schemas.visible import visible


class DryRun(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The document of a dry run. The counts are of units that are known now, judge calls and children's included."""

    title: str
    ref: str
    reuses: str | None
    budget: Budget
    width: int
    width_from: Literal["plan", "host"]
    host_width: int
    would_run: int
    would_reuse: int
    unknown_steps: int
    steps: list[StepForecast]


def past_of(scope: Scope, run_id: str) -> Past:
    """The run that ``--reuse`` names; raises UsageFault for an unknown one."""
    journal = opened_journal(scope)
    run = None if journal is None else journal.run(run_id)
    if journal is None or run is None:
        raise UsageFault(f'--reuse: "{run_id}" is no run of {scope.label}', "akm-run list shows the runs")
    return Past.of(journal, run)


def forecast(plan: Plan, params: JsonObject, workspace: Path, past: Past | None, host_width: int) -> DryRun:
    """The dry run of ``plan``."""
    facts = RunFacts(params, run_width(plan), commit_of(workspace) if isolates(plan) else None)
    steps = Forecaster(plan, facts, past).steps()
    units = [unit.verdict for step in _all(steps) for unit in step.units]
    return DryRun(
        title=plan.provenance.title,
        ref=plan.provenance.ref,
        reuses=None if past is None else past.run.run_id,
        budget=plan.budget,
        width=facts.width,
        width_from="host" if plan.execution.max_concurrency is None else "plan",
        host_width=host_width,
        would_run=units.count("run"),
        would_reuse=units.count("reuse"),
        unknown_steps=sum(step.verdict == "unknown" for step in _all(steps)),
        steps=steps,
    )


def show(dry: DryRun, *, json: bool) -> None:
    """Print it."""
    out(as_json(dry) if json else joined(_lines(dry)))


def _all(steps: list[StepForecast]) -> Iterator[StepForecast]:
    for step in steps:
        yield step
        yield from _all(step.child)


def _lines(dry: DryRun) -> Iterator[str]:
    yield f"dry run of {visible(dry.ref)}: nothing is dispatched"
    for step in dry.steps:
        yield from _step_lines(step, 1)
    units, tokens = dry.budget.max_units, dry.budget.max_tokens
    most = f"{RUN_UNITS.high} units (no budget.max_units is set)" if units is UNSET else counted(units, "unit")
    yield f"budget: {most}, {'any number of tokens' if tokens is UNSET else counted(tokens, 'token')}"
    yield f"width: {dry.width} of this run ({_origin(dry)}), {dry.host_width} of this host (--host-concurrency)"
    unknown = f"{counted(dry.unknown_steps, 'step')} {worded(dry.unknown_steps, 'is', 'are')} not known yet"
    yield f"would run {dry.would_run}, reuse {dry.would_reuse}; {unknown}"


def _origin(dry: DryRun) -> str:
    """Where the run's width comes from; a plan has the number of its config's maxConcurrency."""
    return "the plan's" if dry.width_from == "plan" else "the cores of this machine less 2, at least 1, at most 16"


def _step_lines(step: StepForecast, depth: int) -> Iterator[str]:
    indent = "  " * depth
    facts = [step.verdict, *([visible(step.why)] if step.why is not UNSET else [])]
    facts += [f"{name} {value}" for name, value in _facts(step)]
    yield f"{indent}{step.id}: {'; '.join(facts)}"
    for unit in step.units:
        yield f"{indent}  {unit.id}  {unit.verdict}: {visible(unit.why)}"
    for inner in step.child:
        yield from _step_lines(inner, depth + 1)


def _facts(step: StepForecast) -> Iterator[tuple[str, object]]:
    if step.engine is not UNSET:
        yield "engine", step.engine
    if step.model is not UNSET:
        yield "model", step.model
    if step.width is not UNSET:
        yield "width", step.width
    if step.timeout_ms is not UNSET:
        yield "timeout", "none" if step.timeout_ms is None else f"{step.timeout_ms / 1000:g} s"
