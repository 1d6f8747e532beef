"""File paths."""

from __future__ import annotations

import os
from pathlib import Path as FilePath


def absolute(path: FilePath) -> FilePath:
    """``path`` made absolute and free of ``..``, links not followed: a ref is where a file is named, not where a link
    leads."""
    text = str(path)
    named = os.path.abspath(text)  # noqa: PTH100 (resolve() would follow links)
    return path if named == text else FilePath(named)
