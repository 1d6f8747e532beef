"""What a picture of a plan shows, before anything has a place.

All texts are raw: they may hold anything a plan may hold, and each writer escapes them for its own format.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Tone: TypeAlias = Literal["good", "bad", "warn", "busy", "quiet"]
Kind: TypeAlias = Literal["exec", "prompt", "script", "child workflow", "route"]


@dataclass(frozen=True, slots=True)
class Mark:
    """What is said about a step beside what it is: a status of a run, or a difference.

    ``word`` is shown, so that no meaning rests on the colour of ``tone`` alone; ``notes`` are lines of the step's box.
    ``gone``: the step is not there any more, which a broken border says. ``label`` stands before the notes, the word
    where it is empty.
    """

    word: str
    tone: Tone
    notes: tuple[str, ...] = ()
    gone: bool = False
    label: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One fact, ``name`` in a word of the language. Those that are not ``brief`` stand in the page alone."""

    name: str
    text: str
    brief: bool = True


@dataclass(frozen=True, slots=True)
class Prose:
    """A text of several lines, shown by the page alone."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Arc:
    """A route from one node to a later one, as indexes into the scene; ``label`` are the matches that lead there."""

    source: int
    target: int
    label: str
    mark: Mark | None = None

    @property
    def text(self) -> str:
        """The label behind the mark's word."""
        return self.label if self.mark is None else f"{self.mark.word} {self.label}"


@dataclass(frozen=True, slots=True)
class Node:
    """One step. ``key`` is its id behind those of the composing steps: ``build/test``.

    ``optional``: some run can skip it. ``child`` is what a composed workflow holds.
    """

    key: str
    id: str
    kind: Kind
    mapped: bool
    optional: bool
    lines: tuple[Line, ...]
    prose: tuple[Prose, ...]
    child: Scene | None = None
    mark: Mark | None = None

    @property
    def label(self) -> str:
        """The kind in words: ``map of exec``."""
        return f"map of {self.kind}" if self.mapped else self.kind


@dataclass(frozen=True, slots=True)
class Scene:
    """A whole plan: the spine in order, the routes beside it, and what stands above and below."""

    title: str
    ref: str
    head: tuple[Line, ...]
    nodes: tuple[Node, ...]
    arcs: tuple[Arc, ...]
    foot: tuple[Line, ...]

    def deep(self) -> int:
        """The number of steps, those of composed workflows included."""
        return len(self.nodes) + sum(node.child.deep() for node in self.nodes if node.child is not None)
