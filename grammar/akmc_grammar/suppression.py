"""Allow comments: ``# akm: allow[rule, rule] reason`` in YAML, ``<!-- akm: allow[rule] reason -->`` in a body.

Only read here; what they hide (warnings, on their line and the next) is decided where diagnostics are sorted.
Source: spec 4, "Diagnostics".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from akmc_grammar.document import Allow
from akmc_grammar.places import Span

_ALLOW: Final = re.compile(r"(?:#|<!--)[ \t]*akm:[ \t]*allow\[(?P<rules>[^\]]*)\]")


def find_allows(
    frontmatter_comments: Iterable[tuple[str, Span]], body_comments: Iterable[tuple[str, Span]]
) -> tuple[Allow, ...]:
    """The allow comments among the comments of both parts, in the given order.

    Rule names are as written between the commas, blanks around them dropped; an empty list holds one empty name, so
    that it is reported like any other name that is no rule.
    """
    found = []
    for text, span in (*frontmatter_comments, *body_comments):
        match = _ALLOW.match(text)
        if match is not None:
            names = [name.strip() for name in match["rules"].split(",")]
            found.append(Allow(tuple(name for name in names if name) or ("",), span.line, span))
    return tuple(found)
