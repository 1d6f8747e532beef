"""Reports of internal errors."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
import traceback
from collections.abc import Sequence


def write_report(error: BaseException, arguments: Sequence[str]) -> str:
    """Write what a developer needs to a private file and return its path.

    The values of flags and of local variables stay out: they may be secrets.
    """
    descriptor, path = tempfile.mkstemp(prefix="akm-run-", suffix=".report.txt")
    names = [word.partition("=")[0] if word.startswith("-") else "..." for word in arguments]
    lines = [
        f"akm-run {' '.join(names)}",
        f"Python {platform.python_version()} on {sys.platform}",
        "".join(traceback.format_tb(error.__traceback__)),
        type(error).__name__,
    ]
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write("\n".join(lines) + "\n")
    return path
