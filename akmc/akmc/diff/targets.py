"""Targets: what a unit runs. Whatever widens what can run or what it can see is ``security``."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from akm_schemas.canonical import canonical_text
from akm_schemas.counting import counted
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
from akmc.diff.narrowing import first_item, first_line
from akmc.diff.phrase import Phrase, command_line, phrase
from akmc.diff.prose import argv_diff, prose_diff
from akmc.diff.scope import Scope

if TYPE_CHECKING:
    ChildComparison: TypeAlias = Callable[[Scope, str, ChildTarget, ChildTarget], None]


def compare_targets(scope: Scope, path: str, old: Target, new: Target, child: ChildComparison) -> None:
    """Compare two targets of one unit; ``child`` compares embedded plans (it needs the whole comparison)."""
    match old, new:
        case CommandTarget(), CommandTarget():
            compare_commands(scope, path, old, new)
        case ExecTarget(), ExecTarget():
            _compare_execs(scope, path, old, new)
        case ScriptTarget(), ScriptTarget():
            _compare_scripts(scope, path, old, new)
        case ChildTarget(), ChildTarget():
            if old.frozen_plan.content_hash != new.frozen_plan.content_hash:
                child(scope, f"{path}.frozenPlan", old, new)
        case _:
            message = phrase("runs ", describe_target(new), ", ran ", describe_target(old))
            scope.report("security", path, message)
            return
    schemas = not isinstance(new, ChildTarget)
    _compare_bindings(scope, f"{path}.inputBindings", old.input_bindings, new.input_bindings, schemas=schemas)


def describe_target(target: Target) -> Phrase:
    """A target for a message."""
    if isinstance(target, ExecTarget):
        return command_line(target.command)
    if isinstance(target, ScriptTarget):
        return Phrase(f'script "{target.ref}"')
    if isinstance(target, ChildTarget):
        return Phrase(f'workflow "{target.ref}"')
    return Phrase(f"a prompt on {describe(target.engine)}")


def compare_commands(scope: Scope, path: str, old: CommandTarget, new: CommandTarget) -> None:
    """Two prompts (or judges), their texts aside: engine, model, tuning, template, options."""
    if _settings(old) == _settings(new):
        return
    compare_engines(scope, f"{path}.engine", old.engine, new.engine)
    compare_value(scope, f"{path}.model", "model", old.model, new.model)
    compare_value(scope, f"{path}.template", "template", old.template, new.template)
    _compare_keys(scope, f"{path}.llm", "llm", _json(old.llm), _json(new.llm))
    _compare_keys(scope, f"{path}.options", "option", _json(old.options), _json(new.options))


def _settings(target: CommandTarget) -> bytes:
    """What is compared, as bytes: values of Python would call 1 and true equal."""
    bare = replace(target, ref=UNSET, prompt=UNSET, concurrency=UNSET, content_hash="", input_bindings=[])
    return msgspec.json.encode(bare)


def _compare_execs(scope: Scope, path: str, old: ExecTarget, new: ExecTarget) -> None:
    if old.command != new.command:
        scope.report(
            "security",
            f"{path}.command",
            phrase("runs ", command_line(new.command), ", ran ", command_line(old.command)),
            old=list(old.command),
            new=list(new.command),
            prose=argv_diff(old.command, new.command),
            narrowed=first_item(old.command, new.command),
        )
    if old.cwd != new.cwd:
        message = f"runs in {_folder(new.cwd)}, ran in {_folder(old.cwd)}"
        scope.report("security", f"{path}.cwd", message, old=old.cwd, new=new.cwd)
    compare_names(scope, f"{path}.passEnv", old.pass_env, new.pass_env)


def _folder(cwd: str | UnsetType) -> str:
    return "the workspace root" if cwd is UNSET else f'"{cwd}"'


def _compare_scripts(scope: Scope, path: str, old: ScriptTarget, new: ScriptTarget) -> None:
    if old.interpreter != new.interpreter or old.extension != new.extension:
        programs = command_line(new.interpreter), command_line(old.interpreter)
        message = phrase("runs with ", programs[0], ", ran with ", programs[1])
        if old.interpreter == new.interpreter:
            message = Phrase(f'extension is "{new.extension}", was "{old.extension}"')
        scope.report("security", f"{path}.interpreter", message, old=list(old.interpreter), new=list(new.interpreter))
    if old.bytes_base64 == new.bytes_base64:
        return
    before, after = base64.b64decode(old.bytes_base64), base64.b64decode(new.bytes_base64)
    try:
        texts = before.decode("utf-8"), after.decode("utf-8")
    except UnicodeDecodeError:
        texts = "", ""
    prose = prose_diff(*texts)
    said = f'bytes of script "{new.ref}" changed ({old.byte_length} to {counted(new.byte_length, "byte")})'
    hashes = sha256_hex(before), sha256_hex(after)
    scope.report(
        "security",
        f"{path}.bytes",
        said,
        old=hashes[0],
        new=hashes[1],
        prose=prose or UNSET,
        narrowed=first_line(*texts),
    )


def _compare_bindings(
    scope: Scope, path: str, old: Sequence[InputBinding], new: Sequence[InputBinding], *, schemas: bool
) -> None:
    """``schemas``: whether a binding's schema counts; that of a child's param is told inside the child."""
    before = {binding.name: _binding(binding, scope.renames, schemas=schemas) for binding in old}
    after = {binding.name: _binding(binding, {}, schemas=schemas) for binding in new}
    for name in sorted({*before, *after}):
        one, other = before.get(name, UNSET), after.get(name, UNSET)
        if not same_value(one, other):
            message = f'input "{name}" is {_given(other)}, was {_given(one)}'
            if isinstance(one, dict) and isinstance(other, dict) and one.get("from", 0) == other.get("from", 1):
                message = f'input "{name}" is checked by another schema'
            scope.report("behaviour", f"{path}.{name}", message, old=one, new=other)


def _given(binding: Json | UnsetType) -> str:
    if not isinstance(binding, dict):
        return "not given"
    return shown(binding["value"]) if "value" in binding else f"{binding['from']}"


def _binding(binding: InputBinding, renames: dict[str, str], *, schemas: bool) -> Json:
    if isinstance(binding, LiteralInput):
        return {"value": binding.value}
    reference: ReferenceInput = binding
    source: JsonObject = {"from": renamed(reference.from_, renames).text}
    return {**source, "schema": reference.schema} if schemas else source


def _json(value: msgspec.Struct | JsonObject | UnsetType) -> JsonObject:
    if value is UNSET:
        return {}
    parts: JsonObject = msgspec.to_builtins(value)
    return parts


def _compare_keys(scope: Scope, path: str, what: str, old: JsonObject, new: JsonObject) -> None:
    for key in sorted({*old, *new}):
        before, after = old.get(key, UNSET), new.get(key, UNSET)
        # what an agent may use is what can run
        security = what == "option" and key == "tools"
        compare_value(scope, f"{path}.{key}", f'{what} "{key}"', before, after, security=security)


def compare_value(
    scope: Scope,
    path: str,
    what: str,
    old: Json | UnsetType,
    new: Json | UnsetType,
    *,
    security: bool = False,
) -> None:
    """Report a change of one value at ``path``; ``what`` names it in the message."""
    if not same_value(old, new):
        class_: ChangeClass = "security" if security else "behaviour"
        scope.report(class_, path, value_change(what, old, new), old=old, new=new)


def same_value(old: Json | UnsetType, new: Json | UnsetType) -> bool:
    """Equality as JSON: ``1`` is ``1.0`` and never ``true``."""
    if old is UNSET or new is UNSET:
        return old is new
    if isinstance(old, str) and isinstance(new, str):
        return old == new
    if type(old) is int and type(new) is int:
        return old == new
    # Alike as they stand is alike in canonical form, and costs no walk.
    return msgspec.json.encode(old) == msgspec.json.encode(new) or canonical_text(old) == canonical_text(new)


def value_change(what: str, old: Json | UnsetType, new: Json | UnsetType) -> str:
    """A message for a value that was set, unset or replaced."""
    now, before = ("not set" if value is UNSET else shown(value) for value in (new, old))
    return f"{what} is {now}, was {before}"
