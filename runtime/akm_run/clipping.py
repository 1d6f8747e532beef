"""Long messages within their bounds."""

from __future__ import annotations

import re
from typing import Final

from akm_schemas.bounds import DIAGNOSTIC_CHARS

_COUNT: Final = re.compile(r"(?:\n(?:- )?|; )and [0-9]{1,9} more\Z")


def clipped(text: str, room: int = DIAGNOSTIC_CHARS.high, mark: str = " ...") -> str:
    """``text`` within ``room`` characters, the bound of diagnostics and summaries by default, with ``mark`` where it was cut.

    A list that ends in how many more there are keeps that end: it is cut before it.
    """
    if len(text) <= room:
        return text
    count = _COUNT.search(text, max(0, len(text) - 32))
    end = "" if count is None else count[0]
    return f"{text[: max(0, room - len(mark) - len(end))]}{mark}{end}"
