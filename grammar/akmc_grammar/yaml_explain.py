"""The explaining way from YAML text to a tree: events, aliases within bounds, and what there is to report, at its place.

Before: any text that the fast way (``yaml_plain``) left alone. After: its tree, or ``None`` after a report; of a text
without a node ``None`` alone.
"""

from __future__ import annotations

from typing import Final

from akm_schemas.bounds import Bound
from akmc_grammar.diagnostics import Edit, Fix, Note, Sink
from akmc_grammar.places import Place, Span
from akmc_grammar.yaml_compose import Composer, OutOfBounds, UndefinedAlias
from akmc_grammar.yaml_events import Fault, Mark, Overflow, scan
from akmc_grammar.yaml_faults import explain
from akmc_grammar.yaml_spans import shown
from akmc_grammar.yaml_tree import Node

_OPENED: Final = "this quoted text goes on to a later line"
_BUDGET_HELP: Final = "split the document, or write less of it through aliases"


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


def _report_fault(fault: Fault, text: str, file: str, sink: Sink, first_line: int) -> None:
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
