"""Writing files: whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from akmc.faults import CommandFault

# names of what a process has open already: written to, whatever they lead to
_OPEN_ALREADY: Final = ("/dev/fd/", "/dev/stdout", "/dev/stderr", "/proc/")


def write_atomically(path: Path, data: bytes) -> None:
    """Put ``data`` at ``path`` by a temporary file in the same directory, fsync and rename.

    A reader sees the old bytes or the new ones. A symlink at ``path`` stays, and the file it names is replaced, as
    ``>`` would do; the temporary file is opened exclusively under an unguessable name, so that no prepared link is
    followed. A device or a pipe (``/dev/null``, ``/dev/stdout``) is written to, never replaced. An existing file
    keeps its mode.

    Raises:
        CommandFault: when it cannot be written; nothing has changed then.
    """
    try:
        target = Path(os.path.realpath(path))
        mode = _mode(path)
        if mode is not None and stat.S_ISDIR(mode):
            raise CommandFault(f'cannot write "{path}": it is a directory', help="name a file")
        if mode is not None and (not stat.S_ISREG(mode) or os.path.normpath(path).startswith(_OPEN_ALREADY)):
            with path.open("wb") as file:
                file.write(data)
            return
        _replace(target, data, 0o666 & ~_umask() if mode is None else stat.S_IMODE(mode))
    except OSError as error:
        raise CommandFault(f'cannot write "{path}": {error.strerror or error}', help="nothing was written") from error


def create_exclusively(path: Path, data: bytes) -> None:
    """Write a new file, with its folders.

    Raises ``FileExistsError`` when something is there already, a dangling symlink included, and another ``OSError`` when
    it cannot be written; nothing has changed then.
    """
    with made(path.parent):
        file = path.open("xb")
        try:
            with file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except BaseException:  # an interruption included: no half of a file stays
            path.unlink(missing_ok=True)
            raise


@contextmanager
def made(folder: Path) -> Iterator[None]:
    """``folder`` with those above it, made where they are missing; what was made goes again when the block fails.

    A folder that something was put into stays. Raises ``OSError`` where ``folder`` cannot be made.
    """
    missing = [each for each in (folder, *folder.parents) if not os.path.lexists(each)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:  # an interruption included
        with suppress(OSError):  # it holds something, and so do those above
            for each in missing:
                each.rmdir()
        raise


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _replace(target: Path, data: bytes, mode: int) -> None:
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:64]}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(target)
    except BaseException:  # an interruption included: no half of a file stays
        Path(name).unlink(missing_ok=True)
        raise
    _sync_directory(target.parent)


def _sync_directory(folder: Path) -> None:
    """Make the rename durable; some file systems cannot, and the bytes themselves are safe already."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        return
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
