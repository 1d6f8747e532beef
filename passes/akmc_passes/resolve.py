"""Asset refs to files.

Before: refs are text. After: ``program.assets`` holds the file of each ``uses``, of the ``ref`` of an ``akm/command``
and of each env ref that names one; ``context.read_set`` holds the program's own source. No file has been read.

Refs are always checked, config or not. A missing env file is left to ``environment``. ``xrefs`` are for readers and
are not resolved.
"""

from __future__ import annotations

from msgspec import UNSET
from msgspec.structs import replace

from akmc_grammar.places import Path, Place
from akmc_grammar.reference_grammar import AssetRef, parse_asset_ref
from akmc_grammar.suggest import did_you_mean, listed
from akmc_passes.bundle import UNRECOGNISED_EXTENSION, Bundle, NotFound, find_asset, similar_names
from akmc_passes.contract import Asset, Context, Program
from akmc_passes.ir_walk import env_refs, unit_of
from akmc_passes.read_set import enter_own_source
from akmc_passes.words import quoted

NAME: str = "resolve"
AFTER: tuple[str, ...] = ()
EMITS: tuple[str, ...] = ("unresolved-ref", "ref-escapes-bundle", "ambiguous-ref")

BUILTIN_COMMAND = "akm/command"


def run(program: Program, context: Context) -> Program:
    """Resolve every ref of the program."""
    enter_own_source(program, context)
    ir = program.document.ir
    if ir is None or context.bundle is None:
        return program
    assets: dict[Path, Asset] = {}
    for path, text in _refs(program):
        if program.document.is_poisoned(path):
            continue
        asset = resolve_ref(context, program.place(*path), text)
        if asset is not None:
            assets[path] = asset
    _report_shadowed(program, context, context.bundle)
    return replace(program, assets=assets)


def _refs(program: Program) -> list[tuple[Path, str]]:
    """Every ref with its path."""
    ir = program.document.ir
    assert ir is not None
    found: list[tuple[Path, str]] = [(at.path, at.text) for at in env_refs(ir)]
    for index, step in enumerate(ir.steps):
        uses = unit_of(step).uses
        if uses is UNSET:
            continue
        if uses.ref != BUILTIN_COMMAND:
            found.append((("steps", index, "unit", "uses"), uses.ref))
        elif uses.with_ is not UNSET and isinstance(ref := uses.with_.get("ref"), str):
            found.append((("steps", index, "unit", "uses", "with", "ref"), ref))
    return found


def resolve_ref(context: Context, place: Place, text: str) -> Asset | None:
    """The file of the ref at ``place``; ``None`` when it was reported, or is an env ref whose file is missing."""
    path = place.path
    parsed = parse_asset_ref(text)
    if parsed is None:
        if ".." in text.split("/"):
            message = f"the ref {quoted(text)} leaves its bundle through .."
            help = 'name the file from its family folder on; another bundle is named first: "team//env/x"'
            context.sink.report("ref-escapes-bundle", place, message, help=help)
        elif not _is_env(path):
            help = "write [bundle//]family/name, family one of commands, env, scripts, tasks, workflows"
            context.sink.report("unresolved-ref", place, f"{quoted(text)} is no asset ref", help=help)
        return None
    bundle = bundle_of(context, parsed)
    if bundle is None:
        names = context.config.bundles if context.config is not None else ()
        message = f'no bundle is called "{parsed.bundle}"; configured: {listed(names)}'
        help = did_you_mean(parsed.bundle or "", names) or f'add "bundles": {{"{parsed.bundle}": PATH}} to the config'
        context.sink.report("unresolved-ref", place, message, help=help)
        return None
    found = find_asset(bundle, parsed.family, parsed.name)
    if isinstance(found, NotFound):
        sought = [bundle.root / path for path in found.tried]
        context.absent.update(path for path in sought if not context.store.exists(path))
        if found.reason == "escapes" or not _is_env(path):
            _report_not_found(context, place, parsed, bundle, found)
        return None
    if parsed.family == "workflows" and found.file.suffix == ".yml":
        context.absent.add(found.file.with_suffix(".md"))
    if found.shadowed is not None:
        message = f"{quoted(text)} names two files: {found.path} wins over {found.shadowed}"
        context.sink.report("ambiguous-ref", place, message, help="rename or remove one of them")
    # In a child of another bundle, a ref without a bundle means that one; for the root it needs its name.
    canonical = text if parsed.bundle is not None or not bundle.name else f"{bundle.name}//{text}"
    return Asset(canonical, parsed.family, found.path, found.file, bundle)


def bundle_of(context: Context, ref: AssetRef) -> Bundle | None:
    """The bundle of a ref: one's own, or the configured one of that name."""
    if ref.bundle is None:
        return context.bundle
    root = context.config.bundles.get(ref.bundle) if context.config is not None else None
    return None if root is None else Bundle(root, ref.bundle)


def _is_env(path: Path) -> bool:
    return len(path) > 2 and path[-2] == "env"


def _report_not_found(context: Context, place: Place, ref: AssetRef, bundle: Bundle, found: NotFound) -> None:
    if found.reason == "escapes":
        message = f"{quoted(ref.text)} leaves its bundle: {quoted(found.tried[0])} is a link to somewhere outside"
        context.sink.report("ref-escapes-bundle", place, message, help="copy the file into the bundle")
        return
    names = similar_names(bundle, ref.family)
    prefix = f"{ref.bundle}//" if ref.bundle is not None else ""
    help = did_you_mean(ref.text, [prefix + name for name in names]) or found.remedy
    unrecognised = f"{ref.family}/{ref.name}{UNRECOGNISED_EXTENSION}"
    if context.store.exists(bundle.root / unrecognised):
        help = f"rename {unrecognised}: the extension is never recognised, write .yml"
    message = f"{quoted(ref.text)} names no file: {found.says}"
    context.sink.report("unresolved-ref", place, message, help=help)


def _report_shadowed(program: Program, context: Context, bundle: Bundle) -> None:
    """A ``.yml`` workflow beside a ``.md`` one of the same ref is never reached by it."""
    document = program.document
    own = document.ref.rpartition("//")[2]
    if document.ir is None or document.ir.source_format != "github-yaml" or not own.startswith("workflows/"):
        return
    if context.store.exists(bundle.root / f"{own}.md"):
        message = f'"{own}" names two files: {own}.md wins over {own}.yml'
        context.sink.report("ambiguous-ref", program.place(), message, help="rename or remove one of them")
