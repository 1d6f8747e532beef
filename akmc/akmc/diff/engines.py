"""Engines: where a prompt goes, and what runs on its behalf."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import ChildTarget, CommandTarget, Engine, LlmEngine, Plan
from akmc.diff.model import ChangeClass
from akmc.diff.scope import Scope

_SECURITY: Final = {
    "kind": "engine kind",
    "platform": "agent platform",
    "bin": "agent program",
    "args": "agent argument list",
    "workspace": "agent working directory",
    "endpoint": "engine endpoint",
    "apiKey": "variable that holds the key",
    "llmEngine": "the agent's own llm engine",
}


def compare_engines(scope: Scope, path: str, old: Engine, new: Engine) -> None:
    """One change per part, one in all for another kind of engine; all but the engine's name are ``security``."""
    if type(old) is not type(new):
        message = f"prompts {describe(new)}, prompted {describe(old)}"
        scope.report("security", path, message, old=_parts(old), new=_parts(new))
        return
    before, after = _parts(old), _parts(new)
    for key in sorted({*before, *after}):
        one, other = before.get(key, UNSET), after.get(key, UNSET)
        if one == other:
            continue
        class_: ChangeClass = "security" if key in _SECURITY else "behaviour"
        name = _SECURITY.get(key, f"engine {key}")
        if one is UNSET:
            message = f"{name} is {_said(other)}, had none"
        elif other is UNSET:
            message = f"{name} was {_said(one)}, has none now"
        else:
            message = f"{name} is {_said(other)}, was {_said(one)}"
        scope.report(class_, f"{path}.{key}", message, old=one, new=other)


def describe(engine: Engine) -> str:
    """An engine for a message: its name and where it is or what it runs."""
    if isinstance(engine, LlmEngine):
        return f'llm engine "{engine.name}" at {engine.endpoint}'
    program = [part for part in (engine.bin, *(engine.args or ())) if isinstance(part, str)]
    return f'{engine.platform} agent "{engine.name}"' + (f" ({shlex.join(program)})" if program else "")


def reach(engine: Engine) -> str:
    """What makes two engines alike in what they can touch: everything but the name."""
    parts = _parts(engine)
    return repr(sorted((key, value) for key, value in parts.items() if key != "name"))


def reachable(plans: Iterable[Plan]) -> frozenset[str]:
    """What the engines of all plans can reach."""
    distinct = {msgspec.json.encode(engine): engine for plan in plans for engine in engines_of(plan)}
    return frozenset(map(reach, distinct.values()))


def engines_of(plan: Plan) -> Iterator[Engine]:
    """Every engine of a plan, judges' and embedded plans' included."""
    for step in plan.steps:
        if step.unit is not UNSET:
            target = step.unit.target
            if isinstance(target, CommandTarget):
                yield target.engine
            elif isinstance(target, ChildTarget):
                yield from engines_of(target.frozen_plan)
        if step.gate is not UNSET:
            yield step.gate.judge.engine


def _parts(engine: Engine) -> JsonObject:
    parts: JsonObject = msgspec.to_builtins(engine)
    return parts


def _said(value: Json | UnsetType) -> str:
    if isinstance(value, list):
        return shlex.join(str(part) for part in value)
    if isinstance(value, dict):
        return str(value.get("endpoint", value.get("name", "")))
    return f'"{value}"'
