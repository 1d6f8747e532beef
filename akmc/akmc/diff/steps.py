"""Two matched steps, part by part."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import ChildTarget, CommandTarget, Gate, Map, Route, Step, Unit
from akmc.diff.contracts import renamed, report_schema
from akmc.diff.environment import compare_env
from akmc.diff.gates import compare_gates
from akmc.diff.model import ProseLine
from akmc.diff.prose import prose_diff
from akmc.diff.scope import Said, Scope
from akmc.diff.targets import compare_targets, compare_value, describe_target

if TYPE_CHECKING:
    ChildComparison: TypeAlias = Callable[[Scope, str, ChildTarget, ChildTarget], None]


def compare_steps(scope: Scope, old: Step, new: Step, child: ChildComparison) -> None:
    """Report every difference that ``contentHash`` covers, id and position aside."""
    path, said = f"steps.{new.id}", Said("new", f"steps.{new.index}")
    if old.kind != new.kind:
        scope.report("behaviour", f"{path}.kind", f"is a {new.kind} step, was a {old.kind} step", said=said)
    before = [renamed(reference, scope.renames).text for reference in old.inputs]
    after = [reference.text for reference in new.inputs]
    if before != after:
        message = f"reads {_names(after)}, read {_names(before)}"
        scope.report("behaviour", f"{path}.inputs", message, old=list(before), new=list(after), said=said)
    _compare_schemas(scope, f"{path}.output", old.output, new.output, said)
    if old.map is not UNSET and new.map is not UNSET:
        _compare_maps(scope, f"{path}.map", old.map, new.map, said)
    if old.route is not UNSET and new.route is not UNSET:
        _compare_routes(scope, f"{path}.route", old.route, new.route, said)
    if old.unit is not UNSET and new.unit is not UNSET:
        _compare_units(scope, f"{path}.unit", old.unit, new.unit, said, child)
    elif new.unit is not UNSET:
        scope.report("security", f"{path}.unit", f"runs {describe_target(new.unit.target)} now", said=said)
    compare_gates(scope, f"{path}.gate", _gate(old), _gate(new), Said("new", f"steps.{new.index}.gate"))


def _gate(step: Step) -> Gate | None:
    return None if step.gate is UNSET else step.gate


def _names(texts: list[str]) -> str:
    return ", ".join(f'"{text}"' for text in texts) or "nothing"


def _compare_schemas(
    scope: Scope, path: str, old: JsonObject | UnsetType, new: JsonObject | UnsetType, said: Said
) -> None:
    if old is not UNSET and new is not UNSET:
        report_schema(scope, path, old, new, caller=None, said=said)
    elif old is not UNSET or new is not UNSET:
        message = "is checked by a schema now" if old is UNSET else "is no longer checked by a schema"
        scope.report("behaviour", path, message, old=old, new=new, said=said)


def _compare_maps(scope: Scope, path: str, old: Map, new: Map, said: Said) -> None:
    compare_value(scope, f"{path}.over", "over", renamed(old.over, scope.renames).text, new.over.text, said)
    compare_value(scope, f"{path}.concurrency", "concurrency", old.concurrency, new.concurrency, said)
    compare_value(scope, f"{path}.reducer", "reducer", old.reducer, new.reducer, said)


def _compare_routes(scope: Scope, path: str, old: Route, new: Route, said: Said) -> None:
    compare_value(scope, f"{path}.input", "input", renamed(old.input, scope.renames).text, new.input.text, said)
    before = {_match(branch.match): scope.renames.get(branch.step, branch.step) for branch in old.when}
    after = {_match(branch.match): branch.step for branch in new.when}
    for match in sorted({*before, *after}):
        one, other = before.get(match), after.get(match)
        if one == other:
            continue
        where = f"goes to {_step(other)}, " + ("was no branch" if one is None else f"went to {_step(one)}")
        if other is None:
            where = f"is no branch any more, went to {_step(one)}"
        scope.report("behaviour", f"{path}.when", f"{match} {where}", said=said)
    if before == after and list(before) != list(after):
        scope.report("behaviour", f"{path}.when", "same branches in another order", said=said)
    default = old.default if old.default is UNSET else scope.renames.get(old.default, old.default)
    compare_value(scope, f"{path}.default", "default", default, new.default, said)


def _match(value: Json) -> str:
    return "match " + msgspec.json.encode(value).decode()


def _step(name: str | None) -> str:
    return f'step "{name}"'


def _compare_units(scope: Scope, path: str, old: Unit, new: Unit, said: Said, child: ChildComparison) -> None:
    compare_targets(scope, f"{path}.target", old.target, new.target, said, child)
    if isinstance(old.target, CommandTarget) and isinstance(new.target, CommandTarget):
        prose = prose_diff(_prompt(old, old.target), _prompt(new, new.target))
        if prose:
            where = "target.prompt" if new.target.prompt is not UNSET else "instructions"
            section = Said("new", f"{said.key}.section")
            scope.report("behaviour", f"{path}.{where}", _prose_message(prose), prose=prose, said=section)
    compare_env(scope, f"{path}.env", old.env, new.env, said)
    if old.isolation != new.isolation:
        message = f'isolation is "{new.isolation}", was "{old.isolation}"'
        scope.report("security", f"{path}.isolation", message, old=old.isolation, new=new.isolation, said=said)
    compare_value(scope, f"{path}.timeoutMs", "timeout in ms", old.timeout_ms, new.timeout_ms, said)
    compare_value(scope, f"{path}.retry.max", "retry.max", old.retry.max, new.retry.max, said)
    compare_value(scope, f"{path}.retry.on", "retry.on", list(old.retry.on), list(new.retry.on), said)
    compare_value(scope, f"{path}.onError", "on_error", old.on_error, new.on_error, said)
    _compare_schemas(scope, f"{path}.output", old.output, new.output, said)


def _prompt(unit: Unit, target: CommandTarget) -> str:
    """What the engine gets (spec 2, section 1): for Markdown the instructions are the prompt."""
    return unit.instructions if target.prompt is UNSET else target.prompt


def _prose_message(prose: list[ProseLine]) -> str:
    gone, came = (sum(line.op == op for line in prose) for op in "-+")
    return f"prose changed ({gone} line{'' if gone == 1 else 's'} out, {came} in)"
