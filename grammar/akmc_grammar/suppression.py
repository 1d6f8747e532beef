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
from akmc_grammar.rules import find_rule

# compiled on use: most files have no comments
_ALLOW: Final = r"(?:#|<!--)[ \t]*akm:[ \t]*allow\[(?P<rules>[^\]]*)\]"
_NEAR: Final = r"(?i:(?:#|<!--)[ \t]*akm[ \t]*:?[ \t]*allow[ \t]*(?:[\[({]|:?[ \t]*(?P<word>[a-z0-9-]+)))"


def _is_misspelt(comment: str) -> bool:
    """Whether a comment that allows nothing was meant to: it has brackets, or names a rule without them."""
    match = re.match(_NEAR, comment) if "llow" in comment or "LLOW" in comment else None
    return match is not None and (match["word"] is None or find_rule(match["word"].lower()) is not None)


def find_allows(
    frontmatter_comments: Iterable[tuple[str, Span]], body_comments: Iterable[tuple[str, Span]]
) -> tuple[Allow, ...]:
    """The allow comments among the comments of both parts, in the given order.

    Rule names are as written between the commas, blanks around them dropped. A comment that differs from one by case,
    colon, blanks or brackets is in the list as ``misspelt``.
    """
    found = []
    for text, span in (*frontmatter_comments, *body_comments):
        match = re.match(_ALLOW, text)
        if match is not None:
            names = [name.strip() for name in match["rules"].split(",")]
            found.append(Allow(tuple(name for name in names if name), span.line, span))
        elif _is_misspelt(text):
            found.append(Allow((), span.line, span, misspelt=True))
    return tuple(found)
