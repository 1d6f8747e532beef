"""The assets of a git revision in a directory of their own.

Blobs are read with ``git cat-file``, not ``git archive``, which would leave out what ``export-ignore`` names. Neither
the index nor the working tree is touched. Only files that can enter a plan are written: the family folders, ``.akm``
folders, the named file, and what links among those lead to.

A few packed kilobytes can hold gigabytes. So sizes are asked for first; what is larger than any asset may be becomes an
empty file that is too large as well, with no disk behind it, and whoever uses it is told of its size.
"""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import dropwhile
from pathlib import Path
from typing import IO, Final

from msgspec import Struct

from akm_schemas.bounds import CONFIG_FILE_BYTES, MIB
from akmc.diff.revisions import Revision, ask_git, lacking
from akmc.faults import CommandFault
from akmc.reading_git import git_output

_ASSET: Final = re.compile(rb"(?:^|/)(?:workflows|tasks|commands|scripts|env|\.akm)(?:/|$)")
_FORBIDDEN: Final = re.compile(rb"(?:^|/)(?:\.\.|\.git)(?:/|$)")  # git refuses to check out such names, and so do we
_FILES: Final = (b"100644", b"100755")
_SYMLINK: Final = b"120000"

_LARGEST: Final = CONFIG_FILE_BYTES.high  # no asset may have more
_TOTAL: Final = 256 * MIB
_MANY: Final = 100_000
_NAMES: Final = 16 * MIB
_LISTED: Final = 5_000_000
_PATH_BYTES: Final = 4096
_HOPS: Final = 40  # no system follows more links on one path
_CHUNK: Final = 64 * 1024


class _Blob(Struct, frozen=True):
    path: str
    object_id: str
    is_link: bool


class _Room:
    """How many files of a revision, and how long names, are kept in mind."""

    def __init__(self, revision: Revision) -> None:
        self._revision = revision
        self._files = self._names = 0

    def take(self, path: bytes) -> None:
        """Keep one more; ``CommandFault`` when those are too many."""
        self._files += 1
        self._names += len(path)
        if self._files > _MANY:
            raise _too_much(self._revision, f"{_MANY} files")
        if self._names > _NAMES:
            raise _too_much(self._revision, f"{_NAMES // MIB} MiB of names")


def write_view(revision: Revision, folder: Path) -> Path:
    """Write the revision's assets below ``folder``; the path of the named file there.

    Raises:
        CommandFault: when git or the file system fails, or the revision holds too much.
    """
    try:
        blobs = _needed(revision)
        sizes = _sizes(blobs, revision.label)
        if sum(size for size in sizes if size <= _LARGEST) > _TOTAL:
            raise _too_much(revision, f"{_TOTAL // MIB} MiB")
        small = [(blob, size) for blob, size in zip(blobs, sizes, strict=True) if size <= _LARGEST]
        for blob in (blob for blob, size in zip(blobs, sizes, strict=True) if size > _LARGEST):
            with _made(folder / blob.path).open("wb") as file:
                file.truncate(_LARGEST + 1)
        for (blob, _), data in zip(small, _contents(small, revision.label), strict=True):
            if blob.is_link:
                _made(folder / blob.path).symlink_to(os.fsdecode(data))
            else:
                _made(folder / blob.path).write_bytes(data)
    except (OSError, ValueError) as error:  # a link with a NUL byte is a ValueError
        said = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise CommandFault(f'cannot lay out "{revision.label}": {said}') from error
    return folder / revision.path


def _made(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _too_much(revision: Revision, what: str) -> CommandFault:
    message = f'"{revision.label}" cannot be laid out: its folders of assets hold more than {what}'
    return CommandFault(message, help="compile both sides and compare their plans: akmc diff OLD.json NEW.json")


def _needed(revision: Revision) -> list[_Blob]:
    """The blobs to write, links last: nothing is ever written through one."""
    chosen: list[_Blob] = []
    links: dict[str, _Blob] = {}
    named = os.fsencode(revision.path)
    room = _Room(revision)
    for path, blob in _blobs(revision):
        asset = path == named or _ASSET.search(path) is not None
        if asset or blob.is_link:
            room.take(path)
        if asset:
            chosen.append(blob)
        if blob.is_link:
            links[blob.path] = blob
    reached = _reached([blob for blob in chosen if blob.is_link], links, revision.label)
    if reached:
        for path, blob in _blobs(revision):
            if path != named and not _ASSET.search(path) and _lies_in(blob.path, reached):
                room.take(path)
                chosen.append(blob)
    return sorted(chosen, key=lambda blob: (blob.is_link, blob.path))


def _reached(unread: list[_Blob], links: dict[str, _Blob], label: str) -> set[str]:
    """The paths that links lead to, directly or by other links; ``""`` is the root. All below them may be needed."""
    reached: set[str] = set()
    read: set[str] = set()
    for _ in range(_HOPS):
        if not unread:
            break
        sizes = _sizes(unread, label)
        short = [(link, size) for link, size in zip(unread, sizes, strict=True) if size <= _PATH_BYTES]
        for (link, _size), data in zip(short, _contents(short, label), strict=True):
            reached.update(_target(link.path, os.fsdecode(data)))
        read.update(link.path for link in unread)
        over = {parent for path in reached for parent in _with_parents(path)}
        unread = [
            link for path, link in links.items() if path not in read and (path in over or _lies_in(path, reached))
        ]
        reached.update(link.path for link in unread)
    return reached


def _target(link: str, text: str) -> tuple[str, ...]:
    """Where a link leads, none when out of the repository; the root when only its own folders could tell."""
    if text.startswith("/"):
        return ()
    names = [name for name in text.split("/") if name not in ("", ".")]
    if ".." in dropwhile("..".__eq__, names):
        return ("",)  # "x/../y": elsewhere when x is a link, nowhere when there is no x
    target = posixpath.normpath(posixpath.join(posixpath.dirname(link), text))
    return () if target.split("/", 1)[0] == ".." else ("" if target == "." else target,)


def _with_parents(path: str) -> Iterator[str]:
    """``path`` and the folders that it lies in, the root last."""
    while path:
        yield path
        path = path.rpartition("/")[0]
    yield ""


def _lies_in(path: str, places: set[str]) -> bool:
    return any(place in places for place in _with_parents(path))


def _blobs(revision: Revision) -> Iterator[tuple[bytes, _Blob]]:
    """Every file and link of the tree; submodules are left out."""
    try:
        with git_output(["ls-tree", "-r", "-z", "--full-tree", revision.tree]) as output:
            for count, row in enumerate(_rows(output)):
                if count >= _LISTED:
                    raise _too_much(revision, f"{_LISTED} files")
                head, _, path = row.partition(b"\t")
                mode, _, object_id = head.split(b" ")
                if (mode in _FILES or mode == _SYMLINK) and not _FORBIDDEN.search(path):
                    yield path, _Blob(os.fsdecode(path), object_id.decode(), mode == _SYMLINK)
    except subprocess.CalledProcessError as error:
        raise lacking(revision.label) from error


def _rows(output: IO[bytes]) -> Iterator[bytes]:
    rest = b""
    while chunk := output.read(_CHUNK):
        *rows, rest = (rest + chunk).split(b"\0")
        yield from rows
        if len(rest) > 2 * _PATH_BYTES:
            raise OSError(None, "a name in it is longer than any path may be")


def _sizes(blobs: list[_Blob], label: str) -> list[int]:
    if not blobs:
        return []
    asked = "".join(f"{blob.object_id}\n" for blob in blobs).encode()
    rows = ask_git(["cat-file", "--batch-check=%(objectsize)"], label, stdin=asked).splitlines()
    if not all(row.isdigit() for row in rows):
        raise lacking(label)
    return [int(row) for row in rows]


def _contents(blobs: list[tuple[_Blob, int]], label: str) -> Iterator[bytes]:
    """The bytes of each blob, whose size is known, one at a time."""
    if not blobs:
        return
    with tempfile.TemporaryFile() as asked:  # a pipe could fill on both sides
        asked.write("".join(f"{blob.object_id}\n" for blob, _ in blobs).encode())
        asked.seek(0)
        try:
            with git_output(["cat-file", "--batch=%(objectsize)"], stdin=asked) as output:
                for _, size in blobs:
                    if output.readline(_CHUNK).strip() != str(size).encode():
                        raise lacking(label)
                    yield output.read(size)
                    output.read(1)
        except subprocess.CalledProcessError as error:
            raise lacking(label) from error
