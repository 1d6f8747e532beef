"""Refs, files and environments of a plan: what bundles promise of them, held again (spec 1, section 1; spec 2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from akm_schemas.bounds import ENV_REFS
from akm_schemas.json_paths import quoted
from akm_schemas.plan import Binding, EnvRefBinding, LiteralBinding, Provenance
from akm_schemas.plan_error import PlanPath
from akm_schemas.plan_references import is_variable_name
from akm_schemas.plan_values import digest, relative_path, require

_SECRET_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", re.ASCII)
_OWN_VARIABLES: Final = "AKM_"
_UP: Final = "../"


def check_ref(ref: str, family: str, path: PlanPath) -> None:
    """``ref`` names an asset of ``family``; raises PlanError."""
    require(_refs(family).fullmatch(ref) is not None, path, f"expected a ref of {family}/, found {quoted(ref)}")


@cache
def _refs(family: str) -> re.Pattern[str]:
    from akm_schemas.schema_patterns import asset_ref  # on use: plans of command lines alone have no refs

    return re.compile(asset_ref((family,)))


def check_environment(bindings: Sequence[Binding], path: PlanPath) -> None:
    """The environment of a unit: variables that may be set, each once, and env files where their refs say."""
    files = sum(isinstance(binding, EnvRefBinding) for binding in bindings)
    require(files <= ENV_REFS.high, path, f"found {files} env files, expected at most {ENV_REFS.high}")
    seen: set[str] = set()
    for index, binding in enumerate(bindings):
        place = (*path, index)
        if isinstance(binding, EnvRefBinding):
            _check_env_file(binding, place)
            continue
        check_variable(binding.name, (*place, "name"), seen)
        if isinstance(binding, LiteralBinding):
            require("\0" not in binding.value, (*place, "value"), "an environment variable cannot hold a NUL character")


def check_variable(name: str, path: PlanPath, seen: set[str]) -> None:
    """A variable that a unit may be given, not in ``seen``, which it enters."""
    require(is_variable_name(name), path, f"{quoted(name)} cannot name an environment variable")
    require(not name.startswith(_OWN_VARIABLES), path, f"{quoted(name)} belongs to the interpreter")
    require(name not in seen, path, f"{quoted(name)} is listed twice")
    seen.add(name)


def _check_env_file(binding: EnvRefBinding, path: PlanPath) -> None:
    check_ref(binding.ref, "env", (*path, "ref"))
    bundle, _, local = binding.ref.rpartition("//")
    place = (*path, "path")
    # The file of another bundle is reached from this one's root; nothing else climbs, and only in front.
    within = binding.path
    while bundle and within.startswith(_UP):
        within = within.removeprefix(_UP)
    relative_path(within, place, found=True)
    named = within == f"{local}.env" or (bool(bundle) and within.endswith(f"/{local}.env"))
    require(named, place, f"{quoted(binding.path)} is not the file of {quoted(binding.ref)}")
    _check_names(binding.keys, (*path, "keys"), "cannot name an environment variable")
    _check_names(binding.secret_names, (*path, "secretNames"), "is no name of a secret")


def _check_names(names: Sequence[str], path: PlanPath, trouble: str) -> None:
    for index, name in enumerate(names):
        usable = _SECRET_NAME.fullmatch(name) if path[-1] == "secretNames" else is_variable_name(name)
        require(bool(usable), (*path, index), f"{quoted(name)} {trouble}")
        ordered = index == 0 or names[index - 1] < name
        require(ordered, (*path, index), f"{quoted(name)} is out of order, expected sorted names, each once")


def check_read_set(provenance: Provenance, path: PlanPath) -> None:
    """The files of the read set: sorted, each once, inside their bundles, with hash and size."""
    files = provenance.source_read_set
    for index, file in enumerate(files):
        place = (*path, index)
        digest(file.sha256, (*place, "sha256"))
        require(file.size >= 0, (*place, "size"), f"{file.size} is no size in bytes")
        relative_path(file.path, (*place, "path"), found=True)
        before = files[index - 1] if index else None
        ordered = before is None or (before.ref, before.path) < (file.ref, file.path)
        require(ordered, place, "is out of order, expected files sorted by ref and path, each once")
        local = file.ref.rpartition("//")[2]
        named = not local or file.path == local or file.path.startswith(f"{local}.")
        require(named, (*place, "path"), f"{quoted(file.path)} is not the file of {quoted(file.ref)}")
