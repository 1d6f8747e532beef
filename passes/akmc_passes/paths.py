"""File paths."""

from __future__ import annotations

import os
from pathlib import Path as FilePath


def absolute(path: FilePath) -> FilePath:
    """``path`` made absolute and free of ``..``, links not followed: a ref is where a file is named, not where a link
    leads."""
    return FilePath(os.path.abspath(path))  # noqa: PTH100 (resolve() would follow links)
