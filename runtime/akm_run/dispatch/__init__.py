"""One module per kind of unit; none of them knows about steps.

The modules are imported when a plan first needs them.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

from akm_run.dispatch.contract import Dispatcher
from akm_schemas.plan import ChildTarget, CommandTarget, ExecTarget, LlmEngine, Plan, ScriptTarget, Target


def dispatcher_for(target: Target) -> Dispatcher | None:
    """Who performs units of this target; ``None`` for what this interpreter cannot perform."""
    if isinstance(target, ExecTarget):
        from akm_run.dispatch.exec_unit import perform as perform_exec

        return perform_exec
    if isinstance(target, ScriptTarget):
        from akm_run.dispatch.script_unit import perform as perform_script

        return perform_script
    if isinstance(target, ChildTarget):
        return None
    if isinstance(target.engine, LlmEngine):
        from akm_run.dispatch.command_llm import perform as perform_llm

        return perform_llm
    from akm_run.dispatch.command_agent import perform as perform_agent

    return perform_agent


def unsupported(plan: Plan, *, children: bool = False) -> list[str]:
    """What of a plan this interpreter cannot perform, one line for each step and gate, in the order of the steps.

    ``children`` says that the driver runs child workflows itself: then their plans are looked through instead.
    """
    lines: list[str] = []
    for step, place, target in _targets(plan):
        if isinstance(target, ChildTarget):
            within = unsupported(target.frozen_plan, children=True) if children else ()
            lines.extend(f"step {step!r}, {target.ref}, {line}" for line in within)
            if not children:
                lines.append(f"step {step!r}{place}: a child-workflow unit cannot be run by this akm-run")
        elif isinstance(target, CommandTarget) and isinstance(target.engine, LlmEngine) and not _has_http_client():
            needs = "needs httpx, which is not installed; pip install httpx"
            lines.append(f"step {step!r}{place}: llm engine {target.engine.name!r} {needs}")
    return lines


def _has_http_client() -> bool:
    """Whether the one library is there that is needed for llm engines only; it is not imported for the question."""
    return find_spec("httpx") is not None


def _targets(plan: Plan) -> Iterator[tuple[str, str, Target]]:
    for step in plan.steps:
        if step.unit:
            yield step.id, "", step.unit.target
        if step.gate:
            yield step.id, " (its gate's judge)", step.gate.judge
