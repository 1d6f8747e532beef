"""Bundles: families, refs and the files behind them (spec 1, section 1).

A bundle is a directory with family folders. Nothing here reads a file; what is asked of the file system is whether a
path is there and where its links lead.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from akmc_passes.interpreters import INTERPRETERS
from akmc_passes.paths import absolute
from akmc_passes.words import quoted

FAMILIES: Final = MappingProxyType(
    {
        "workflows": (".md", ".yml"),
        "tasks": (".yml",),
        "commands": (".md",),
        "scripts": tuple(INTERPRETERS),
        "env": (".env",),
    }
)
"""Family to the extensions that it admits, the preferred one first."""

CHECKED_FAMILIES: Final = ("workflows", "tasks")
NAMED_FAMILIES: Final = (*CHECKED_FAMILIES, "commands")
"""Families that can be checked by name; a command is otherwise read where a workflow uses it."""
UNRECOGNISED_EXTENSION: Final = ".yaml"
NO_ASSET: Final = "README.md"


class Bundle(Struct, frozen=True):
    """A directory with family folders. ``root`` is absolute; ``name`` is its name in the config, empty for one's own."""

    root: FilePath
    name: str = ""

    def relative(self, file: FilePath) -> str | None:
        """``file`` relative to the root, with forward slashes, links not followed; ``None`` outside the bundle."""
        # Texts, not paths: a check of many files asks a dozen times for each.
        named, root = os.path.abspath(file), str(self.root)  # noqa: PTH100 (resolve() would follow links)
        head = root if root.endswith(os.sep) else root + os.sep
        if os.path.normcase(named).startswith(os.path.normcase(head)):
            return named[len(head) :].replace(os.sep, "/")
        return "." if os.path.normcase(named) == os.path.normcase(root) else None

    def contains(self, file: FilePath) -> bool:
        """Whether ``file`` lies in the bundle once every link is followed."""
        return FilePath(os.path.realpath(file)).is_relative_to(os.path.realpath(self.root))


class Located(Struct, frozen=True):
    """A file's place in a bundle. ``path`` is relative to the bundle's root, with forward slashes; ``recognised`` is
    false for an extension that no family admits: ``.yaml``, or one in another case."""

    bundle: Bundle
    family: str
    ref: str
    path: str
    file: FilePath
    recognised: bool = True


class Found(Struct, frozen=True):
    """The file that a name of a family stands for. ``shadowed`` is another file that answers to the same ref."""

    file: FilePath
    path: str
    shadowed: str | None = None


class NotFound(Struct, frozen=True):
    """Why a name stands for no file; ``tried`` are the bundle-relative paths that were looked for, or the one at fault."""

    reason: Literal["missing", "escapes", "a directory", "no regular file"]
    tried: tuple[str, ...]

    @property
    def says(self) -> str:
        """The reason as the rest of a message, but for one that escapes."""
        paths = " nor ".join(quoted(path) for path in self.tried)
        return f"there is no {paths}" if self.reason == "missing" else f"{paths} is {self.reason}"

    @property
    def remedy(self) -> str:
        """What to do where no other name is meant."""
        what = f"create {self.tried[0]}" if self.reason == "missing" else f"put a file in the place of {self.tried[0]}"
        return f"{what}, or mend the ref"


def find_asset(bundle: Bundle, family: str, name: str) -> Found | NotFound:
    """The file behind ``family/name`` in ``bundle``."""
    endings = ("",) if family == "scripts" else FAMILIES[family]
    tried = tuple(f"{family}/{name}{ending}" for ending in endings)
    for path in tried:
        if os.path.lexists(file := bundle.root / path) and not bundle.contains(file):
            return NotFound("escapes", (path,))
    assets = [path for path in tried if not path.endswith(f"/{NO_ASSET}")]
    there = [path for path in assets if (bundle.root / path).is_file()]
    if there:
        return Found(bundle.root / there[0], there[0], there[1] if len(there) > 1 else None)
    for path in assets:
        if (bundle.root / path).exists():
            return NotFound("a directory" if (bundle.root / path).is_dir() else "no regular file", (path,))
    return NotFound("missing", tried)


def similar_names(bundle: Bundle, family: str) -> list[str]:
    """The refs of a family's assets, sorted, for suggestions."""
    return sorted(
        {asset.ref for asset in _walk(bundle.root / family, family) if asset.recognised and asset.file.is_file()}
    )


def classify(file: FilePath, bundle: Bundle | None = None) -> Located | None:
    """The bundle, family and ref of ``file``; ``None`` when it belongs to no family folder.

    With ``bundle`` (``--bundle``) the family is the first folder below its root. Without, it is the nearest ancestor
    with a family's name that admits the extension, and no folder from the bundle down may begin with a dot.
    """
    named = absolute(file)
    if is_no_asset(named.name):
        return None
    if bundle is not None:
        parts = named.relative_to(bundle.root).parts if named.is_relative_to(bundle.root) else ()
        return _located(bundle, parts, named) if len(parts) > 1 and _admits(parts[0], named.suffix) else None
    home = _home(named.parent, named.suffix)
    return None if home is None else _located(home, named.relative_to(home.root).parts, named)


def _home(folder: FilePath, suffix: str) -> Bundle | None:
    """The bundle of a file with this suffix in ``folder`` by its nearest ancestor with an admitting family's name."""
    for above in (folder, *folder.parents):
        if above.name.startswith("."):
            return None
        if _admits(above.name, suffix):
            return None if above.parent.name.startswith(".") else Bundle(above.parent)
    return None


def dot_folder(folder: FilePath) -> str | None:
    """The name that keeps ``folder`` from being, or from lying in, a bundle because it begins with a dot, if any: its
    own, or that of the folder around the family folder that it lies in."""
    below: FilePath | None = None
    for above in (folder, *folder.parents):
        if above.name.startswith("."):
            return above.name if below is None or below.name in FAMILIES else None
        below = above
    return None


def find_bundle(directory: FilePath) -> Bundle | None:
    """The bundle that ``directory`` is, or lies in: itself, the parent of the family folder above it, or the nearest
    ancestor with a ``workflows`` or ``tasks`` folder, at most up to the root of the git checkout."""
    start = absolute(directory)
    if any((start / family).is_dir() for family in FAMILIES) and not start.name.startswith("."):
        return Bundle(start)
    for folder in (start, *start.parents):
        if folder.name.startswith("."):
            return None
        if folder.name in FAMILIES and not folder.parent.name.startswith("."):
            return Bundle(folder.parent)
        if any((folder / family).is_dir() for family in CHECKED_FAMILIES):
            return Bundle(folder)
        if (folder / ".git").exists():
            return None
    return None


def iter_assets(bundle: Bundle, under: FilePath | None = None) -> Iterator[Located]:
    """Every workflow and task of ``bundle``, sorted by path, ``.yaml`` (``.MD``) files included so that none is skipped silently.

    ``under`` narrows the search to one folder; commands are found where it is theirs. Folders that begin with a dot
    and linked folders are not entered.
    """
    limit = None if under is None else absolute(under)
    names_commands = limit is not None and limit.is_relative_to(bundle.root / "commands")
    for family in NAMED_FAMILIES if names_commands else CHECKED_FAMILIES:
        for located in _walk(bundle.root / family, family):
            if limit is None or located.file.is_relative_to(limit):
                yield located


def _walk(folder: FilePath, family: str) -> Iterator[Located]:
    """The assets of ``family`` below ``folder``; files that a nearer family folder claims keep that family."""
    if not folder.is_dir():
        return
    bundle = Bundle(folder.parent)
    for where, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        here = absolute(FilePath(where))
        homes: dict[str, Bundle | None] = {}  # a folder of thousands is asked about once per suffix
        inside: dict[FilePath, tuple[str, ...]] = {}
        for name in sorted(files):
            file = here / name
            suffix = file.suffix
            if suffix not in homes:
                homes[suffix] = _home(here, suffix)
            no_asset = is_no_asset(name)
            home = None if no_asset or name.startswith(".") else homes[suffix]
            if home is None and not no_asset and _admits(family, suffix):
                home = bundle
            if home is None:
                continue
            if home.root not in inside:
                inside[home.root] = here.relative_to(home.root).parts
            located = _located(home, (*inside[home.root], name), file)
            if located.family == family or located.family in CHECKED_FAMILIES:
                yield located


def is_no_asset(name: str) -> bool:
    """Whether a file of this name is there for readers, in whatever case its extension is written."""
    return name.startswith("README.") and f"README.{name[7:].lower()}" == NO_ASSET


def admitted_extension(family: str, suffix: str) -> str | None:
    """The extension to write instead of ``suffix``, which may be right already; ``None`` where the family has none."""
    lower = suffix.lower()
    if lower == UNRECOGNISED_EXTENSION and family in CHECKED_FAMILIES:
        return ".yml"
    return lower if lower in FAMILIES.get(family, ()) else None


def _admits(family: str, suffix: str) -> bool:
    """Whether files with this suffix are the family's, or would be under another extension and must be reported."""
    if family in CHECKED_FAMILIES:
        return admitted_extension(family, suffix) is not None
    return suffix in FAMILIES.get(family, ())


def _located(bundle: Bundle, parts: tuple[str, ...], file: FilePath) -> Located:
    name = "/".join(parts)
    ref = name if parts[0] == "scripts" else name.removesuffix(file.suffix)
    return Located(bundle, parts[0], ref, name, file, recognised=file.suffix in FAMILIES[parts[0]])
