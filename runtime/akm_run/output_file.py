"""Files that a person names for output: replaced whole or not at all; devices, pipes and links stay what they are."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from akm_run.faults import UsageFault
from akm_run.scope import printable

# names of what a process has open already, by whatever name it is known elsewhere
_OPEN_ALREADY: Final = ("/dev/fd/", "/dev/stdout", "/dev/stderr", "/proc/")
_COMPANIONS: Final = ("", "-wal", "-shm")


@contextmanager
def replaced(path: Path, state_file: Path) -> Iterator[Path]:
    """An empty private file to fill, which takes the place of ``path`` when the block ends well.

    A link at ``path`` stays, and what it names is replaced. What is no file (a device, a pipe, ``/dev/fd/3``) is written
    to, and a reader that has gone ends that quietly.

    Raises UsageFault: ``path`` belongs to ``state_file``, or cannot be written; nothing has changed then, but what a
    device or pipe has taken.
    """
    if any(_same(path, state_file.with_name(state_file.name + suffix)) for suffix in _COMPANIONS):
        raise UsageFault(f'"{printable(path)}" is the state file itself', "name another file")
    try:
        if _is_written_to(path):
            with tempfile.TemporaryDirectory(prefix="akm-output-") as folder:
                fresh = Path(folder) / "output"
                fresh.touch(0o600)
                yield fresh
                _copy(fresh, path)
            return
        target = Path(os.path.realpath(path))
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:64]}.", dir=target.parent)  # mode 0600
        os.close(descriptor)
        try:
            yield Path(name)
            Path(name).replace(target)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as error:
        raise UsageFault(f'cannot write "{printable(path)}": {error.strerror or error}') from error


def _is_written_to(path: Path) -> bool:
    """Whether ``path`` is there and is not to be replaced. Raises OSError; for a directory too."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return not stat.S_ISREG(mode) or os.path.normpath(path).startswith(_OPEN_ALREADY)


def _copy(fresh: Path, path: Path) -> None:
    with suppress(BrokenPipeError), fresh.open("rb") as source, path.open("wb", buffering=0) as target:
        shutil.copyfileobj(source, _Whole(target.fileno()))


class _Whole:
    """Writes all that it is given: a pipe, or the last bytes of a disk, take less at a time."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, data: bytes) -> None:
        """Write ``data``. Raises OSError."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]


def _same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:  # one of them is not there, or cannot be looked at: opening it says so
        return False
