"""Targets of a plan, their engines and bindings: bounds and cross-checks that the interpreter relies on."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, UnsetType

from akm_schemas.bounds import (
    ARGV_WORD_BYTES,
    ARGV_WORDS,
    CWD_LENGTH,
    ENGINE_NAME,
    EXTRA_PARAMS_BYTES,
    PASS_ENV,
    SCRIPT_BYTES,
)
from akm_schemas.canonical import canonical_bytes
from akm_schemas.json_paths import quoted
from akm_schemas.plan import (
    Binding,
    ChildTarget,
    CommandTarget,
    Engine,
    EnvRefBinding,
    ExecTarget,
    InputBinding,
    LiteralBinding,
    LlmEngine,
    LlmTuning,
    ReferenceInput,
    ScriptTarget,
    Target,
)
from akm_schemas.plan_error import PlanPath
from akm_schemas.plan_references import Scope, is_param_name, is_variable_name
from akm_schemas.plan_values import not_empty, relative_path, require, schema_holds, sized

_ENGINE: Final = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*", re.ASCII)
_RESERVED_ENGINES: Final = "akm-"


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


def check_environment(bindings: Sequence[Binding], path: PlanPath) -> None:
    """The environment of a unit: usable variable names, env files inside the bundle."""
    for index, binding in enumerate(bindings):
        place = (*path, index)
        if isinstance(binding, EnvRefBinding):
            require(bool(binding.ref), (*place, "ref"), "expected an env ref")
            relative_path(binding.path, (*place, "path"), may_leave=True)  # the file of another bundle
            continue
        usable = bool(binding.name) and "=" not in binding.name and "\0" not in binding.name
        require(usable, (*place, "name"), f"{quoted(binding.name)} cannot name an environment variable")
        if isinstance(binding, LiteralBinding):
            require("\0" not in binding.value, (*place, "value"), "an environment variable cannot hold a NUL character")


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
    not_empty(target.options, (*path, "options"))
    _check_engine(target.engine, (*path, "engine"))
    if isinstance(target.llm, LlmTuning):
        _check_tuning(target.llm, (*path, "llm"))
        is_llm = isinstance(target.engine, LlmEngine)
        require(is_llm, (*path, "llm"), f"llm tuning on {quoted(target.engine.name)}, which is no llm engine")
    if isinstance(target.concurrency, int):
        require(
            target.concurrency >= 1, (*path, "concurrency"), f"{target.concurrency} is no width, expected 1 or more"
        )


def _check_engine(engine: Engine, path: PlanPath) -> None:
    name = engine.name
    usable = ENGINE_NAME.holds(len(name)) and _ENGINE.fullmatch(name) and not name.startswith(_RESERVED_ENGINES)
    require(bool(usable), (*path, "name"), f"{quoted(name)} is no name of an engine")
    if isinstance(engine, LlmEngine):
        require(bool(engine.endpoint), (*path, "endpoint"), "expected a URL")
        named = isinstance(engine.api_key, UnsetType) or is_variable_name(engine.api_key)
        require(named, (*path, "apiKey"), "expected the name of an environment variable")
        return
    not_empty(engine.args, (*path, "args"))
    if isinstance(engine.llm_engine, LlmEngine):
        allowed = engine.platform == "opencode-sdk"
        require(allowed, (*path, "llmEngine"), f"llmEngine belongs to opencode-sdk, found on {engine.platform}")
        _check_engine(engine.llm_engine, (*path, "llmEngine"))


def _check_tuning(tuning: LlmTuning, path: PlanPath) -> None:
    said = any(getattr(tuning, field) is not UNSET for field in LlmTuning.__struct_fields__)
    require(said, path, "empty tuning is written by leaving it out")
    if isinstance(tuning.extra_params, dict):
        sized(EXTRA_PARAMS_BYTES, len(canonical_bytes(tuning.extra_params)), (*path, "extraParams"))


def _check_exec(target: ExecTarget, path: PlanPath) -> None:
    _check_argv(target.command, (*path, "command"))
    if isinstance(target.cwd, str):
        sized(CWD_LENGTH, len(target.cwd), (*path, "cwd"))
        relative_path(target.cwd, (*path, "cwd"))
    require(len(target.pass_env) <= PASS_ENV.high, (*path, "passEnv"), f"expected at most {PASS_ENV.high} names")
    seen: set[str] = set()
    for index, name in enumerate(target.pass_env):
        place = (*path, "passEnv", index)
        require(is_variable_name(name), place, f"{quoted(name)} cannot name an environment variable")
        require(name not in seen, place, f"{quoted(name)} is listed twice")
        seen.add(name)


def _check_argv(command: Sequence[str], path: PlanPath) -> None:
    sized(ARGV_WORDS, len(command), path)
    for index, word in enumerate(command):
        sized(ARGV_WORD_BYTES, len(word.encode()), (*path, index))
        require("\0" not in word, (*path, index), "a word of a command line cannot hold a NUL character")


def _check_script(target: ScriptTarget, path: PlanPath) -> None:
    _check_argv(target.interpreter, (*path, "interpreter"))
    require(bool(target.extension), (*path, "extension"), "expected the extension of the script's file")
    data = base64.b64decode(target.bytes_base64, validate=True)  # re-deriving the hash has decoded it before
    sized(SCRIPT_BYTES, len(data), (*path, "bytesBase64"))
    canonical = base64.b64encode(data).decode("ascii") == target.bytes_base64
    require(canonical, (*path, "bytesBase64"), "expected padded Base64 without stray bits")
    require(
        len(data) == target.byte_length,
        (*path, "byteLength"),
        f"says {target.byte_length}, the script has {len(data)} bytes",
    )


def _check_child(target: ChildTarget, path: PlanPath) -> None:
    wrapped = target.via == "task"
    require(wrapped == isinstance(target.task_ref, str), (*path, "taskRef"), "goes with via task, and only with it")
    params = target.frozen_plan.params
    for index, binding in enumerate(target.input_bindings):
        place = (*path, "inputBindings", index, "name")
        declared = ", ".join(sorted(params)) or "(none)"
        message = f"the child has no param {quoted(binding.name)}; declared params: {declared}"
        require(binding.name in params, place, message)
