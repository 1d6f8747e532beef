"""What a renderer gets: findings with every place resolved to lines and columns."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from akmc_grammar.places import Span
from akmc_grammar.rules import Rule
from akmc_grammar.source import SourceText


class FoundNote(Struct, frozen=True):
    """A secondary message; ``path`` and ``span`` are ``None`` when it has no place of its own."""

    message: str
    path: str | None = None
    span: Span | None = None
    source: SourceText | None = None


class FoundEdit(Struct, frozen=True):
    """Replace the text of ``span`` (in the finding's file, normalised text) by ``text``."""

    span: Span
    text: str


class FoundFix(Struct, frozen=True):
    """A safe or unsafe way to mend a finding; ``rename`` is the file's new name instead of edits."""

    title: str
    edits: tuple[FoundEdit, ...]
    safe: bool
    rename: str | None = None


class Finding(Struct, frozen=True):
    """One finding, ready to be shown. ``source`` is ``None`` when the file could not be read."""

    rule: Rule
    message: str
    path: str
    span: Span
    notes: tuple[FoundNote, ...] = ()
    help: str | None = None
    fix: FoundFix | None = None
    source: SourceText | None = None

    @property
    def fixable(self) -> bool:
        """Whether ``--fix`` would mend it."""
        return self.fix is not None and self.fix.safe

    @property
    def sort_key(self) -> tuple[Any, ...]:
        """Path, line, column, code; then the message, so that the order is total."""
        return (self.path, self.span.line, self.span.column, self.rule.code, self.message)


class Report(Struct, frozen=True):
    """All findings of one run, sorted, and how many files were checked and fixes applied.

    ``paths`` are the checked files as shown; ``strict`` says that warnings count as failures.
    """

    findings: tuple[Finding, ...]
    paths: tuple[str, ...]
    fixed: int = 0
    strict: bool = False

    def count(self, severity: str) -> int:
        """Number of findings of ``severity``."""
        return sum(finding.rule.severity == severity for finding in self.findings)

    @property
    def failed(self) -> bool:
        """Whether the findings make the check fail: errors always, warnings under ``strict``."""
        return self.count("error") > 0 or (self.strict and self.count("warning") > 0)
