"""Where a script unit's bytes lie while it runs, and who clears away what a killed driver left.

``<temporary folder>/akm-script-<run id>-<8 characters>/`` is locked (``flock``) by the driver from its making until it is
gone; a lock ends with its process, so a folder that can be locked is nobody's.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from akm_run.run_ids import as_file_name

_PREFIX: Final = "akm-script-"
_ATTEMPTS: Final = 5


@contextmanager
def script_file(run_id: str, name: str, content: bytes) -> Iterator[Path]:
    """A 0700 file ``name`` with ``content`` in a 0700 folder of its own, gone after the block. Raises OSError."""
    folder, descriptor = _claimed(run_id)
    try:
        path = folder / name
        _write(path, content)
        yield path
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def collect_scripts(run_id: str | None = None, *, dry_run: bool = False) -> list[Path]:
    """Remove what killed drivers of ``run_id``, or of all runs, have left in the temporary folder; what was found.

    Folders in use by any process, and those of other users, are not looked at.
    """
    try:
        folders = sorted(Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"))
    except OSError:
        return []  # no temporary folder, or none that may be listed: nothing can be found there
    return [
        folder
        for folder in folders
        if run_id in (None, folder.name.removeprefix(_PREFIX).rpartition("-")[0]) and _collected(folder, dry_run)
    ]


def _claimed(run_id: str) -> tuple[Path, int]:
    """A new folder, and the descriptor whose lock says that it is in use."""
    for _ in range(_ATTEMPTS):
        folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{as_file_name(run_id)}-"))
        try:
            descriptor = _locked(folder)
        except FileNotFoundError:
            continue  # collected before it was locked
        if descriptor is not None and folder.exists():
            return folder, descriptor
        if descriptor is not None:
            os.close(descriptor)
    raise FileNotFoundError(0, "the temporary folder is being emptied")


def _locked(folder: Path) -> int | None:
    """A descriptor that holds the folder's lock; ``None`` where somebody else does. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _collected(folder: Path, dry_run: bool) -> bool:
    """Whether the folder is nobody's; removed then, unless ``dry_run``."""
    try:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            return False
        descriptor = _locked(folder)
    except OSError:
        return False  # gone by itself
    if descriptor is None:
        return False
    try:
        if not dry_run:
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)
    return dry_run or not folder.exists()


def _write(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o700)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, 0o700)  # the umask may have taken bits away
        file.write(content)
