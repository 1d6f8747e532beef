"""Files that were checked before and found clean: ``.akm/cache``, safe to delete at any time.

Only a verdict that follows from what its key names is remembered: that of a Markdown workflow that refers to no other
file, has no finding at all (then no rule selection can change it), and whose config could be read. The key is a hash of
its bytes, its ref and path, the merged config, the freeze flag; the name of the cache file holds a fingerprint of this
program, of its parsers and of Python. So an entry is never wrong, at worst it is of no use any more.

A cache file is a row of digests. It is replaced whole, so that a reader sees an old row or a new one; of two checkers
that write at the same time one may lose what it found out, which costs a check and nothing else. A file or folder
that others may write to is not read: what it says would be theirs to decide.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Final

from msgspec import UNSET

from akmc_passes.contract import Asset, Program
from akmc_passes.ir_walk import env_refs, unit_of

CAPACITY: Final = 100_000
"""Digests in one cache file."""
FOLDER: Final = (".akm", "cache")
_PREFIX: Final = "check-"
_DIGEST_BYTES: Final = 32
_STALE_SECONDS: Final = 7 * 24 * 3600
_PACKAGES: Final = ("akmc", "akmc_passes", "akmc_grammar", "akm_schemas")
_PARSERS: Final = ("ruamel.yaml", "_ruamel_yaml", "msgspec")


class Verdicts:
    """The clean verdicts of one tool in one folder. ``root`` is the folder that ``.akm`` lies in."""

    def __init__(self, root: Path, stamp: str) -> None:
        self.folder = root.joinpath(*FOLDER)
        self.file = self.folder / f"{_PREFIX}{stamp}"
        self._root = root
        self._known = self._read()
        self._new: dict[bytes, None] = {}

    def knows(self, key: bytes) -> bool:
        """Whether the verdict with this key is "clean"."""
        return key in self._known or key in self._new

    @property
    def is_empty(self) -> bool:
        """Whether no verdict is known at all."""
        return not self._known and not self._new

    def add(self, keys: Iterable[bytes]) -> None:
        """Remember clean verdicts."""
        self._new.update(dict.fromkeys(keys))

    def save(self) -> None:
        """Write what is new; a folder that cannot be written is no reason to fail."""
        if not self._new or not _is_ours(self._root):
            return
        try:
            self._write()
        except OSError:
            return

    def _write(self) -> None:
        if not self.folder.is_dir():
            self.folder.mkdir(parents=True, exist_ok=True)
            (self.folder / ".gitignore").write_text("*\n", encoding="utf-8")
        others = [key for key in self._read() if key not in self._new]  # another checker may have written meanwhile
        digests = [*self._new, *others][:CAPACITY]
        descriptor, name = tempfile.mkstemp(prefix=".check-", suffix=".tmp", dir=self.folder)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(b"".join(digests))
            Path(name).replace(self.file)
        except BaseException:  # an interruption included: no half of a file stays
            Path(name).unlink(missing_ok=True)
            raise
        self._sweep()

    def _sweep(self) -> None:
        """Remove what tools of other versions, or interrupted ones, left a week ago."""
        oldest = time.time() - _STALE_SECONDS
        for path in (*self.folder.glob(f"{_PREFIX}*"), *self.folder.glob(".check-*.tmp")):
            if path != self.file and path.stat().st_mtime < oldest:
                path.unlink(missing_ok=True)

    def _read(self) -> dict[bytes, None]:
        """The digests of the file in their order, none when it is not there or not ours."""
        if not all(_is_ours(folder) for folder in (self._root, self.folder.parent, self.folder)):
            return {}
        flags = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
        try:
            descriptor = os.open(self.file, flags)
            with os.fdopen(descriptor, "rb") as file:
                if not _is_private(os.fstat(descriptor)):
                    return {}
                row = file.read(CAPACITY * _DIGEST_BYTES) or b""  # None where a pipe would have to be waited for
        except OSError:
            return {}
        whole = len(row) - len(row) % _DIGEST_BYTES
        return dict.fromkeys(row[at : at + _DIGEST_BYTES] for at in range(0, whole, _DIGEST_BYTES))


def open_verdicts(start: Path) -> Verdicts:
    """The verdicts of the scope of ``start``: the nearest folder with ``.akm``, else with ``.git``, else itself."""
    ancestry = (start, *start.parents)
    akm, git = ((folder for folder in ancestry if (folder / name).exists()) for name in (FOLDER[0], ".git"))
    return Verdicts(next(akm, None) or next(git, start), fingerprint())


def key_of(asset: Asset, raw_sha256: str, config_sha256: str, *, freeze: bool) -> bytes:
    """The digest of everything that the verdict on a workflow that stands alone depends on, the tool aside."""
    parts = (asset.family, asset.ref, asset.path, raw_sha256, config_sha256, str(freeze))
    return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).digest()


def stands_alone(program: Program) -> bool:
    """Whether the verdict on a workflow follows from its own bytes: nothing in it names a file or a folder."""
    ir = program.document.ir
    if ir is None or ir.source_format != "markdown" or next(env_refs(ir), None) is not None:
        return False
    units = [unit_of(step) for step in ir.steps]
    return all(unit.uses is UNSET and (unit.exec is UNSET or not isinstance(unit.exec.cwd, str)) for unit in units)


def fingerprint() -> str:
    """Which program this is: its files by size and time, those of its parsers, and the Python that runs them."""
    from importlib.util import find_spec

    found = [sys.version, sys.platform]
    for name in (*_PACKAGES, *_PARSERS):
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            continue
        folder = os.path.dirname(spec.origin)  # noqa: PTH120 (hundreds of paths: text is faster)
        paths = _sources(folder) if name in _PACKAGES else [spec.origin]
        found += [f"{path} {status.st_size} {status.st_mtime_ns}" for path in paths for status in (os.stat(path),)]  # noqa: PTH116
    return sha256("\0".join(found).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _sources(folder: str) -> Iterator[str]:
    """The files below a package's folder, byte code aside, in a fixed order."""
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        yield from (os.path.join(where, name) for name in sorted(names))  # noqa: PTH118


def _is_ours(folder: Path) -> bool:
    """Whether only this user (and their group) can put files into ``folder``; one that is not there is harmless."""
    try:
        return _is_private(folder.stat())
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _is_private(status: os.stat_result) -> bool:
    """Not another user's, and not open to all. Windows has no such bits: there it is taken on trust."""
    if not hasattr(os, "getuid"):
        return True
    return status.st_uid == os.getuid() and not status.st_mode & stat.S_IWOTH
