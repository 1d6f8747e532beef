"""The place of a state file on the file system: whether there is one, and how a new one is made."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from akm_run.faults import UsageFault
from akm_run.journal.trouble import ELSEWHERE
from akm_run.scope import STATE_FOLDER, printable

_PRIVATE: Final = 0o600
_IGNORED: Final = """\
# Made by akm-run. What it keeps here stays out of git; config.json and models.json do not.
/state.db*
/cache/
/locks/
/logs/
/worktrees/
/.gitignore
"""


def size_of(path: Path) -> int:
    """The size of the state file at ``path``, 0 where there is none.

    Raises UsageFault for what is no file, or lies where nobody may look.
    """
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return 0
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageFault(f'the state file "{printable(path)}" cannot be read: {reason}', ELSEWHERE) from error
    if not stat.S_ISREG(found.st_mode):
        what = "a directory" if stat.S_ISDIR(found.st_mode) else "no regular file"
        raise UsageFault(f'"{printable(path)}" is no state file of akm-run: it is {what}', ELSEWHERE)
    return found.st_size


def make(path: Path) -> None:
    """An empty, private state file at ``path``, with its folder, unless there is one; git is told to ignore it.

    Raises UsageFault.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.exists():
            size_of(path)
            return
        os.close(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, _PRIVATE))
    except OSError as error:
        raise UsageFault(
            f'cannot create the state file "{printable(path)}": {error.strerror or error}', ELSEWHERE
        ) from error
    if path.parent.name == STATE_FOLDER:
        # a folder that says something already is left as it is, and a run does not end for want of the file
        with suppress(OSError):
            ignore = path.parent / ".gitignore"
            with os.fdopen(os.open(ignore, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, _PRIVATE), "w") as file:
                file.write(_IGNORED)
