"""Targets: what a unit runs. Whatever widens what can run or what it can see is ``security``."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from akm_schemas.canonical import canonical_text
from akm_schemas.hashing import sha256_hex
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import (
    ChildTarget,
    CommandTarget,
    ExecTarget,
    InputBinding,
    LiteralInput,
    ReferenceInput,
    ScriptTarget,
    Target,
)
from akmc.diff.contracts import renamed, shown
from akmc.diff.engines import compare_engines, describe
from akmc.diff.environment import compare_names
from akmc.diff.model import ChangeClass
from akmc.diff.prose import prose_diff
from akmc.diff.scope import Said, Scope

if TYPE_CHECKING:
    ChildComparison: TypeAlias = Callable[[Scope, str, ChildTarget, ChildTarget], None]


def compare_targets(scope: Scope, path: str, old: Target, new: Target, said: Said, child: ChildComparison) -> None:
    """Compare two targets of one unit; ``child`` compares embedded plans (it needs the whole comparison)."""
    match old, new:
        case CommandTarget(), CommandTarget():
            compare_commands(scope, path, old, new, said)
        case ExecTarget(), ExecTarget():
            _compare_execs(scope, path, old, new, said)
        case ScriptTarget(), ScriptTarget():
            _compare_scripts(scope, path, old, new, said)
        case ChildTarget(), ChildTarget():
            if old.frozen_plan.content_hash != new.frozen_plan.content_hash:
                child(scope, f"{path}.frozenPlan", old, new)
        case _:
            message = f"runs {describe_target(new)}, ran {describe_target(old)}"
            scope.report("security", path, message, said=said)
            return
    _compare_bindings(scope, f"{path}.inputBindings", old.input_bindings, new.input_bindings, said)


def describe_target(target: Target) -> str:
    """A target for a message."""
    if isinstance(target, ExecTarget):
        return f"`{shlex.join(target.command)}`"
    if isinstance(target, ScriptTarget):
        return f'script "{target.ref}"'
    if isinstance(target, ChildTarget):
        return f'workflow "{target.ref}"'
    return f"a prompt on {describe(target.engine)}"


def compare_commands(scope: Scope, path: str, old: CommandTarget, new: CommandTarget, said: Said) -> None:
    """Two prompts (or judges), their texts aside: engine, model, tuning, template, options."""
    compare_engines(scope, f"{path}.engine", old.engine, new.engine, said)
    compare_value(scope, f"{path}.model", "model", old.model, new.model, said)
    compare_value(scope, f"{path}.template", "template", old.template, new.template, said)
    _compare_keys(scope, f"{path}.llm", "llm", _json(old.llm), _json(new.llm), said)
    _compare_keys(scope, f"{path}.options", "options", _json(old.options), _json(new.options), said)


def _compare_execs(scope: Scope, path: str, old: ExecTarget, new: ExecTarget, said: Said) -> None:
    if old.command != new.command:
        message = f"runs `{shlex.join(new.command)}`, ran `{shlex.join(old.command)}`"
        scope.report("security", f"{path}.command", message, old=list(old.command), new=list(new.command), said=said)
    if old.cwd != new.cwd:
        message = f"runs in {_folder(new.cwd)}, ran in {_folder(old.cwd)}"
        scope.report("security", f"{path}.cwd", message, old=old.cwd, new=new.cwd, said=said)
    compare_names(scope, f"{path}.passEnv", old.pass_env, new.pass_env, said)


def _folder(cwd: str | UnsetType) -> str:
    return "the workspace root" if cwd is UNSET else f'"{cwd}"'


def _compare_scripts(scope: Scope, path: str, old: ScriptTarget, new: ScriptTarget, said: Said) -> None:
    if old.interpreter != new.interpreter or old.extension != new.extension:
        message = f"interpreter is `{shlex.join(new.interpreter)}`, was `{shlex.join(old.interpreter)}`"
        scope.report(
            "security", f"{path}.interpreter", message, old=list(old.interpreter), new=list(new.interpreter), said=said
        )
    if old.bytes_base64 == new.bytes_base64:
        return
    before, after = base64.b64decode(old.bytes_base64), base64.b64decode(new.bytes_base64)
    try:
        prose = prose_diff(before.decode("utf-8"), after.decode("utf-8"))
    except UnicodeDecodeError:
        prose = []
    message = f'bytes of script "{new.ref}" changed ({old.byte_length} to {new.byte_length} bytes)'
    hashes = sha256_hex(before), sha256_hex(after)
    scope.report("security", f"{path}.bytes", message, old=hashes[0], new=hashes[1], prose=prose or UNSET, said=said)


def _compare_bindings(
    scope: Scope, path: str, old: Sequence[InputBinding], new: Sequence[InputBinding], said: Said
) -> None:
    before = {binding.name: _binding(binding, scope.renames) for binding in old}
    after = {binding.name: _binding(binding, {}) for binding in new}
    _compare_keys(scope, path, "input", before, after, said)


def _binding(binding: InputBinding, renames: dict[str, str]) -> Json:
    if isinstance(binding, LiteralInput):
        return {"value": binding.value}
    reference: ReferenceInput = binding
    return {"from": renamed(reference.from_, renames).text, "schema": reference.schema}


def _json(value: msgspec.Struct | JsonObject | UnsetType) -> JsonObject:
    if value is UNSET:
        return {}
    parts: JsonObject = msgspec.to_builtins(value)
    return parts


def _compare_keys(scope: Scope, path: str, what: str, old: JsonObject, new: JsonObject, said: Said) -> None:
    for key in sorted({*old, *new}):
        before, after = old.get(key, UNSET), new.get(key, UNSET)
        # what an agent may use is what can run
        security = what == "options" and key == "tools"
        compare_value(scope, f"{path}.{key}", f'{what} "{key}"', before, after, said, security=security)


def compare_value(
    scope: Scope,
    path: str,
    what: str,
    old: Json | UnsetType,
    new: Json | UnsetType,
    said: Said,
    *,
    security: bool = False,
) -> None:
    """Report a change of one value at ``path``; ``what`` names it in the message."""
    if not same_value(old, new):
        class_: ChangeClass = "security" if security else "behaviour"
        scope.report(class_, path, value_change(what, old, new), old=old, new=new, said=said)


def same_value(old: Json | UnsetType, new: Json | UnsetType) -> bool:
    """Equality as JSON: ``1`` is ``1.0`` and never ``true``."""
    if old is UNSET or new is UNSET:
        return old is new
    return canonical_text(old) == canonical_text(new)


def value_change(what: str, old: Json | UnsetType, new: Json | UnsetType) -> str:
    """A message for a value that was set, unset or replaced."""
    now, before = ("not set" if value is UNSET else shown(value) for value in (new, old))
    return f"{what} is {now}, was {before}"
