"""A document: one workflow source after its front end has read it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Protocol

from msgspec import Struct

from akmc_grammar.ir import SourceIR
from akmc_grammar.places import Path, Place, Span
from akmc_grammar.source import SourceText


class Locator(Protocol):
    """Turns symbolic places of one file into spans."""

    def span(self, place: Place) -> Span:
        """The span of ``place``; where the path is not there, that of the nearest mapping above it."""


class Allow(Struct, frozen=True):
    """A suppression comment: ``rules`` as written, on ``line`` (it covers that line and the next).

    ``misspelt`` says that the comment is almost one: it allows nothing, and its author thinks that it does.
    """

    rules: tuple[str, ...]
    line: int
    span: Span
    misspelt: bool = False


def above(paths: Iterable[Path]) -> frozenset[Path]:
    """Every path that lies above one of ``paths``."""
    return frozenset(path[:size] for path in paths for size in range(len(path)))


class Document(Struct, frozen=True, dict=True):
    """What a front end leaves: the IR (``None`` when nothing could be read), places and suppressions.

    ``poisoned`` holds the IR paths that could not be read: nothing below them is reported again.
    ``ref`` is the canonical ref (``workflows/x``), empty outside a bundle.
    """

    source: SourceText
    ref: str
    ir: SourceIR | None
    poisoned: frozenset[Path]
    locator: Locator
    allows: tuple[Allow, ...]

    def is_poisoned(self, path: Path) -> bool:
        """Whether ``path`` or anything above it could not be read."""
        return bool(self.poisoned) and any(path[:size] in self.poisoned for size in range(len(path) + 1))

    @cached_property
    def above_poisoned(self) -> frozenset[Path]:
        """Paths of which something below could not be read."""
        return above(self.poisoned)
