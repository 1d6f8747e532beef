"""Walked frontmatter and bound sections to source IR.

Before: the walk returned only values of the right shape. After: a ``SourceIR``; what is absent or poisoned is
``UNSET`` (``None`` inside lists of texts).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from msgspec import UNSET, UnsetType

from akm_schemas.json_types import Json, JsonObject
from akmc_grammar import ir
from akmc_grammar.body_binder import Section


def _get(bag: JsonObject, name: str) -> Any:
    """A walked value of known shape, or ``UNSET``; the walk vouches for its type."""
    return bag.get(name, UNSET)


def _bag(bag: JsonObject, name: str) -> JsonObject | None:
    value = bag.get(name)
    return value if isinstance(value, dict) else None


def build_exec(bag: JsonObject) -> ir.Exec | UnsetType:
    """``UNSET`` unless every word of the command could be read."""
    words = bag.get("command")
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        return UNSET
    names = bag.get("pass_env")
    return ir.Exec(
        command=cast(list[str], words),
        cwd=_get(bag, "cwd"),
        pass_env=[name for name in names if isinstance(name, str)] if isinstance(names, list) else [],
    )


def build_unit(bag: JsonObject) -> ir.Unit:
    """The dispatch bag."""
    run, retry = _bag(bag, "exec"), _bag(bag, "retry")
    retried: ir.Retry | UnsetType = UNSET
    if retry is not None and "max" in retry and isinstance(on := retry.get("on"), list):
        retried = ir.Retry(max=cast(int, retry["max"]), on=[reason for reason in on if isinstance(reason, str)])
    env = bag.get("env")
    return ir.Unit(
        exec=build_exec(run) if run is not None else UNSET,
        engine=_get(bag, "engine"),
        model=_get(bag, "model"),
        llm=_get(bag, "llm"),
        timeout=_get(bag, "timeout"),
        retry=retried,
        on_error=_get(bag, "on_error"),
        output=_get(bag, "output"),
        env_refs=cast("list[str | None]", env) if isinstance(env, list) else [],
        isolation=_get(bag, "isolation"),
    )


def build_route(bag: JsonObject) -> ir.Route:
    """A route with all its branches in place."""
    when = bag.get("when")
    branches = [branch if isinstance(branch, dict) else {} for branch in when] if isinstance(when, list) else []
    return ir.Route(
        input=_get(bag, "input"),
        when=[ir.Branch(match=_get(branch, "match"), step=_get(branch, "step")) for branch in branches],
        default=_get(bag, "default"),
    )


def build_step(bag: JsonObject, *, id_ok: bool, section: Section | None) -> ir.Step:
    """One step with its section's text."""
    fan, route, gate = _bag(bag, "map"), _bag(bag, "route"), _bag(bag, "gate")
    unit = _bag(fan, "unit") if fan is not None else _bag(bag, "unit")
    kind: Literal["unit", "map", "route"] = "unit" if fan is None else "map"
    if route is not None and fan is None:
        kind = "route"
    inputs = bag.get("inputs")
    rubric = section.gate.rubric if section is not None and section.gate is not None else ""
    return ir.Step(
        id=_get(bag, "id") if id_ok else UNSET,
        kind=kind,
        inputs=cast("list[str | None]", inputs) if isinstance(inputs, list) else [],
        output=_get(bag, "output"),
        unit=UNSET if kind == "route" else build_unit(unit or {}),
        map=ir.Map(over=_get(fan, "over"), concurrency=_get(fan, "concurrency"), reducer=_get(fan, "reducer"))
        if fan is not None
        else UNSET,
        route=build_route(route) if route is not None and fan is None else UNSET,
        max_loops=_get(gate, "max_loops") if gate is not None else UNSET,
        instructions=section.instructions if section is not None else "",
        rubric=rubric or UNSET,
    )


def build_defaults(bag: JsonObject) -> ir.Defaults:
    """Document-level defaults."""
    return ir.Defaults(
        engine=_get(bag, "engine"),
        model=_get(bag, "model"),
        llm=_get(bag, "llm"),
        timeout=_get(bag, "timeout"),
        on_error=_get(bag, "on_error"),
    )


def build_outputs(bag: Mapping[str, Json]) -> dict[str, ir.Output]:
    """Exports by name."""
    entries = {name: value for name, value in bag.items() if isinstance(value, dict)}
    return {name: ir.Output(from_=_get(value, "from"), schema=_get(value, "schema")) for name, value in entries.items()}


def build_params(bag: Mapping[str, Json]) -> dict[str, JsonObject]:
    """Param schemas by name."""
    return {name: schema for name, schema in bag.items() if isinstance(schema, dict)}


def build_budget(bag: JsonObject) -> ir.Budget:
    """Ceilings."""
    return ir.Budget(max_units=_get(bag, "max_units"), max_tokens=_get(bag, "max_tokens"))
