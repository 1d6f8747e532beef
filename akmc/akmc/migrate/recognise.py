"""Which superseded format a file is of, and its first reading.

The name decides where it can (``.md``, ``.yml``, ``.yaml``), else the text does. A file that is of neither format is a
``NotSuperseded``; one that cannot be read leaves findings in the sink.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from akm_schemas.bounds import STEPS
from akmc.faults import CommandFault
from akmc.migrate.classic_body import STEP
from akmc_grammar.body_binder import Body, read_body
from akmc_grammar.diagnostics import Diagnostic, Sink
from akmc_grammar.markdown import FIRST_YAML_LINE, OPENER, beyond_bounds, classic_marker, frontmatter_end, readable
from akmc_grammar.places import Place, Span
from akmc_grammar.source import SourceText
from akmc_grammar.yaml_reader import read_yaml, yaml_comments
from akmc_grammar.yaml_tree import Mapping, Node
from akmc_grammar.yaml_workflow import PROGRAM_VERSIONS, superseded

_VERSION_LINE: Final = re.compile(r"^version[ \t]*:", re.MULTILINE)
_NOT_JSON: Final = "non-json-value"


class NotSuperseded(CommandFault):
    """A file of neither superseded format."""


@dataclass(frozen=True, slots=True)
class Classic:
    """A file of the classic Markdown format: its frontmatter (``None`` without one) and the lines of its body.

    ``first_line`` is the file's number of the first body line.
    """

    source: SourceText
    root: Mapping | None
    lines: tuple[str, ...]
    first_line: int
    comments: tuple[tuple[str, Span], ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A YAML program."""

    source: SourceText
    root: Mapping
    comments: tuple[tuple[str, Span], ...]


def recognise(source: SourceText, sink: Sink) -> Classic | Program | None:
    """Read ``source``; ``None`` when it cannot be read, which the sink then says.

    Raises:
        NotSuperseded: when it is of neither format.
    """
    if not readable(source, sink) or source.text is None:
        return None
    if source.name.endswith((".yml", ".yaml")):
        return _program(source, source.text, sink)
    if source.name.endswith(".md") or not _VERSION_LINE.search(source.text):
        return _classic(source, sink)
    return _program(source, source.text, sink)


def _program(source: SourceText, text: str, sink: Sink) -> Program | None:
    root = _read(text, source, sink, 1)
    if sink.has_errors:
        return None
    if not isinstance(root, Mapping) or superseded(root) is None:
        versions = " or ".join(PROGRAM_VERSIONS)
        raise NotSuperseded(
            f'"{source.name}" is no superseded YAML program: expected "version: {versions}" and "steps" at its root',
            help=f"akmc check {source.name} says what it is",
        )
    return Program(source, root, tuple(yaml_comments(text, first_line=1)))


def _classic(source: SourceText, sink: Sink) -> Classic | None:
    lines = source.lines
    closer = frontmatter_end(lines)
    if closer is None and lines[0] == OPENER:
        message = 'the frontmatter is never closed: no later line is exactly "---"'
        place = Place(source.name, span=Span(1, 1, 1, 4))
        sink.report("missing-frontmatter", place, message, help='add a line "---" after it')
        return None
    start = 0 if closer is None else closer + 1
    body = read_body(lines[start:], start + 1)
    if not is_classic(body):
        raise NotSuperseded(
            f'"{source.name}" is no workflow of the classic Markdown format: expected a "# Workflow:" title or '
            '"## Step:" headings',
            help=f"akmc check {source.name} says what it is",
        )
    if beyond_bounds(body, source, sink):
        return None
    root: Node | None = None
    comments: list[tuple[str, Span]] = []
    if closer is not None:
        text = "".join(line + "\n" for line in lines[1:closer])
        root = _read(text, source, sink, FIRST_YAML_LINE)
        comments = yaml_comments(text, first_line=FIRST_YAML_LINE)
    if not _has_steps(body) and not (isinstance(root, Mapping) and root.get("steps") is not None):
        _report_no_steps(body, source, sink)
    if sink.has_errors:
        return None
    if isinstance(root, Mapping) and root.get("steps") is not None:
        raise NotSuperseded(
            f'"{source.name}" declares steps in its frontmatter, so it is of today\'s format already',
            help=f"akmc check {source.name} says what is left to mend",
        )
    return Classic(
        source, root if isinstance(root, Mapping) else None, tuple(lines[start:]), start + 1, tuple(comments)
    )


def _has_steps(body: Body) -> bool:
    return any(section.heading.startswith(STEP) for section in body.sections)


def _report_no_steps(body: Body, source: SourceText, sink: Sink) -> None:
    message = f'the workflow has no steps: expected {STEPS.says()}, each below a heading "## {STEP} TITLE"'
    place = Place(source.name, span=body.title_span or Span(1, 1, 1, 1))
    sink.report("bound-exceeded", place, message, help="write the first one, or delete the file")


def is_classic(body: Body) -> bool:
    """Whether a body has a marker of the classic format."""
    return classic_marker(body) is not None


def _read(text: str, source: SourceText, sink: Sink, first_line: int) -> Node | None:
    """The YAML tree. Keys such as ``1`` and ``true``, which the old reader took for texts, are taken so here too."""
    trial = Sink()
    root = read_yaml(text, file=source.name, sink=trial, first_line=first_line, dialect="frontmatter")
    quoted = _with_quoted_keys(text, trial.found, first_line)
    if quoted != text:
        trial = Sink()
        root = read_yaml(quoted, file=source.name, sink=trial, first_line=first_line, dialect="frontmatter")
    sink.found += [_without_fix(item) for item in trial.found]
    return root


def _without_fix(diagnostic: Diagnostic) -> Diagnostic:
    return replace(diagnostic, fix=None)


def _with_quoted_keys(text: str, found: list[Diagnostic], first_line: int) -> str:
    """``text`` with the plain keys quoted that were refused because they are no texts."""
    lines = text.split("\n")
    spans = [item.place.span for item in found if item.rule.name == _NOT_JSON and item.place.span is not None]
    for span in sorted(spans, reverse=True):
        number = span.line - first_line
        line = lines[number]
        word, rest = line[span.column - 1 : span.end_column - 1], line[span.end_column - 1 :]
        if span.line == span.end_line and word and '"' not in word and rest.lstrip(" \t").startswith(":"):
            lines[number] = f'{line[: span.column - 1]}"{word}"{rest}'
    return "\n".join(lines)
