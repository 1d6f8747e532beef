"""References as data: what a plan carries so that the interpreter needs no parser.

The grammar of the text form lives in ``akmc_grammar`` (``reference.lark``).
"""

from __future__ import annotations

from typing import Literal

import msgspec


class Reference(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A parsed reference, for example ``steps.scan.output.rows[0].kind``.

    ``text`` is the source text; ``root`` the namespace; ``name`` the param name or step id;
    ``path`` the property names and array indexes after ``.output`` (always empty for params).
    """

    text: str
    root: Literal["params", "steps"]
    name: str
    path: list[str | int]
