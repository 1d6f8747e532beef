"""Two matched steps, part by part."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import ChildTarget, CommandTarget, Gate, Map, Route, Step, Unit
from akmc.diff.added import unit_reach
from akmc.diff.contracts import renamed, report_schema
from akmc.diff.environment import compare_env
from akmc.diff.gates import compare_gates
from akmc.diff.narrowing import first_item, first_line
from akmc.diff.phrase import listed_phrases, phrase
from akmc.diff.places import EVERYWHERE, Within
from akmc.diff.prose import lines_changed, prose_diff
from akmc.diff.scope import Narrowed, Scope
from akmc.diff.targets import compare_targets, compare_value

if TYPE_CHECKING:
    ChildComparison: TypeAlias = Callable[[Scope, str, ChildTarget, ChildTarget], None]


def compare_steps(scope: Scope, old: Step, new: Step, child: ChildComparison) -> None:
    """Report every difference that ``contentHash`` covers, id and position aside."""
    path = f"steps.{new.id}"
    if old.kind != new.kind:
        scope.report("behaviour", f"{path}.kind", f"is a {new.kind} step, was a {old.kind} step")
    before = [renamed(reference, scope.renames).text for reference in old.inputs]
    after = [reference.text for reference in new.inputs]
    if before != after:
        message = f"reads {_names(after)}, read {_names(before)}"
        scope.report(
            "behaviour",
            f"{path}.inputs",
            message,
            old=list(before),
            new=list(after),
            narrowed=first_item(before, after),
        )
    _compare_schemas(scope, f"{path}.output", old.output, new.output)
    if old.map is not UNSET and new.map is not UNSET:
        _compare_maps(scope, f"{path}.map", old.map, new.map)
    if old.route is not UNSET and new.route is not UNSET:
        _compare_routes(scope, f"{path}.route", old.route, new.route)
    if old.unit is not UNSET and new.unit is not UNSET:
        _compare_units(scope, f"{path}.unit", old.unit, new.unit, child)
    elif new.unit is not UNSET:
        scope.report("security", f"{path}.unit", phrase("now ", listed_phrases(unit_reach(new.unit))))
    compare_gates(scope, f"{path}.gate", _gate(old), _gate(new))


def _gate(step: Step) -> Gate | None:
    return None if step.gate is UNSET else step.gate


def _names(texts: list[str]) -> str:
    return ", ".join(f'"{text}"' for text in texts) or "nothing"


def _compare_schemas(scope: Scope, path: str, old: JsonObject | UnsetType, new: JsonObject | UnsetType) -> None:
    if old is not UNSET and new is not UNSET:
        report_schema(scope, path, old, new, caller=None)
    elif old is not UNSET or new is not UNSET:
        message = "is checked by a schema now" if old is UNSET else "is no longer checked by a schema"
        scope.report("behaviour", path, message, old=old, new=new)


def _compare_maps(scope: Scope, path: str, old: Map, new: Map) -> None:
    compare_value(scope, f"{path}.over", "over", renamed(old.over, scope.renames).text, new.over.text)
    compare_value(scope, f"{path}.concurrency", "concurrency", old.concurrency, new.concurrency)
    compare_value(scope, f"{path}.reducer", "reducer", old.reducer, new.reducer)


def _compare_routes(scope: Scope, path: str, old: Route, new: Route) -> None:
    compare_value(scope, f"{path}.input", "input", renamed(old.input, scope.renames).text, new.input.text)
    old_at, new_at = ({_match(branch.match): at for at, branch in enumerate(route.when)} for route in (old, new))
    before = {_match(branch.match): scope.renames.get(branch.step, branch.step) for branch in old.when}
    after = {_match(branch.match): branch.step for branch in new.when}
    for match in sorted({*before, *after}):
        one, other = before.get(match), after.get(match)
        if one == other:
            continue
        where = f"goes to {_step(other)}, " + ("was no branch" if one is None else f"went to {_step(one)}")
        if other is None:
            where = f"is no branch any more, went to {_step(one)}"
        at = Narrowed(*(Within((places[match],)) if match in places else EVERYWHERE for places in (old_at, new_at)))
        scope.report("behaviour", f"{path}.when", f"{match} {where}", narrowed=at)
    if before == after and list(before) != list(after):
        scope.report("behaviour", f"{path}.when", "same branches in another order")
    default = old.default if old.default is UNSET else scope.renames.get(old.default, old.default)
    compare_value(scope, f"{path}.default", "default", default, new.default)


def _match(value: Json) -> str:
    return "match " + msgspec.json.encode(value).decode()


def _step(name: str | None) -> str:
    return f'step "{name}"'


def _compare_units(scope: Scope, path: str, old: Unit, new: Unit, child: ChildComparison) -> None:
    if old.target.content_hash != new.target.content_hash:  # it covers target, prompt and environment
        compare_targets(scope, f"{path}.target", old.target, new.target, child)
        if isinstance(old.target, CommandTarget) and isinstance(new.target, CommandTarget):
            _compare_prompts(scope, path, (_prompt(old, old.target), _prompt(new, new.target)), new.target)
        compare_env(scope, f"{path}.env", old.env, new.env)
    if old.isolation != new.isolation:
        message = f'isolation is "{new.isolation}", was "{old.isolation}"'
        scope.report("security", f"{path}.isolation", message, old=old.isolation, new=new.isolation)
    if old.timeout_ms != new.timeout_ms:
        message = f"timeout is {_duration(new.timeout_ms)}, was {_duration(old.timeout_ms)}"
        scope.report("behaviour", f"{path}.timeoutMs", message, old=old.timeout_ms, new=new.timeout_ms)
    compare_value(scope, f"{path}.retry.max", "retry.max", old.retry.max, new.retry.max)
    compare_value(scope, f"{path}.retry.on", "retry.on", list(old.retry.on), list(new.retry.on))
    compare_value(scope, f"{path}.onError", "on_error", old.on_error, new.on_error)
    _compare_schemas(scope, f"{path}.output", old.output, new.output)


def _compare_prompts(scope: Scope, path: str, texts: tuple[str, str], new: CommandTarget) -> None:
    prose = prose_diff(*texts)
    if prose:
        where = "target.prompt" if new.prompt is not UNSET else "instructions"
        message = f"prose changed ({lines_changed(prose)})"
        scope.report("behaviour", f"{path}.{where}", message, prose=prose, narrowed=first_line(*texts))


def _duration(milliseconds: int | None) -> str:
    """As an author writes it: the largest unit that divides it."""
    if milliseconds is None:
        return "none"
    units = ((3_600_000, "h"), (60_000, "m"), (1000, "s"))
    return next(
        (f"{milliseconds // size}{name}" for size, name in units if milliseconds % size == 0), f"{milliseconds}ms"
    )


def _prompt(unit: Unit, target: CommandTarget) -> str:
    """What the engine gets (spec 2, section 1): for Markdown the instructions are the prompt."""
    return unit.instructions if target.prompt is UNSET else target.prompt
