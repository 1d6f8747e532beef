"""The environment of a unit's process, built from nothing, and the values in it that are to be scrubbed.

Later layers win: the allowlist and ``pass_env`` from the interpreter's own environment, the unit's env bindings, the
``AKM_*`` context. The context names are reserved: a variable that does not apply to a unit is absent from it, whatever
the surroundings or an env file say.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from akm_run.ambient import Ambient
from akm_run.dispatch.contract import UnitContext, UnitRequest
from akm_run.dispatch.outcome import UnitFault
from akm_run.dispatch.spawn import encoded
from akm_run.envfile import EnvFile, EnvFileError, read_env_file
from akm_run.judge import VERDICT_SKELETON
from akm_run.redaction import SHORTEST, Redactor, is_scrubbable
from akm_run.shared_text import SharedTexts
from akm_schemas.bounds import (
    CONTEXT_TOTAL_BYTES,
    CONTEXT_TOTAL_BYTES_WINDOWS,
    CONTEXT_VARIABLE_BYTES,
    CONTEXT_VARIABLE_BYTES_WINDOWS,
    Bound,
)
from akm_schemas.canonical import canonical_text
from akm_schemas.plan import EnvRefBinding, LiteralBinding

ALLOWLIST: Final = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ", "TMPDIR", "TEMP", "TMP"),
    *("SystemRoot", "SystemDrive", "WINDIR", "COMSPEC", "PATHEXT", "USERPROFILE", "HOMEDRIVE", "HOMEPATH"),
    *("APPDATA", "LOCALAPPDATA", "ProgramData", "ProgramFiles", "AKM_EVENT_SOURCE"),
)
CONTEXT_NAMES: Final = (
    *("AKM_RUN_ID", "AKM_STEP_ID", "AKM_UNIT_ID", "AKM_PARAMS"),
    *("AKM_ITEM", "AKM_ITEM_INDEX", "AKM_INPUTS", "AKM_TASK_INPUTS"),
)
_SHARED: Final = SharedTexts()


class Environment(Struct, frozen=True):
    """``variables`` is all that the process gets; ``redactor`` knows the values of the unit's env bindings."""

    variables: Mapping[str, str]
    redactor: Redactor
    notices: tuple[str, ...] = ()


def environment_of(
    request: UnitRequest,
    pass_env: Iterable[str] = (),
    ambient: Mapping[str, str] | None = None,
    credentials: Iterable[str] = (),
) -> Environment:
    """The environment of a unit; ``ambient`` is by default what the request says. ``credentials`` are values that are
    scrubbed as those of env bindings are.

    Raises UnitFault: ``exec_context_too_large``; ``spawn_failed`` for an env file or secret that cannot be read, since
    then nothing can be spawned, and the reason is in the ``retry.on`` vocabulary as a passing fault should be.
    """
    outer = _outer(request, ambient)
    variables = outer.part((*ALLOWLIST, *pass_env))
    bound, secrets = _bindings(request, outer)
    context = context_variables(request)
    _require_limits(context)
    variables.update(bound)
    for name in CONTEXT_NAMES:
        variables.pop(name, None)
    variables.update(context)
    short = sorted(name for name, value in bound.items() if value and not is_scrubbable(value))
    notices = (_short_notice(short),) if short else ()
    return Environment(
        variables, Redactor((*bound.values(), *secrets, *credentials, *concealed_values(request, outer))), notices
    )


def concealed_values(request: UnitRequest, ambient: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The values of bindings that are scrubbed from an answer though its unit does not get them: a judge's, whose
    artifact was made with them. What cannot be read now could not be told either, and what every verdict is made of
    (``true``, ``complete``) is no secret.
    """
    if not request.conceals:  # every unit that is no judge of one with bindings
        return ()
    outer = _outer(request, ambient)
    try:
        variables, secrets = _bindings(replace(request, env=request.conceals), outer)
    except UnitFault:
        return ()
    return tuple(value for value in (*variables.values(), *secrets) if value not in VERDICT_SKELETON)


def context_variables(request: UnitRequest) -> dict[str, str]:
    """The ``AKM_*`` variables that apply to a unit."""
    context: UnitContext = request.context
    variables = {
        "AKM_RUN_ID": request.run_id,
        "AKM_STEP_ID": request.step_id,
        "AKM_UNIT_ID": request.unit_id,
        "AKM_PARAMS": _SHARED.of(context.params),
    }
    if context.item_index is not None:
        variables["AKM_ITEM"] = canonical_text(context.item)
        variables["AKM_ITEM_INDEX"] = str(context.item_index)
    if context.inputs is not None:
        variables["AKM_INPUTS"] = _SHARED.of(context.inputs)
    if context.task_inputs is not None:
        variables["AKM_TASK_INPUTS"] = _SHARED.of(context.task_inputs)
    return variables


def _outer(request: UnitRequest, ambient: Mapping[str, str] | None) -> Ambient:
    """The environment to take from: the one that was given, the request's, else the interpreter's as it is now."""
    if ambient is not None:
        return ambient if isinstance(ambient, Ambient) else Ambient(ambient)
    return request.ambient if request.ambient is not None else Ambient.now()


def _bindings(request: UnitRequest, outer: Ambient) -> tuple[dict[str, str], list[str]]:
    """The variables that env bindings set, later ones over earlier ones, and the secrets that went into them."""
    variables: dict[str, str] = {}
    secrets: list[str] = []
    for binding in request.env:
        if isinstance(binding, LiteralBinding):
            variables[binding.name] = binding.value
        elif isinstance(binding, EnvRefBinding):
            file = _env_file(binding, request, outer)
            variables.update(file.variables)
            secrets.extend(file.secrets)
        else:
            variables.update(outer.part((binding.name,)))
    return variables, secrets


def _env_file(binding: EnvRefBinding, request: UnitRequest, outer: Ambient) -> EnvFile:
    path = request.bundle / binding.path
    levels = binding.ref.rpartition("//")[2].count("/")  # env/ci lies one folder below the root of its bundle
    if not _lies_in(path, path.parents[min(levels, len(path.parents) - 1)]):
        raise UnitFault(
            "spawn_failed", f"the env file {binding.path} is, or lies behind, a link that leads out of its bundle"
        )
    try:
        return read_env_file(
            path,
            binding.path,
            keys=binding.keys,
            secret_names=binding.secret_names,
            ambient=outer,
        )
    except EnvFileError as error:
        raise UnitFault("spawn_failed", str(error)) from None


def _lies_in(path: Path, root: Path) -> bool:
    """Whether ``path`` is below ``root`` with every link followed: a link may have come after the plan was frozen."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def _require_limits(context: Mapping[str, str]) -> None:
    """A kernel refuses larger variables with a bare "argument list too long"; these limits lie safely below."""
    windows = sys.platform == "win32"
    single = CONTEXT_VARIABLE_BYTES_WINDOWS if windows else CONTEXT_VARIABLE_BYTES
    total = CONTEXT_TOTAL_BYTES_WINDOWS if windows else CONTEXT_TOTAL_BYTES
    sizes = {name: len(value) if value.isascii() else len(encoded(value)) for name, value in context.items()}
    largest = max(sizes, key=lambda name: (sizes[name], name))
    if not single.holds(sizes[largest]):
        raise UnitFault("exec_context_too_large", f"{largest} has {sizes[largest]} bytes; {_limit(single)}")
    together = sum(sizes.values())
    if not total.holds(together):
        raise UnitFault(
            "exec_context_too_large",
            f"the AKM_* variables have {together} bytes together, {largest} alone {sizes[largest]}; {_limit(total)}",
        )


def _limit(bound: Bound) -> str:
    return (
        f"the limit is {bound.high} for {bound.name}, set by akm-run below what the system allows; "
        "hand large values over in files"
    )


def _short_notice(names: list[str]) -> str:
    return (
        f"not redacted, having fewer than {SHORTEST} characters or only blanks: "
        f"the value{'s' if len(names) > 1 else ''} of {', '.join(names)}"
    )
