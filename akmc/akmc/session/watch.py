"""What a watch looks at: the files whose change can change a finding, told apart by size and time.

Polling needs nothing of the operating system and works on every file system, network mounts included.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from akmc.session.targets import Targets
from akmc_passes.bundle import FAMILIES, find_bundle
from akmc_passes.config import FILE, FOLDER, MODELS, user_folder
from akmc_passes.paths import absolute

# Size, modification and inode change time in ns, inode, mode: a rewrite within one tick of a clock still changes one.
Stamp: TypeAlias = tuple[int, int, int, int, int]
Snapshot: TypeAlias = Mapping[Path, Stamp]


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between two snapshots. ``rewritten`` files are there in both; ``moved`` is whether any file came,
    went or is a config: then what was resolved before may resolve to something else."""

    rewritten: tuple[Path, ...]
    moved: bool

    def __bool__(self) -> bool:
        return bool(self.rewritten) or self.moved


@dataclass(frozen=True, slots=True)
class Scope:
    """The folders that are walked and the single files, configs among them, that are looked at."""

    folders: tuple[Path, ...]
    files: tuple[Path, ...]
    configs: frozenset[Path]

    def snapshot(self) -> dict[Path, Stamp]:
        """The stamps of all files that are there now, by absolute path."""
        found: dict[Path, Stamp] = {}
        for path in (*self.files, *self.configs, *_below(self.folders)):
            stamp = _stamp(path)
            if stamp is not None:
                found[path] = stamp
        return found

    def changes(self, before: Snapshot, after: Snapshot) -> Changes:
        """What differs."""
        differing = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        rewritten = {path for path in differing if path in before and path in after and _same_kind(path, before, after)}
        moved = rewritten != differing or bool(differing & self.configs)
        return Changes(tuple(sorted(rewritten - self.configs)), moved)


def scope_of(targets: Targets, bundles: Iterable[Path], config_file: Path | None) -> Scope:
    """Everything that the findings of ``targets`` depend on: their bundles and the configured ones (``bundles``), the
    targets themselves, and each place where a config may be."""
    roots = {target.bundle.root for target in targets.targets} | {absolute(bundle) for bundle in bundles}
    here = find_bundle(Path.cwd())
    if here is not None:
        roots.add(here.root)
    folders = sorted({root / family for root in roots for family in FAMILIES})
    files = sorted({absolute(target.path) for target in targets.targets})
    user = user_folder(os.environ)
    configs = {user / FILE, user / MODELS}
    if config_file is not None:
        configs.add(absolute(config_file))
    for folder in {path.parent for path in files}:
        configs.update(parent / FOLDER / name for parent in (folder, *folder.parents) for name in (FILE, MODELS))
    return Scope(tuple(folders), tuple(files), frozenset(configs))


def _below(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        for where, inside, names in os.walk(folder):
            inside[:] = [name for name in inside if not name.startswith(".")]
            yield from (Path(where, name) for name in names if not name.startswith("."))


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:  # gone, or a link that leads nowhere: both are "not there"
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_mode


def _same_kind(path: Path, before: Snapshot, after: Snapshot) -> bool:
    """Whether the file can be read as before: its mode is the same."""
    return before[path][-1] == after[path][-1]
