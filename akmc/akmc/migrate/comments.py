"""The comments of old YAML: they say nothing to a machine, but a person wrote them."""

from __future__ import annotations

from collections.abc import Sequence

from akmc.migrate.model import Notes
from akmc_grammar.places import Span


def keep_comments(comments: Sequence[tuple[str, Span]], notes: Notes) -> None:
    """Keep every block of comments (lines that follow each other in one column) as one line of prose."""
    blocks: list[tuple[list[str], Span, int]] = []
    for text, span in comments:
        words = text.lstrip("#").strip()
        if blocks and span.line == blocks[-1][2] + 1 and span.column == blocks[-1][1].column:
            texts, first, _ = blocks.pop()
            blocks.append(([*texts, words], first, span.line))
        else:
            blocks.append(([words], span, span.line))
    for texts, span, _ in blocks:
        whole = " ".join(text for text in texts if text)
        if whole:
            notes.keep(span, f"comment on line {span.line}", whole, "new frontmatter is written without comments")
