"""YAML text in, a tree with places out; what cannot be read goes to the sink, and nothing is raised.

Two dialects: ``frontmatter`` (Markdown: anchors and aliases are expanded under a budget) and ``strict`` (YAML sources
and tasks: anchors, aliases and merge keys are refused). Source: spec 1, sections 2.1, 2.5, 2.6 and 3.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from akm_schemas.bounds import YAML_DEPTH_MARKDOWN, YAML_DEPTH_YAML, Bound
from akmc_grammar.diagnostics import Edit, Fix, Note, Sink
from akmc_grammar.places import Place, Span
from akmc_grammar.yaml_compose import Composer, OutOfBounds, UndefinedAlias
from akmc_grammar.yaml_events import Event, Fault, Mark, Overflow, scan
from akmc_grammar.yaml_plain import compose_plain
from akmc_grammar.yaml_spans import shown
from akmc_grammar.yaml_tree import Node

_HASH: Final = re.compile(r"(?:(?<=[ \t])|^)#", re.MULTILINE)
_OPENED: Final = "this quoted text goes on to a later line"
_BUDGET_HELP: Final = "split the document, or write less of it through aliases"


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
    return usual if usual is not None else explain_yaml(text, file, sink, first_line, depth, strict=strict)


def explain_yaml(text: str, file: str, sink: Sink, first_line: int, depth: Bound, *, strict: bool) -> Node | None:
    """``read_yaml`` the long way: for a document in which there may be something to report or to expand."""
    found = scan(text, depth)
    match found.stopped:
        case Fault() as fault:
            _report_fault(fault, text, file, sink, first_line)
            return None
        case Overflow(bound, mark):
            message = f"found more than {bound.high} {bound.unit} of YAML"
            sink.report("bound-exceeded", _place(file, mark, 1, first_line), message, help=_BUDGET_HELP)
            return None
    events = found.events
    starts = [position for position, event in enumerate(events) if event.kind == "document"]
    if not starts:
        return None
    if len(starts) > 1:
        second = events[starts[1]]
        message = "a second YAML document begins here, expected one"
        place = _place(file, second.start, second.end.column - second.start.column, first_line)
        sink.report("invalid-yaml", place, message, help="keep one document and remove the other")
        return None
    composer = Composer(events[1:], text, file=file, sink=sink, first_line=first_line, strict=strict, depth=depth)
    try:
        return composer.compose()
    except OutOfBounds as stop:
        message = (
            f"with this alias the document has more than {stop.bound.high} {stop.bound.unit} of YAML"
            if stop.bound is not None
            else "this alias stands inside the value it names and would never end"
        )
        sink.report("bound-exceeded", Place(file, span=stop.span), message, help=_BUDGET_HELP)
    except UndefinedAlias as stop:
        name = shown(stop.name)
        message = f'the alias "*{name}" names no anchor above it'
        help_line = f'put "&{name}" before the value it should repeat, or quote a text that begins with "*"'
        sink.report("invalid-yaml", Place(file, span=stop.span), message, help=help_line)
    return None


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


def _report_fault(fault: Fault, text: str, file: str, sink: Sink, first_line: int) -> None:
    from akmc_grammar.yaml_faults import explain  # on use: most documents are YAML

    said = explain(fault, text)
    place = _place(file, said.mark, said.width, first_line)
    opened = () if said.opened is None else (Note(_OPENED, _place(file, said.opened, 1, first_line)),)
    fix = _quotes(place) if said.quote else None
    sink.report(said.rule, place, said.message, notes=opened, help=said.help, fix=fix)


def _quotes(place: Place) -> Fix | None:
    """Quotes around a place; what stands there could not be read, so no meaning changes."""
    span = place.span
    if span is None:
        return None
    ends = (span.column, span.end_column)
    edits = (Edit(Place(place.file, span=Span(span.line, at, span.line, at)), '"') for at in ends)
    return Fix("put it in quotes", tuple(edits))


def _place(file: str, mark: Mark, width: int, first_line: int) -> Place:
    line, column = mark.line + first_line, mark.column + 1
    return Place(file, span=Span(line, column, line, column + width))
