"""The body of a classic workflow, cut into its parts: title, free prose, steps with instructions and criteria.

Headings are found by the same scanner as today's, so that one in a code fence is text here as there.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from akmc_grammar.body_lines import Heading
from akmc_grammar.body_scanner import scan_blocks
from akmc_grammar.places import Span

TITLE: Final = "Workflow:"
STEP: Final = "Step:"
INSTRUCTIONS: Final = "instructions"
CRITERIA: Final = "completion criteria"
_STEP_ID: Final = re.compile(r"[ ]{0,3}Step ID:[ \t]*(?P<id>.*?)[ \t]*")

Lines = list[tuple[str, int]]
"""(line, its number in the file) pairs."""


@dataclass(slots=True)
class ClassicStep:
    """One step as written. ``id_span`` is the heading's place when there is no ``Step ID:`` line (``old_id`` is ``""``).

    ``lead`` is what stands between the heading and the first subsection, ``criteria`` is ``None`` without a
    ``### Completion Criteria``. ``repeated`` are further headings of a part that is there already: text of the part
    that they stand in.
    """

    title: str
    heading: Span
    id_span: Span
    old_id: str = ""
    lead: Lines = field(default_factory=list)
    instructions: Lines | None = None
    criteria: Lines | None = None
    criteria_span: Span | None = None
    repeated: list[tuple[str, Span]] = field(default_factory=list)


@dataclass(slots=True)
class ClassicBody:
    """A whole body."""

    title: str = ""
    title_line: int = 1
    preamble: Lines = field(default_factory=list)
    steps: list[ClassicStep] = field(default_factory=list)


def read_classic_body(lines: Sequence[str], first_line: int) -> ClassicBody:
    """Cut ``lines``, the first of which is the file's line ``first_line``."""
    body = ClassicBody()
    part = body.preamble
    headings = {marker.line: marker.heading for marker in scan_blocks(lines).headings}
    titled = False
    for index, line in enumerate(lines):
        number, heading = index + first_line, headings.get(index)
        step = body.steps[-1] if body.steps else None
        if heading is not None and heading.level == 2 and heading.text.startswith(STEP):
            span = _span(number, heading)
            body.steps.append(ClassicStep(heading.text.removeprefix(STEP).strip(), span, span))
            part = body.steps[-1].lead
        elif step is None and heading is not None and heading.level == 1 and not titled and heading.text:
            titled, body.title_line = True, number
            body.title = heading.text.removeprefix(TITLE).strip()
        elif step is not None and heading is not None and heading.level == 3:
            part = _subsection(step, heading, number, part, line)
        elif step is None or part is not step.lead or not _take_id(step, line, number):
            part.append((line, number))
    return body


def _subsection(step: ClassicStep, heading: Heading, number: int, part: Lines, line: str) -> Lines:
    """The lines that follow a level-3 heading go to; only the first of each name is structure, an empty one aside."""
    name = heading.text.rstrip(":").strip().casefold()
    if name == INSTRUCTIONS and _is_empty(step.instructions):
        step.instructions = []
        return step.instructions
    if name == CRITERIA and _is_empty(step.criteria):
        step.criteria, step.criteria_span = [], _span(number, heading)
        return step.criteria
    if name in (INSTRUCTIONS, CRITERIA):
        step.repeated.append((heading.text, _span(number, heading)))
    part.append((line, number))
    return part


def _is_empty(part: Lines | None) -> bool:
    return part is None or not any(line.strip() for line, _ in part)


def _take_id(step: ClassicStep, line: str, number: int) -> bool:
    match = None if step.old_id else _STEP_ID.fullmatch(line)
    if match is None or not match["id"]:
        return False
    start = match.start("id") + 1
    step.old_id, step.id_span = match["id"], Span(number, start, number, start)
    return True


def _span(number: int, heading: Heading) -> Span:
    return Span(number, heading.start + 1, number, heading.start + 1)
