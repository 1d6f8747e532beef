"""Relative paths that stay below where they start, on every system."""

from __future__ import annotations

import re
from typing import Final

_DRIVE: Final = re.compile(r"[A-Za-z]:")
_CONTROL: Final = re.compile("[\x00-\x1f\x7f]")


def path_fault(text: str, *, found: bool = False) -> str | None:
    """Why ``text`` is no relative, contained path, as the end of a sentence, or ``None``. Purely lexical.

    ``found``: it is the path of a file, so that ``~`` is a character like any other and no segment is empty.
    """
    if not text:
        return "is empty"
    if text.startswith("/"):
        return "is absolute"
    if _DRIVE.match(text):
        return "names a drive"
    if "\\" in text:
        return "holds a backslash"
    if "~" in text and not found:
        return 'holds a "~", which nothing expands'
    if _CONTROL.search(text):
        return "holds a control character"
    try:
        text.encode()
    except UnicodeEncodeError:  # a surrogate: of a name on disk, a byte that is no UTF-8
        return "is not UTF-8"
    parts = text.split("/")
    if ".." in parts:
        return 'climbs out with ".."'
    return "has an empty segment" if found and "" in parts else None
