"""Env refs to the names in their files.

Before: ``resolve`` found the files. After: ``program.env_files`` binds each env ref to its file's key names and to the
names of the secrets that it mentions, values unseen; the files are in the read set.

The files are read whenever they are there, so that a plan's size is known at check; what is wrong with them, or that
they are not there, is a freeze rule and stays silent without a config. A text that is no env ref is always reported.
"""

from __future__ import annotations

import os

from msgspec.structs import replace

from akm_schemas.bounds import ENV_FILE_BYTES
from akm_schemas.plan import EnvRefBinding
from akmc_grammar.places import Path
from akmc_grammar.reference_grammar import parse_asset_ref
from akmc_grammar.suggest import did_you_mean
from akmc_passes.bundle import NotFound, find_asset, similar_names
from akmc_passes.contract import Asset, Context, Program
from akmc_passes.ir_walk import env_refs
from akmc_passes.read_set import read_asset
from akmc_passes.resolve import bundle_of
from akmc_passes.words import quoted

NAME: str = "environment"
AFTER: tuple[str, ...] = ("resolve",)
EMITS: tuple[str, ...] = ("env-unresolved",)


def run(program: Program, context: Context) -> Program:
    """Bind every env ref."""
    ir = program.document.ir
    if ir is None:
        return program
    bindings: dict[Path, EnvRefBinding] = {}
    said = _said_by_resolve(program, context)
    for at in env_refs(ir):
        asset = program.assets.get(at.path)
        if asset is None or asset.family != "env":
            if at.path not in said and not program.document.is_poisoned(at.path):
                _report_missing(program, context, at.path, at.text)
            continue
        binding = _bind(program, context, at.path, asset)
        if binding is not None:
            bindings[at.path] = binding
    return replace(program, env_files=bindings)


def _report_missing(program: Program, context: Context, path: Path, text: str) -> None:
    parsed = parse_asset_ref(text)
    place = program.place(*path)
    if parsed is None or parsed.family != "env":
        stem = text.rpartition("/")[2].removesuffix(".env")
        name = stem if parse_asset_ref(f"env/{stem}") is not None else "<name>"
        help = f"write env/{name} for the file env/{name}.env of the bundle"
        context.sink.report("env-unresolved", place, f"{quoted(text)} is no env ref", help=help)
        return
    if context.leaves_engines_open:
        return
    bundle = bundle_of(context, parsed)
    found = find_asset(bundle, "env", parsed.name) if bundle is not None else None
    if not isinstance(found, NotFound):
        found = NotFound("missing", (f"env/{parsed.name}.env",))
    bare = text.removesuffix(".env")
    if bare != text:
        help = f"write {bare}: a ref leaves out the extension of the file"
    else:
        names = similar_names(context.bundle, "env") if context.bundle is not None else []
        help = did_you_mean(text, names) or found.remedy
    message = f"{quoted(text)} names no env file: {found.says}"
    context.sink.report("env-unresolved", place, message, help=help)


def _said_by_resolve(program: Program, context: Context) -> set[Path]:
    """Where ``resolve`` said why there is no file (a link that leads outside, an unknown bundle)."""
    name = program.document.source.name
    return {item.place.path for item in context.sink.found if item.rule.owner == "resolve" and item.place.file == name}


def _bind(program: Program, context: Context, path: Path, asset: Asset) -> EnvRefBinding | None:
    from akmc_passes.dotenv import EnvFault, EnvNames, read_env_names  # on use: most workflows name no env file

    source, fault = None, None
    try:
        source = read_asset(context, asset)
    except OSError as error:
        fault = f"cannot be read: {error.strerror or error}"
    if source is not None:
        names: EnvNames | EnvFault
        if not ENV_FILE_BYTES.holds(len(source.raw)):
            names = EnvFault(0, f"has {len(source.raw)} bytes, an env file has at most {ENV_FILE_BYTES.high}")
        else:
            names = read_env_names(source.text) if source.text is not None else EnvFault(0, "is not UTF-8")
        if not isinstance(names, EnvFault):
            return EnvRefBinding(
                ref=asset.ref,
                path=_bundle_path(context, asset),
                keys=list(names.keys),
                secret_names=list(names.secrets),
            )
        fault = f"line {names.line} {names.message}" if names.line else names.message
    if not context.leaves_engines_open:
        message = f"the env file {quoted(asset.path)} of {quoted(asset.ref)} cannot be used: {fault}"
        context.sink.report("env-unresolved", program.place(*path), message, help="write KEY=VALUE lines")
    return None


def _bundle_path(context: Context, asset: Asset) -> str:
    """The file relative to the root of the asked-for file's bundle (``../team/env/x.env`` in another one)."""
    home = context.home or context.bundle
    if home is None or not asset.bundle.name:
        return asset.path
    return os.path.relpath(asset.file, home.root).replace(os.sep, "/")
