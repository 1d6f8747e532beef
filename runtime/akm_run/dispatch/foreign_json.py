"""JSON that others wrap their answers in: it is not checked, only searched for what is needed."""

from __future__ import annotations

import json
from typing import Final

_MAX_DIGITS: Final = 32  # more than any number has that is of use here


def parsed(text: str) -> object:
    """The value of ``text``; raises ValueError for other text than JSON, RecursionError where it is nested too deeply.

    Python refuses integers of thousands of digits, and to add a fraction to one of hundreds. A number may not cost the
    answer beside it, so of such integers only the first digits are read: it is too large to be of use either way.
    """
    return _DECODER.decode(text)


def _integer(digits: str) -> int:
    return int(digits[:_MAX_DIGITS])


_DECODER: Final = json.JSONDecoder(parse_int=_integer)
