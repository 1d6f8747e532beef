"""Joins the sections of a body to the declared steps; every rule of a body is reported here.

Choices where several findings have one cause:

* A step whose section has a misspelt heading is not ``missing-section`` too: the heading says it, with the step's place
  as a note. One that an unclosed fence swallowed is: the step is where its author looks, the fence what to mend.
* While a step's id cannot be read, a heading that names no declared step may be that step's; it is reported only when
  it is close to a declared id that has no section.
* A section that is missing, a duplicate or empty says nothing about its gate.

Source: spec 1, sections 2.2 and 2.6.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct, field

from akm_schemas.bounds import DIAGNOSTICS_PER_FILE
from akmc_grammar.body_binder import Body, Section
from akmc_grammar.diagnostics import Edit, Fix, Note, Sink
from akmc_grammar.places import Place, Span
from akmc_grammar.suggest import listed

_LEGACY_TITLE: Final = "Workflow:"
_LEGACY_ID: Final = "Step ID:"
_MIGRATE: Final = "this is the classic format: run `akmc migrate FILE` to convert it"
_SHOWN: Final = 80
_MARKED: Final = re.compile(r"(?P<mark>`+|\*{0,3})(?P<text>[^`*]+?)(?P=mark):?")
# A heading much longer than any id is prose, and not worth comparing with all of them.
_COMPARED: Final = 200


class StepHead(Struct, frozen=True):
    """What the body rules need of a step; ``id`` is ``None`` when it could not be read."""

    index: int
    id: str | None
    kind: Literal["unit", "map", "route"]
    has_max_loops: bool


def bind_sections(body: Body, steps: Sequence[StepHead], *, file: str, sink: Sink, cascade: bool) -> dict[int, Section]:
    """Report the body's faults and return step index -> section.

    With ``cascade=False`` the steps are unknown (the frontmatter could not be read), and only what does not depend on
    them is reported. Of steps with the same id the first one owns the section.
    """
    binding = _Binding(body, steps, file, sink)
    if cascade:
        binding.bind()
    binding.report_headings_that_are_text(steps_known=cascade)
    binding.report_gates()
    binding.report_legacy_markers()
    binding.report_conflicts()
    if not cascade:
        return {}
    binding.report_unexpected()
    binding.report_missing()
    binding.report_contents()
    return binding.bound


class _Binding(Struct):
    body: Body
    steps: Sequence[StepHead]
    file: str
    sink: Sink
    bound: dict[int, Section] = field(default_factory=dict)
    stray: list[Section] = field(default_factory=list)
    misspelt: dict[str, list[Section]] = field(default_factory=dict)

    def bind(self) -> None:
        """Give each declared step its first section; report the others of the same name."""
        owners = self._owners()
        for section in self.body.sections:
            owner = owners.get(section.heading)
            if owner is None:
                self.stray.append(section)
                continue
            first = self.bound.setdefault(owner.index, section)
            if first is not section:
                self.sink.report(
                    "duplicate-section",
                    self._at(section.heading_span),
                    f'the step "{section.heading}" already has a section',
                    notes=[Note("first section here", self._at(first.heading_span))],
                    help="join the two sections, or name another step",
                )
        missing = [step_id for step_id, step in owners.items() if step.index not in self.bound]
        for section in self.stray[: DIAGNOSTICS_PER_FILE.high]:
            candidate = _one_candidate(section.heading, missing)
            if candidate is not None:
                self.misspelt.setdefault(candidate, []).append(section)

    def report_unexpected(self) -> None:
        """Headings that name no step, with the one step they are close to."""
        candidates = {id(section): name for name, found in self.misspelt.items() for section in found}
        unreadable = any(step.id is None for step in self.steps)
        declared = listed(sorted(self._owners()))
        for section in self.stray:
            candidate = candidates.get(id(section))
            if candidate is None and unreadable:
                continue
            found = f'"{_shown(section.heading)}"' if section.heading else "a heading without text"
            message = f"found {found}, expected the id of a step; declared steps: {declared}"
            if candidate is None:
                help_line, fix, notes = "use another heading level for prose, or declare the step", None, []
            else:
                help_line = f'did you mean "{candidate}"?'
                fix = self._heading_fix(section, candidate)
                owner = Place(self.file, ("steps", self._owners()[candidate].index, "id"))
                notes = [Note("this step has no section yet", owner)]
            place = self._at(section.heading_span)
            self.sink.report("unexpected-heading", place, message, notes=notes, help=help_line, fix=fix)

    def report_missing(self) -> None:
        """Unit and map steps without a section, and the fence that may have swallowed it."""
        missing = False
        for step_id, step in self._owners().items():
            if step.kind == "route" or step.index in self.bound or step_id in self.misspelt:
                continue
            missing = True
            near = self._near_heading(step_id)
            self.sink.report(
                "missing-section",
                Place(self.file, ("steps", step.index, "id")),
                f'the step "{step_id}" has no section in the body',
                notes=[] if near is None else [Note("this heading is of another level", near)],
                help=f'add a "## {step_id}" heading with the instructions below it'
                if near is None
                else f'write "## {step_id}": only a level-2 heading begins a section',
            )
        fence = self.body.unclosed_fence
        if missing and fence is not None:
            self.sink.report(
                "unclosed-fence",
                self._at(fence),
                "this code fence is never closed: everything below it is code, and sections are missing",
                help="close it with a line of the same fence characters, at least as many",
            )

    def report_contents(self) -> None:
        """Sections without instructions, and loops that nothing can ask for."""
        for step in self._owners().values():
            section = self.bound.get(step.index)
            if section is None and step.kind != "route":
                continue
            if section is not None and step.kind != "route" and not section.instructions:
                self.sink.report(
                    "empty-section",
                    self._at(section.heading_span),
                    f'the section of the step "{step.id}" has no instructions',
                    help="write below the heading, before any gate, what the step is to do",
                )
            if step.has_max_loops and (section is None or section.gate is None or not section.gate.rubric):
                self.sink.report(
                    "inert-gate",
                    Place(self.file, ("steps", step.index, "gate", "max_loops")),
                    f'the step "{step.id}" has no rubric, so max_loops does nothing',
                    help='add a "### gate" heading with a rubric to its section, or remove max_loops',
                )

    def report_gates(self) -> None:
        """Second gate headings and those that are almost one."""
        for section in self.body.sections:
            if section.gate is not None:
                for span in section.extra_gates:
                    self.sink.report(
                        "duplicate-gate",
                        self._at(span),
                        'found a second "gate" heading in one section: the first rubric runs to the section\'s end',
                        notes=[Note("the rubric begins here", self._at(section.gate.span))],
                        help="join the two rubrics, or use another heading",
                    )
            for text, span in section.near_gates:
                self.sink.report(
                    "near-miss-gate",
                    self._at(span),
                    f'"{text}" is an ordinary heading here: only "gate" begins a rubric',
                    help='write "### gate" if a rubric is meant, another heading if not',
                    fix=Fix('write "gate"', (Edit(self._at(span), "gate"),), safe=False),
                )

    def report_legacy_markers(self) -> None:
        """What only the classic format has."""
        for text, span in self.body.top_headings:
            if text.startswith(_LEGACY_TITLE):
                self.sink.report(
                    "legacy-marker", self._at(span), f'found a title that begins "{_LEGACY_TITLE}"', help=_MIGRATE
                )
        for section in self.body.sections:
            if section.first_text_line is not None and section.first_text_line[0].lstrip().startswith(_LEGACY_ID):
                self.sink.report(
                    "legacy-marker",
                    self._at(section.first_text_line[1]),
                    f'found a section that begins "{_LEGACY_ID}"',
                    help=_MIGRATE,
                )

    def report_conflicts(self) -> None:
        """Merges that nobody resolved: their markers would be part of the instructions."""
        for first, last in self.body.conflicts:
            self.sink.report(
                "merge-conflict",
                self._at(first),
                "this is an unresolved merge: its markers are part of the text",
                notes=[Note("the conflict ends here", self._at(last))],
                help="keep one of the two versions and delete the marker lines, or put an example into a code fence",
            )

    def report_headings_that_are_text(self, *, steps_known: bool) -> None:
        """Underlined headings, and hashes without a blank in front of a step's name."""
        for text, span in self.body.setext:
            self.sink.report(
                "setext-heading",
                self._at(span),
                f'the underlined heading "{_shown(text)}" is text here: a section begins with "##"',
                help='write "## ID" for a section, or put a blank line above the dashes for a rule',
            )
        names = self._owners() if steps_known else {}
        for written, span in self.body.unspaced:
            hashes, name = written[: len(written) - len(written.lstrip("#"))], written.lstrip("#")
            if not (name in names if hashes == "##" else name == "gate"):
                continue
            self.sink.report(
                "heading-without-space",
                self._at(span),
                f'"{written}" is text: a heading has a blank after its hashes',
                help=f'write "{hashes} {name}" if a heading is meant',
                fix=self._blank_fix(hashes, name, span),
            )

    def _owners(self) -> Mapping[str, StepHead]:
        owners: dict[str, StepHead] = {}
        for step in self.steps:
            if step.id is not None:
                owners.setdefault(step.id, step)
        return owners

    def _near_heading(self, step_id: str) -> Place | None:
        """A heading of another level that says the step's id."""
        found = (span for text, span in (*self.body.top_headings, *self.body.low_headings) if _bare(text) == step_id)
        span = next(found, None)
        return None if span is None else self._at(span)

    def _heading_fix(self, section: Section, candidate: str) -> Fix | None:
        """Rewrite the heading, unless several headings would become the same."""
        if len(self._claims(candidate)) > 1:
            return None
        return Fix(f'rename the heading to "{candidate}"', (Edit(self._at(section.heading_span), candidate),))

    def _blank_fix(self, hashes: str, name: str, span: Span) -> Fix | None:
        """Insert the blank, unless several lines would become the same; not safely beside a section of that name."""
        is_section = hashes == "##"
        if is_section and len(self._claims(name)) > 1:
            return None
        is_taken = any(section.heading == name for section in self.body.sections)
        column = span.column + len(hashes)
        blank = Place(self.file, span=Span(span.line, column, span.line, column))
        return Fix("insert the blank", (Edit(blank, " "),), safe=is_section and not is_taken)

    def _claims(self, name: str) -> list[Span]:
        """The lines that a fix would turn into the heading of the step ``name``."""
        unspaced = [span for written, span in self.body.unspaced if written == f"##{name}"]
        return [*(section.heading_span for section in self.misspelt.get(name, ())), *unspaced]

    def _at(self, span: Span) -> Place:
        return Place(self.file, span=span)


def _one_candidate(heading: str, missing: Sequence[str]) -> str | None:
    """The only id without a section that is close to ``heading``."""
    if not heading or len(heading) > _COMPARED:
        return None
    same = [name for name in missing if name.lower() in (heading.lower(), _bare(heading).lower())]
    if same:
        return same[0] if len(same) == 1 else None
    import difflib  # on use: most checks compare no spellings

    close = difflib.get_close_matches(heading, missing, n=2, cutoff=0.6)
    return close[0] if len(close) == 1 else None


def _bare(heading: str) -> str:
    """The heading without the marks of inline code and emphasis around it, and without a colon."""
    marked = _MARKED.fullmatch(heading)
    return heading if marked is None else marked["text"]


def _shown(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
