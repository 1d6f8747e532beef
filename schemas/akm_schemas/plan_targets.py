"""Targets of a plan, their engines and bindings: bounds and cross-checks that the interpreter relies on."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from pathlib import PurePosixPath

from msgspec import UNSET

from akm_schemas.bounds import ARGV_WORD_BYTES, ARGV_WORDS, CWD_LENGTH, INSTRUCTION_BYTES, PASS_ENV, SCRIPT_BYTES
from akm_schemas.counting import counted
from akm_schemas.json_paths import quoted
from akm_schemas.json_values import json_equal
from akm_schemas.plan import (
    ChildTarget,
    CommandTarget,
    ExecTarget,
    InputBinding,
    ReferenceInput,
    ScriptTarget,
    Target,
)
from akm_schemas.plan_assets import check_ref, check_variable
from akm_schemas.plan_engines import check_runner
from akm_schemas.plan_error import PlanPath
from akm_schemas.plan_references import Scope, is_param_name, references_of
from akm_schemas.plan_values import relative_path, require, schema_holds, sized
from akm_schemas.subset_validate import validate


def check_target(target: Target, path: PlanPath, scope: Scope, *, before: int) -> None:
    """Check one target (not the plan inside a child target); raises PlanError.

    ``before``: references may name steps before this position.
    """
    _check_inputs(target.input_bindings, (*path, "inputBindings"), scope, before)
    if isinstance(target, CommandTarget):
        _check_command(target, path)
    elif isinstance(target, ExecTarget):
        _check_exec(target, path)
    elif isinstance(target, ScriptTarget):
        _check_script(target, path)
    else:
        _check_child(target, path)


def check_judge(judge: CommandTarget, path: PlanPath, scope: Scope) -> None:
    """A judge is a bare engine: no asset, no prompt of its own, no options, nothing bound."""
    bare = judge.ref is UNSET and judge.prompt is UNSET and judge.options is UNSET and judge.template == "none"
    require(bare and not judge.input_bindings, path, "a judge has no ref, prompt, template, options or bindings")
    check_target(judge, path, scope, before=0)


def _check_inputs(bindings: Sequence[InputBinding], path: PlanPath, scope: Scope, before: int) -> None:
    seen: set[str] = set()
    for index, binding in enumerate(bindings):
        place = (*path, index)
        require(is_param_name(binding.name), (*place, "name"), f"{quoted(binding.name)} is no name of an input")
        require(binding.name not in seen, (*place, "name"), f"{quoted(binding.name)} is bound twice")
        seen.add(binding.name)
        if isinstance(binding, ReferenceInput):
            scope.check(binding.from_, (*place, "from"), before=before)
            schema_holds(binding.schema, (*place, "schema"))


def _check_command(target: CommandTarget, path: PlanPath) -> None:
    check_runner(target, path)
    if isinstance(target.ref, str):
        check_ref(target.ref, "commands", (*path, "ref"))
    if isinstance(target.prompt, str):
        sized(INSTRUCTION_BYTES, len(target.prompt.encode()), (*path, "prompt"))
        return
    bare = target.ref is UNSET and target.options is UNSET and target.template == "none" and not target.input_bindings
    require(bare, (*path, "prompt"), "a ref, a template, options and bindings go with a prompt, and there is none")


def _check_exec(target: ExecTarget, path: PlanPath) -> None:
    _check_argv(target.command, (*path, "command"))
    if isinstance(target.cwd, str):
        sized(CWD_LENGTH, len(target.cwd), (*path, "cwd"))
        relative_path(target.cwd, (*path, "cwd"))
    require(len(target.pass_env) <= PASS_ENV.high, (*path, "passEnv"), f"expected at most {PASS_ENV.high} names")
    seen: set[str] = set()
    for index, name in enumerate(target.pass_env):
        check_variable(name, (*path, "passEnv", index), seen)


def _check_argv(command: Sequence[str], path: PlanPath) -> None:
    sized(ARGV_WORDS, len(command), path)
    for index, word in enumerate(command):
        sized(ARGV_WORD_BYTES, len(word.encode()), (*path, index))
        require("\0" not in word, (*path, index), "a word of a command line cannot hold a NUL character")


def _check_script(target: ScriptTarget, path: PlanPath) -> None:
    _check_argv(target.interpreter, (*path, "interpreter"))
    check_ref(target.ref, "scripts", (*path, "ref"))
    # It ends the name of the file that the script is written to: nothing but the extension of the ref will do.
    extension = PurePosixPath(target.ref).suffix.lower()
    message = f"expected the extension of {quoted(target.ref)}, found {quoted(target.extension)}"
    require(bool(extension) and target.extension == extension, (*path, "extension"), message)
    data = base64.b64decode(target.bytes_base64, validate=True)  # re-deriving the hash has decoded it before
    sized(SCRIPT_BYTES, len(data), (*path, "bytesBase64"))
    canonical = base64.b64encode(data).decode("ascii") == target.bytes_base64
    require(canonical, (*path, "bytesBase64"), "expected padded Base64 without stray bits")
    require(
        len(data) == target.byte_length,
        (*path, "byteLength"),
        f"says {target.byte_length}, the script has {counted(len(data), 'byte')}",
    )


def _check_child(target: ChildTarget, path: PlanPath) -> None:
    check_ref(target.ref, "workflows", (*path, "ref"))
    wrapped = target.via == "task"
    require(wrapped == isinstance(target.task_ref, str), (*path, "taskRef"), "goes with via task, and only with it")
    if isinstance(target.task_ref, str):
        check_ref(target.task_ref, "tasks", (*path, "taskRef"))
    params = target.frozen_plan.params
    for index, binding in enumerate(target.input_bindings):
        place = (*path, "inputBindings", index)
        declared = ", ".join(sorted(params)) or "(none)"
        message = f"the child has no param {quoted(binding.name)}; declared params: {declared}"
        require(binding.name in params, (*place, "name"), message)
        schema = params[binding.name]
        if isinstance(binding, ReferenceInput):
            same = json_equal(binding.schema, schema)
            require(same, (*place, "schema"), f"is not the schema of the child's param {quoted(binding.name)}")
            continue
        schema_holds(schema, (*path, "frozenPlan", "params", binding.name))
        outcome = validate(schema, binding.value)
        message = f"does not satisfy the schema of the child's param {quoted(binding.name)}"
        require(outcome.ok, (*place, "value"), message)
    _check_needed(target, path)


def _check_needed(target: ChildTarget, path: PlanPath) -> None:
    """A param that a reference inside the child reads has a default or is bound."""
    plan = target.frozen_plan
    bound = {binding.name for binding in target.input_bindings}
    for reference in references_of(plan):
        given = reference.name in bound or "default" in plan.params.get(reference.name, {})
        message = f"the child's param {quoted(reference.name)} is not bound, and {reference.text} inside it needs it"
        require(reference.root == "steps" or given, (*path, "inputBindings"), message)
