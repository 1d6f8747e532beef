"""From the paths of a command line to the files that are checked.

A path that makes no sense is a problem of the call: it is said, the rest is checked, and the call ends with 2.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias, cast

from msgspec import Struct

from akm_schemas.contained_paths import path_fault
from akmc.faults import CommandFault
from akmc.session.store import FileStore
from akmc_passes.bundle import (
    CHECKED_FAMILIES,
    FAMILIES,
    NAMED_FAMILIES,
    Bundle,
    Located,
    classify,
    dot_folder,
    find_bundle,
    is_no_asset,
    iter_assets,
)
from akmc_passes.contract import Asset
from akmc_passes.paths import absolute

Family: TypeAlias = Literal["workflows", "tasks", "commands"]

_TYPE_WORKFLOW = r"""type:[ \t]+(["']?)workflow\1[ \t]*(#.*)?"""
_SUPERSEDED = r"""# Workflow:|version:[ \t]*["']?[12]["']?[ \t]*(#.*)?$"""
_OUTSIDE = ', or a Markdown file with "type: workflow" in its frontmatter'
_PROBE_BYTES = 64 * 1024  # enough of a file to see its frontmatter's type, or that it is a plan


class Target(Struct, frozen=True, dict=True):
    """One file to check. ``ref`` is empty for a workflow outside every family folder; ``inside`` is the path relative to
    the bundle's root, with forward slashes (the file's name where it lies elsewhere)."""

    path: Path
    family: Family
    ref: str
    bundle: Bundle
    inside: str
    recognised: bool = True

    @cached_property
    def asset(self) -> Asset:
        """The target as an asset of its bundle."""
        return Asset(self.ref, self.family, self.inside, absolute(self.path), self.bundle)


class Unreachable(Struct, frozen=True):
    """A file or folder that is there and cannot be read; ``reason`` is the system's own words."""

    path: Path
    reason: str


class Problem(Struct, frozen=True):
    """A path that makes no sense; ``fatal`` unless it is only left out with a word."""

    message: str
    fatal: bool = True


class Targets(Struct, frozen=True):
    """What to check, sorted by path as shown, and what was wrong with the call."""

    targets: tuple[Target, ...]
    unreachable: tuple[Unreachable, ...] = ()
    problems: tuple[Problem, ...] = ()


def not_there(text: str, what: str) -> str:
    """That there is no ``what`` at a path, and which name beside it was probably meant."""
    from akm_schemas.spelling import nearest

    path = Path(text)
    try:
        found = nearest(path.name, (entry.name for entry in path.parent.iterdir()))
    except (OSError, ValueError):  # no folder either, or a NUL character
        found = None
    meant = "" if found is None else f' (did you mean "{path.parent / found}"?)'
    return f'there is no {what} "{text}"{meant}'


def bundle_root(directory: Path) -> Path | None:
    """The root of the bundle that ``directory`` is or lies in."""
    found = find_bundle(directory)
    return None if found is None else found.root


def bundle_option(directory: Path | None) -> Bundle | None:
    """The bundle that ``--bundle`` names."""
    if directory is None:
        return None
    if not directory.is_dir():
        raise CommandFault(f'--bundle: "{directory}" is no directory', help="name the folder that holds workflows/")
    return Bundle(absolute(directory))


class Collector:
    """Collects targets path by path; each file once, under the first name it was given.

    ``wanted`` are the families that the command takes, for its messages.
    """

    def __init__(self, store: FileStore, bundle: Bundle | None, wanted: tuple[str, ...] = NAMED_FAMILIES) -> None:
        self.store = store
        self.bundle = bundle
        self.wanted = wanted
        self.targets: dict[Path, Target] = {}
        self.unreachable: dict[Path, Unreachable] = {}
        self.problems: list[Problem] = []

    def collect(self, paths: Sequence[str]) -> Targets:
        """The targets of ``paths``; of the bundle around the working directory when there are none."""
        if paths:
            for text in paths:
                self._path(text)
        else:
            self._default()
        return self.result()

    def result(self) -> Targets:
        """What has been collected so far."""
        ordered = sorted(self.targets.values(), key=lambda target: self.store.name(target.path))
        return Targets(tuple(ordered), tuple(self.unreachable.values()), tuple(self.problems))

    def text(self, filename: str) -> Target | None:
        """The target of a text that has no file (yet), such as standard input."""
        self.store.announce(Path(filename), filename)
        located = classify(Path(filename), self.bundle)
        if located is not None and located.family in NAMED_FAMILIES:
            return self._add(located)
        if Path(filename).suffix == ".md" and _says_workflow(self.store.read(Path(filename)).raw):
            return self._outside(Path(filename))
        self.problems.append(self._homeless(filename))
        return None

    def _default(self) -> None:
        here = self.store.working_directory
        bundle = self.bundle or find_bundle(here)
        if bundle is not None:
            name = "" if self.bundle is None else os.path.relpath(bundle.root, here)
            self._assets(bundle, None, name, here if self.bundle is None else bundle.root)
        elif not self._nested(here, ""):
            nothing = ": no workflows/ or tasks/ folder in or above the working directory (akmc new NAME begins one)"
            self.problems.append(Problem(f"there is no bundle here{_dotted(here) or nothing}"))

    def _path(self, text: str) -> None:
        path = Path(text)
        if not text:  # Path("") is the working directory
            self.problems.append(Problem('a path is empty: ""'))
        elif path.is_dir():
            self._directory(text, path)
        elif not os.path.lexists(path):
            self.problems.append(Problem(not_there(text, "file or folder")))
        else:
            self._file(text, path)

    def _file(self, text: str, path: Path) -> None:
        self.store.announce(path, text)
        located = classify(path, self.bundle)
        if located is not None and located.family == "commands" and _says_workflow(_head(path)):
            self._outside(path)
        elif located is not None and located.family in NAMED_FAMILIES:
            self._add(located)
        elif located is not None:
            what = f'"{text}" is read where a workflow uses it; expected one of {self._kinds()}'
            self.problems.append(Problem(what, fatal=False))
        elif is_no_asset(path.name):
            self.problems.append(Problem(f'"{text}" is no asset: it is there for readers, and left out', fatal=False))
        elif path.suffix == ".md" and _says_workflow(_head(path)):
            self._outside(path)
        else:
            self.problems.append(self._homeless(text))

    def _homeless(self, text: str) -> Problem:
        where = " of that bundle" if self.bundle is not None else ""
        path = Path(text)
        if _is_plan(path):
            return Problem(f'"{text}" is a compiled plan, no source: see akmc verify, akmc show and akm-run')
        folder = absolute(path).parent
        hidden = (
            _dotted(folder)
            if self.bundle is None and any(part.name in FAMILIES for part in (folder, *folder.parents))
            else ""
        )
        if _is_superseded(path):
            way_out = f"; it looks like a superseded workflow: akmc migrate {text}"
        else:
            way_out = _OUTSIDE if path.suffix == ".md" else ""
        expected = hidden or f"; expected one of {self._kinds()}{way_out}"
        return Problem(f'"{text}" belongs to no family folder{where}{expected}')

    def _kinds(self) -> str:
        """The files that the command takes."""
        return ", ".join(f"{family}/*{ending}" for family in self.wanted for ending in FAMILIES[family])

    def _outside(self, path: Path) -> Target | None:
        """A workflow by its own word, outside the family folders: its bundle is ``--bundle``, else the current one."""
        bundle = self.bundle or Bundle(absolute(self.store.working_directory))
        inside = bundle.relative(path) or path.name
        if self._cannot_be_named(path, inside):
            return None
        return self.targets.setdefault(self.store.key(path), Target(path, "workflows", "", bundle, inside))

    def _add(self, located: Located) -> Target | None:
        if self._cannot_be_named(located.file, located.path):
            return None
        family = cast(Family, located.family)
        target = Target(located.file, family, located.ref, located.bundle, located.path, located.recognised)
        return self.targets.setdefault(self.store.key(located.file), target)

    def _cannot_be_named(self, path: Path, inside: str) -> bool:
        """Whether the path within the bundle is none that a plan can carry to every system; it is said then."""
        fault = path_fault(inside, found=True)
        if fault is not None:
            message = f'"{self.store.name(path)}" cannot be named in a plan: its path {fault} (rename it)'
            self.problems.append(Problem(message))
        return fault is not None

    def _directory(self, text: str, path: Path) -> None:
        folder = absolute(path)
        bundle = self.bundle or find_bundle(path)
        inside = bundle is not None and folder != bundle.root and folder.is_relative_to(bundle.root)
        if bundle is not None and folder == bundle.root:
            self._assets(bundle, None, text, folder)
        elif bundle is not None and inside and folder.relative_to(bundle.root).parts[0] in FAMILIES:
            self._assets(bundle, folder, text, folder)
            if folder.relative_to(bundle.root).parts[0] not in NAMED_FAMILIES:
                what = f'files in "{text}" are read where a workflow uses them; expected one of {self._kinds()}'
                self.problems.append(Problem(what, fatal=False))
        elif not self._nested(folder, text):
            message = f'"{text}" is no bundle, holds none, and belongs to no family folder{_dotted(folder)}'
            self.problems.append(Problem(message))

    def _nested(self, folder: Path, name: str) -> bool:
        """The bundles below a folder that is none itself; whether there is any."""
        found = False
        for where, folders, _ in () if folder.name.startswith(".") else os.walk(folder):
            folders[:] = sorted(sub for sub in folders if not sub.startswith("."))
            if any(family in folders for family in CHECKED_FAMILIES):
                found = True
                self._assets(Bundle(Path(where)), None, name, folder)
                folders[:] = [sub for sub in folders if sub not in FAMILIES]
        return found

    def _assets(self, bundle: Bundle, under: Path | None, name: str, folder: Path) -> None:
        """Add a bundle's assets, shown below ``name``, which is how a person called ``folder``."""
        head = os.path.join(os.path.abspath(folder), "")  # noqa: PTH100, PTH118 (resolve() would follow links)
        for located in iter_assets(bundle, under):
            file = str(located.file)
            relative = file[len(head) :] if file.startswith(head) else os.path.relpath(file, folder)
            shown = os.path.normpath(os.path.join(name, relative))  # noqa: PTH118 (for each file of a bundle)
            self.store.announce(located.file, shown.replace(os.sep, "/"))
            self._add(located)
        for start in [under] if under is not None else [bundle.root / family for family in CHECKED_FAMILIES]:
            for unreachable in _closed_folders(start):
                self.unreachable.setdefault(self.store.key(unreachable.path), unreachable)
            for link in [under] if under is not None and under.is_symlink() else _linked_folders(start):
                message = f'"{self.store.name(link)}" is a link to a folder, and left out: name the files in it'
                self.problems.append(Problem(message, fatal=False))


def _closed_folders(start: Path) -> Iterator[Unreachable]:
    """Folders below ``start`` that may not be listed: what is in them is not checked, and that must be said."""
    errors: list[OSError] = []
    for _, folders, _ in os.walk(start, onerror=errors.append):
        folders[:] = [sub for sub in folders if not sub.startswith(".")]
    for error in errors:
        if not isinstance(error, FileNotFoundError):
            yield Unreachable(Path(os.fsdecode(error.filename)), error.strerror or str(error))


def _linked_folders(start: Path) -> Iterator[Path]:
    """Links to folders below ``start``: nothing follows them, for they may lead out of the bundle or in a circle."""
    for where, folders, _ in os.walk(start):
        folders[:] = sorted(sub for sub in folders if not sub.startswith("."))
        yield from (link for link in (Path(where, sub) for sub in folders) if link.is_symlink())


def _dotted(folder: Path) -> str:
    """The end of a message about a folder that a dot keeps from being searched; empty where none does."""
    name = dot_folder(folder)
    return "" if name is None else f': the name of "{name}" begins with a dot, so only --bundle can name a bundle there'


def _is_superseded(path: Path) -> bool:
    """Whether a file outside every family folder looks like one of the formats that ``akmc migrate`` takes."""
    if path.suffix not in (".md", ".yml", ".yaml"):
        return False
    return any(re.match(_SUPERSEDED, line) for line in _head(path).decode("utf-8", "replace").splitlines())


def _is_plan(path: Path) -> bool:
    """Whether a file outside every family folder looks like what ``akmc compile`` writes."""
    head = _head(path)
    return head.lstrip().startswith(b"{") and b'"irVersion"' in head


def _head(path: Path) -> bytes:
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            return file.read(_PROBE_BYTES)
    except OSError:
        return b""


def _says_workflow(raw: bytes) -> bool:
    """Whether the frontmatter says ``type: workflow``."""
    lines = raw[:_PROBE_BYTES].decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    return bool(lines) and lines[0] == "---" and _type_line(lines[1:])


def _type_line(lines: Iterable[str]) -> bool:
    for line in lines:
        if line.rstrip(" \t") == "---":
            return False
        if re.fullmatch(_TYPE_WORKFLOW, line.rstrip()):
            return True
    return False
