"""Files that only their owner may read, whatever the umask says: what goes into them came out of a run."""

from __future__ import annotations

import os
from io import FileIO
from pathlib import Path


def append_private(path: Path) -> FileIO:
    """``path`` to append to, unbuffered; mode 0600 where it is made now, an existing file or device keeps its own.

    Raises OSError.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    return FileIO(descriptor, "ab")
