"""Files that a program looks up itself: read without waiting for anybody, and never without an end.

What a person names on the command line may be a pipe (a shell's ``<(...)``) and is not read with this.
"""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from pathlib import Path
from typing import Final

_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


class NotAFile(OSError):
    """What is there is a directory, a pipe or a device: reading it could block, or never end."""


def open_regular(path: Path) -> BufferedReader:
    """A regular file to read from; ``OSError`` says in a person's words why it cannot be."""
    descriptor = os.open(path, _FLAGS)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise NotAFile(0, "it is a directory", str(path))
        if not stat.S_ISREG(mode):
            raise NotAFile(0, "it is no regular file", str(path))
    except BaseException:  # an interruption included: nobody else knows of the descriptor
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def read_regular(path: Path, most: int = -1) -> bytes:
    """The bytes of a regular file, or its first ``most`` bytes; raises ``OSError`` as ``open_regular``."""
    with open_regular(path) as file:
        return file.read(most) or b""  # a file of /proc that would have to be waited for gives None
