"""Places inside a JSON value as text: a dotted path for people, an RFC 6901 pointer for machines."""

from __future__ import annotations

import re
from collections.abc import Sequence

_PLAIN_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*", re.ASCII)
_NAME_CHARS = 60


def dotted(parts: Sequence[str | int]) -> str:
    """``("steps", 2, "unit", "a b")`` as ``steps[2].unit["a b"]``; the root is the empty string.

    A long name is clipped and control characters are escaped, so that the text stays one readable line.
    """
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN_NAME.fullmatch(part) and len(part) <= _NAME_CHARS:
            text += f".{part}" if text else part
        else:
            text += f"[{quoted(part)}]"
    return text


def quoted(name: str) -> str:
    """A name of the user's in double quotes: clipped to 60 characters, unprintable characters escaped."""
    if len(name) <= _NAME_CHARS and _PLAIN_NAME.fullmatch(name):  # most names, and messages are made ahead of need
        return f'"{name}"'
    clipped = name if len(name) <= _NAME_CHARS else name[: _NAME_CHARS - 3] + "..."
    escaped = clipped.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c.isprintable() else ascii(c)[1:-1] for c in escaped) + '"'


def pointer(parts: Sequence[str | int]) -> str:
    """The RFC 6901 JSON pointer of a path: ``("a/b", 0)`` is ``/a~1b/0``; the root is the empty string."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)
