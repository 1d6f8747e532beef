"""``akmc show --format json``: what each step says and how it runs (spec 2, section 2)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from akm_schemas.plan import ChildTarget, CommandTarget, ExecTarget, Plan, ScriptTarget, Step, Unit


def shown_plan(plan: Plan, *, preamble: str | None = None) -> dict[str, Any]:
    """The plan for people and tools; ``preamble`` is given for a source."""
    shown: dict[str, Any] = {
        "ref": plan.provenance.ref,
        "title": plan.provenance.title,
        "contentHash": plan.content_hash,
        "planHash": plan.plan_hash,
        "params": plan.params,
        "outputs": {name: output.from_.text for name, output in plan.outputs.items()},
        "steps": [shown_step(step) for step in plan.steps],
    }
    if preamble is not None:
        shown["preamble"] = preamble
    return shown


def shown_step(step: Step) -> dict[str, Any]:
    """One step: its id, its prose, how it is orchestrated, and its rubric where it has one."""
    shown: dict[str, Any] = {
        "id": step.id,
        "kind": step.kind,
        "instructions": step.unit.instructions if step.unit is not UNSET else "",
        "orchestration": _orchestration(step),
    }
    if step.inputs:
        shown["inputs"] = [reference.text for reference in step.inputs]
    if step.gate is not UNSET:
        shown["gate"] = {"rubric": step.gate.rubric, "maxLoops": step.gate.max_loops}
    return shown


def _orchestration(step: Step) -> dict[str, Any]:
    """Which fields are there tells the kind: ``fanOut`` a map, ``route`` a route, ``exec`` a command line.

    An exec step has neither ``engine`` nor ``model``; its argv is whole.
    """
    shown: dict[str, Any] = {}
    if step.unit is not UNSET:
        shown |= _unit(step.unit)
    if step.map is not UNSET:
        step_map = step.map
        shown["fanOut"] = {
            "over": step_map.over.text,
            "concurrency": step_map.concurrency,
            "reducer": step_map.reducer,
        }
    if step.route is not UNSET:
        shown["route"] = {
            "input": step.route.input.text,
            "when": [{"match": branch.match, "step": branch.step} for branch in step.route.when],
        }
        if step.route.default is not UNSET:
            shown["route"]["default"] = step.route.default
    unit_schema = step.unit is not UNSET and step.unit.output is not UNSET
    shown["hasSchema"] = step.output is not UNSET or unit_schema
    return shown


def _unit(unit: Unit) -> dict[str, Any]:
    shown: dict[str, Any] = {"timeoutMs": unit.timeout_ms}
    target = unit.target
    if isinstance(target, ExecTarget):
        shown["exec"] = {"command": target.command}
        if target.cwd is not UNSET:
            shown["exec"]["cwd"] = target.cwd
        if target.pass_env:
            shown["exec"]["passEnv"] = target.pass_env
    elif isinstance(target, CommandTarget):
        shown["engine"] = target.engine.name
        if target.model is not UNSET:
            shown["model"] = target.model
    elif isinstance(target, ScriptTarget):
        shown["script"] = {"ref": target.ref, "interpreter": target.interpreter}
    elif isinstance(target, ChildTarget):
        shown["child"] = {"ref": target.ref, "steps": [step.id for step in target.frozen_plan.steps]}
    if unit.env:
        shown["env"] = msgspec.to_builtins(unit.env)
    return shown
