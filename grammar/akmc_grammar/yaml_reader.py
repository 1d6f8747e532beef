"""YAML text in, a tree with places out; what cannot be read goes to the sink, and nothing is raised.

Two dialects: ``frontmatter`` (Markdown: anchors and aliases are expanded under a budget) and ``strict`` (YAML sources
and tasks: anchors, aliases and merge keys are refused). Source: spec 1, sections 2.1, 2.5, 2.6 and 3.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from akm_schemas.bounds import YAML_DEPTH_MARKDOWN, YAML_DEPTH_YAML
from akmc_grammar.diagnostics import Sink
from akmc_grammar.places import Span
from akmc_grammar.yaml_events import Event, scan
from akmc_grammar.yaml_plain import compose_plain
from akmc_grammar.yaml_tree import Node

_HASH: Final = re.compile(r"(?:(?<=[ \t])|^)#", re.MULTILINE)


def read_yaml(
    text: str, *, file: str, sink: Sink, first_line: int, dialect: Literal["frontmatter", "strict"]
) -> Node | None:
    """Read one document. ``first_line`` is the file's line on which ``text`` begins.

    ``None`` for a text without a node, and after an ``invalid-yaml`` or ``bound-exceeded`` report. Duplicate keys,
    tags, values that JSON cannot carry and (``strict``) anchors, aliases and merge keys are reported where they stand.
    """
    strict = dialect == "strict"
    depth = YAML_DEPTH_YAML if strict else YAML_DEPTH_MARKDOWN
    usual = compose_plain(text, first_line=first_line, depth=depth)
    if usual is not None:
        return usual
    from akmc_grammar.yaml_explain import explain_yaml  # on use: most documents are usual

    return explain_yaml(text, file, sink, first_line, depth, strict=strict)


def yaml_comments(text: str, *, first_line: int) -> list[tuple[str, Span]]:
    """The comments of ``text`` from their ``#`` on, never a ``#`` inside a scalar; none when it is not YAML."""
    if "#" not in text:
        return []
    found = scan(text, YAML_DEPTH_MARKDOWN)
    if found.stopped is not None:
        return []
    hidden = [(_hidden_from(event, text), event.end.offset) for event in found.events if event.style]
    comments: list[tuple[str, Span]] = []
    position, line, line_start, comment_end = 0, first_line, 0, 0
    for match in _HASH.finditer(text):
        start = match.start()
        while position < len(hidden) and hidden[position][1] <= start:
            position += 1
        if start < comment_end or (position < len(hidden) and hidden[position][0] <= start):
            continue
        comment_end = text.find("\n", start)
        comment_end = len(text) if comment_end < 0 else comment_end
        breaks = text.count("\n", line_start, start)
        if breaks:
            line, line_start = line + breaks, text.rfind("\n", line_start, start) + 1
        column = start - line_start + 1
        comments.append((text[start:comment_end], Span(line, column, line, column + comment_end - start)))
    return comments


def _hidden_from(event: Event, text: str) -> int:
    """Where a quoted or block text begins to hide ``#``: the head line of a block text may carry a comment."""
    if event.style in ("|", ">"):
        end = text.find("\n", event.start.offset)
        return len(text) if end < 0 else end
    return event.start.offset
