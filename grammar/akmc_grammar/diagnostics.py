"""Diagnostics and the sink that collects them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct, field

from akmc_grammar.places import Place
from akmc_grammar.rules import RULES, Rule

Severity: TypeAlias = Literal["error", "warning", "note"]


class Note(Struct, frozen=True):
    """A secondary place with what it contributes ("first declared here")."""

    message: str
    place: Place | None = None


class Edit(Struct, frozen=True):
    """Replace the text at ``place`` by ``text``."""

    place: Place
    text: str


class Fix(Struct, frozen=True):
    """Edits that mend a finding; only ``safe`` ones are applied by ``--fix``. ``rename`` moves the file instead."""

    title: str
    edits: tuple[Edit, ...] = ()
    safe: bool = True
    rename: str | None = None


class Diagnostic(Struct, frozen=True):
    """One finding: a rule, a place and what to do about it."""

    rule: Rule
    message: str
    place: Place
    notes: tuple[Note, ...] = ()
    help: str | None = None
    fix: Fix | None = None

    @property
    def severity(self) -> Severity:
        """The rule's severity."""
        return self.rule.severity


class Sink(Struct):
    """Collects diagnostics in any order; ``akmc.session`` sorts and deduplicates them in one place."""

    found: list[Diagnostic] = field(default_factory=list)

    def report(
        self,
        rule: str,
        place: Place,
        message: str,
        *,
        notes: Iterable[Note] = (),
        help: str | None = None,
        fix: Fix | None = None,
    ) -> None:
        """Add a finding of the rule named ``rule`` (a ``KeyError`` for an unknown name is a bug)."""
        self.found.append(Diagnostic(RULES[rule], message, place, tuple(notes), help, fix))

    @property
    def has_errors(self) -> bool:
        """Whether any finding so far is an error."""
        return any(item.severity == "error" for item in self.found)
