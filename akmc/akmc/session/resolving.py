"""The one place where symbolic places become lines and columns, and where findings are sorted and deduplicated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from akmc.render.finding import Finding, FoundEdit, FoundFix, FoundNote
from akmc_grammar.diagnostics import Diagnostic, Fix
from akmc_grammar.places import Place, Span
from akmc_grammar.source import SourceText
from akmc_passes.contract import Readable

START = Span(1, 1, 1, 1)


class Resolver(Struct, frozen=True):
    """``documents`` and ``sources`` by the name under which people see the file."""

    documents: Mapping[str, Readable]
    sources: Mapping[str, SourceText]

    def finding(self, diagnostic: Diagnostic) -> Finding:
        """``diagnostic`` with every place resolved."""
        place = diagnostic.place
        return Finding(
            rule=diagnostic.rule,
            message=diagnostic.message,
            path=place.file,
            span=self.span(place),
            notes=tuple(self._note(note.message, note.place) for note in diagnostic.notes),
            help=diagnostic.help,
            fix=self._fix(diagnostic.fix),
            source=self.sources.get(place.file),
        )

    def span(self, place: Place) -> Span:
        """The place's own span, else what its document says, else the start of the file."""
        if place.span is not None:
            return place.span
        document = self.documents.get(place.file)
        return START if document is None else document.locator.span(place)

    def _note(self, message: str, place: Place | None) -> FoundNote:
        if place is None:
            return FoundNote(message)
        return FoundNote(message, place.file, self.span(place), self.sources.get(place.file))

    def _fix(self, fix: Fix | None) -> FoundFix | None:
        if fix is None:
            return None
        edits = tuple(FoundEdit(self.span(edit.place), edit.text) for edit in fix.edits)
        return FoundFix(fix.title, edits, fix.safe, fix.rename)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Sorted by path, line, column and code; of findings that say the same at the same place, the first."""
    seen: dict[tuple[object, ...], Finding] = {}
    for finding in sorted(findings, key=lambda item: item.sort_key):
        seen.setdefault(finding.sort_key, finding)
    return tuple(seen.values())
