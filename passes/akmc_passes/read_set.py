"""The read set: every file that enters a program, read once and hashed."""

from __future__ import annotations

from pathlib import Path as FilePath

from akm_schemas.plan import SourceFile
from akmc_grammar.source import SourceText
from akmc_passes.contract import Asset, Context, Program

_ENDINGS = {"markdown": ".md", "github-yaml": ".yml"}


def key_of(bundle_name: str, path: str) -> str:
    """The read-set key of a bundle-relative path."""
    return f"{bundle_name}//{path}" if bundle_name else path


def read_asset(context: Context, asset: Asset) -> SourceText:
    """The text of an asset, entered in the read set; raises ``OSError`` when it cannot be read."""
    source = context.store.read(asset.file)
    enter(context, SourceFile(ref=asset.ref, path=asset.path, sha256=source.sha256, size=len(source.raw)), asset)
    return source


def enter(context: Context, entry: SourceFile, asset: Asset) -> None:
    """Add an asset's file to the read set."""
    key = key_of(asset.bundle.name, asset.path)
    context.read_set[key] = entry
    context.origins[key] = asset.file


def enter_own_source(program: Program, context: Context) -> None:
    """Add the program's own source; its path comes from its ref, outside a family folder from the file's name."""
    document = program.document
    source, path = document.source, _own_path(program, context)
    name = context.bundle.name if context.bundle is not None else ""
    key = key_of(name, path)
    context.read_set[key] = SourceFile(ref=document.ref, path=path, sha256=source.sha256, size=len(source.raw))
    context.origins[key] = own_file(program, context)


def own_file(program: Program, context: Context) -> FilePath:
    """Where the program's own source lies."""
    document = program.document
    named = context.bundle is not None and document.ref
    return (
        context.bundle.root / _own_path(program, context)
        if named and context.bundle
        else FilePath(document.source.name)
    )


def _own_path(program: Program, context: Context) -> str:
    document = program.document
    if document.ref and document.ir is not None:
        return document.ref.rpartition("//")[2] + _ENDINGS[document.ir.source_format]
    shown = FilePath(document.source.name)
    return (context.bundle.relative(shown) if context.bundle is not None else None) or shown.name


def sorted_read_set(context: Context) -> list[SourceFile]:
    """The read set as a plan carries it: by ref, then path."""
    return sorted(context.read_set.values(), key=lambda entry: (entry.ref, entry.path))
