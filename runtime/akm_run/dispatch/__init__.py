"""One module per kind of unit; none of them knows about steps.

The modules are imported when a plan first needs them.
"""

from __future__ import annotations

from collections.abc import Iterator

from akm_run.dispatch.contract import Dispatcher
from akm_schemas.plan import AgentEngine, ChildTarget, CommandTarget, ExecTarget, Plan, ScriptTarget, Target


def dispatcher_for(target: Target) -> Dispatcher | None:
    """Who performs units of this target; ``None`` for what this interpreter cannot perform."""
    if isinstance(target, ExecTarget):
        from akm_run.dispatch.exec_unit import perform as perform_exec

        return perform_exec
    if isinstance(target, ScriptTarget):
        from akm_run.dispatch.script_unit import perform as perform_script

        return perform_script
    if isinstance(target, CommandTarget) and _platform(target) == "command":
        from akm_run.dispatch.command_agent import perform as perform_command_agent

        return perform_command_agent
    return None


def unsupported(plan: Plan, *, children: bool = False) -> list[str]:
    """What of a plan this interpreter cannot perform, one line for each step and gate, in the order of the steps.

    ``children`` says that the driver runs child workflows itself: then their plans are looked through instead.
    """
    lines: list[str] = []
    for step, place, target in _targets(plan):
        if children and isinstance(target, ChildTarget):
            lines.extend(
                f"step {step!r}, {target.ref}, {line}" for line in unsupported(target.frozen_plan, children=True)
            )
        elif dispatcher_for(target) is None:
            lines.append(f"step {step!r}{place}: {_kind(target)} cannot be run by this akm-run")
    return lines


def _platform(target: CommandTarget) -> str | None:
    return target.engine.platform if isinstance(target.engine, AgentEngine) else None


def _targets(plan: Plan) -> Iterator[tuple[str, str, Target]]:
    for step in plan.steps:
        if step.unit:
            yield step.id, "", step.unit.target
        if step.gate:
            yield step.id, " (its gate's judge)", step.gate.judge


def _kind(target: Target) -> str:
    if isinstance(target, CommandTarget):
        engine = target.engine
        if isinstance(engine, AgentEngine):
            return f"engine {engine.name!r} on platform {engine.platform!r}"
        return f"llm engine {engine.name!r}"
    return f"a {target.__struct_config__.tag} unit"
