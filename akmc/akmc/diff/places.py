"""Where a part of a plan is said: its key in the source that the plan was made from.

A plan's own spans name steps, sections and gates. Where the bytes of the source are at hand (the side is a source, a
revision, or a plan whose sources still hash to its read set), the place of the key itself is found.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

from msgspec import UNSET, Struct, field

from akm_schemas.plan import Plan, Step
from akmc.diff.keys import own_keys, source_keys
from akmc.diff.model import SourcePlace
from akmc.diff.task_places import composed_task, task_keys

if TYPE_CHECKING:
    from akmc_grammar.document import Document

Side = Literal["old", "new"]


class Within(Struct, frozen=True):
    """What narrows a place: ``keys`` below it, or ``line`` (from 0) of a text, which reads ``text``."""

    keys: tuple[str | int, ...] = ()
    line: int | None = None
    text: str = ""


EVERYWHERE: Final = Within()


class Sources(Struct, frozen=True):
    """The source files of one side, by the SHA-256 of their bytes; documents are read when a place is asked for.

    ``names`` says how a file is shown, by its path in the bundle and its SHA-256: from the working directory, as
    findings are, so that the place can be opened. What has no name is shown by its path in the bundle.
    """

    texts: Mapping[str, bytes] = field(default_factory=dict)
    names: Mapping[tuple[str, str], str] = field(default_factory=dict)
    _documents: dict[str, Document | None] = field(default_factory=dict)
    _lines: dict[str, list[str]] = field(default_factory=dict)

    def place(
        self,
        plan: Plan,
        side: Side,
        step: Step | None,
        parts: list[str],
        within: Within,
        unchanged: frozenset[str] = frozenset(),
    ) -> SourcePlace | None:
        """The place of ``parts`` (below ``step`` when there is one) in the source of ``plan``, ``None`` without any.

        ``unchanged`` are hashes of files that are the same on the other side: no command or task among them is the place
        of a change.
        """
        if step is not None and within.line is not None:
            found = self._in_asset(plan, side, step, parts, within, unchanged)
            if found is not None:
                return found
        at = self._in_section(plan, step, parts, within)
        if at is None and step is not None and parts[:1] == ["unit"]:
            at = self._at_key(plan, step, parts, within, own=True)
            found = self._in_task(plan, side, step, parts[1:], within, unchanged) if at is None else None
            if found is not None:
                return found
        at = at or self._at_key(plan, step, parts, within)
        return None if at is None else self._shown(side, *_own_file(plan), *at)

    def _shown(self, side: Side, path: str, digest: str, line: int, column: int) -> SourcePlace:
        return SourcePlace(side=side, file=self.names.get((path, digest), path), line=line, column=column)

    def _at_key(
        self, plan: Plan, step: Step | None, parts: list[str], within: Within, *, own: bool = False
    ) -> tuple[int, int] | None:
        """``own``: only a key that says this part and no other."""
        document = self._document(plan)
        if document is None:
            return None if own else _spanned(plan, step, parts)
        return _written(document, step, parts, within, own=own)

    def _in_task(
        self, plan: Plan, side: Side, step: Step, parts: list[str], within: Within, unchanged: frozenset[str]
    ) -> SourcePlace | None:
        """A key of the task that the step composes, unless the task is the same on both sides."""
        document = self._document(plan)
        task = None if document is None else composed_task(document, plan, step)
        raw = None if task is None or task.sha256 in unchanged else self.texts.get(task.sha256)
        if task is None or raw is None:
            return None
        from akmc.diff.written import task_span

        spans = (task_span(task.path, raw, path) for path in task_keys(parts, within.keys))
        span = next((span for span in spans if span is not None), None)
        return None if span is None else self._shown(side, task.path, task.sha256, span.line, span.column)

    def knows(self, plan: Plan) -> bool:
        """Whether the bytes of the plan's own source are here."""
        return _own_file(plan)[1] in self.texts

    def _in_section(self, plan: Plan, step: Step | None, parts: list[str], within: Within) -> tuple[int, int] | None:
        """A line of a section or of its gate: the plan knows where they begin, so that nothing need be parsed."""
        path, digest = _own_file(plan)
        raw = self.texts.get(digest)
        if within.line is None or step is None or raw is None or not path.endswith(".md"):
            return None
        if digest not in self._lines:
            self._lines[digest] = raw.decode("utf-8-sig", "replace").replace("\r\n", "\n").split("\n")
        head = _spanned(plan, step, parts)
        line = None if head is None else _line_of(self._lines[digest], head[0], within)
        return head if line is None else (line + 1, 1)

    def _document(self, plan: Plan) -> Document | None:
        path, digest = _own_file(plan)
        if digest not in self._documents:
            self._documents[digest] = _read(path, plan.provenance.ref, self.texts.get(digest))
        return self._documents[digest]

    def _in_asset(
        self, plan: Plan, side: Side, step: Step, parts: list[str], within: Within, unchanged: frozenset[str]
    ) -> SourcePlace | None:
        """A line of a script, or of a command's prompt, in the file that it came from."""
        if parts[:2] != ["unit", "target"] or step.unit is UNSET or within.line is None:
            return None
        ref = getattr(step.unit.target, "ref", UNSET)
        item = next((item for item in plan.provenance.source_read_set if item.ref == ref), None)
        if item is None or item.sha256 in unchanged or parts[2] not in ("bytes", "prompt"):
            return None
        line = within.line
        if parts[2] == "prompt":
            raw = self.texts.get(item.sha256, b"")
            line = _line_of(raw.decode("utf-8", "replace").replace("\r\n", "\n").split("\n"), 0, within) or 0
        return self._shown(side, item.path, item.sha256, line + 1, 1)


def _own_file(plan: Plan) -> tuple[str, str]:
    """Path and SHA-256 of the plan's own source; plans of hand-made provenance may have neither."""
    provenance = plan.provenance
    own = next((item for item in provenance.source_read_set if item.ref == provenance.ref), None)
    return (provenance.ref, "") if own is None else (own.path, own.sha256)


def _read(path: str, ref: str, raw: bytes | None) -> Document | None:
    """The document that the source's front end makes of ``raw``; findings were shown when it was compiled."""
    if raw is None:
        return None
    from akmc_grammar.diagnostics import Sink
    from akmc_grammar.source import SourceText

    source = SourceText.of(path, raw)
    if path.endswith(".md"):
        from akmc_grammar.markdown import read_markdown

        return read_markdown(source, ref=ref, sink=Sink())
    from akmc_grammar.yaml_workflow import read_yaml_workflow

    return read_yaml_workflow(source, ref=ref, sink=Sink())


def _written(
    document: Document, step: Step | None, parts: list[str], within: Within, *, own: bool
) -> tuple[int, int] | None:
    from akmc.diff.written import key_span

    for keys in own_keys(step, parts) if own and step is not None else source_keys(step, parts):
        # a variable that the step does not set may be set by its task
        least = len(within.keys) if own and parts == ["unit", "env"] else 0
        for size in range(len(within.keys), least - 1, -1):
            path = (*keys, *within.keys[:size])
            span = key_span(document, path)
            if span is None:
                continue
            if within.line is not None and keys[-1] in ("instructions", "rubric"):
                line = _line_of(document.source.lines, span.line, within)
                return (span.line, span.column) if line is None else (line + 1, 1)
            return span.line, span.column
    return None


def _line_of(lines: list[str], start: int, within: Within) -> int | None:
    """The index of a text's line in a file, the text beginning at the first line after ``start`` that is not blank."""
    while start < len(lines) and not lines[start].strip():
        start += 1
    at = start + (within.line or 0)
    if at < len(lines) and lines[at] == within.text:
        return at
    return next((index for index in range(start, len(lines)) if lines[index] == within.text), None)


def _spanned(plan: Plan, step: Step | None, parts: list[str]) -> tuple[int, int] | None:
    """The nearest of the plan's own spans."""
    if step is None:
        return None
    own = f"steps.{step.index}"
    prose = parts[:2] in (["unit", "instructions"], ["unit", "target"]) and parts[-1] in ("instructions", "prompt")
    wanted = [f"{own}.gate"] if parts[:1] == ["gate"] else [f"{own}.section"] if prose else []
    spans = plan.provenance.spans
    return next(((spans[key][0], spans[key][1]) for key in (*wanted, own) if key in spans), None)
