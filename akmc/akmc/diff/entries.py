"""Changes as a person reads them: by what they are about, the same change of several steps once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from akmc.diff.model import CLASSES, Change, ChangeClass, Summary

_CHILD: Final = ["unit", "target", "frozenPlan"]
_ASPECTS: Final = (("gate",), ("unit", "output"), ("output",), ("map",), ("route",))
_WORDS: Final = {("gate",): "gate", ("unit", "output"): "output of one unit", ("map",): "map", ("route",): "route"}
_OF_ASSETS: Final = ("unit.target.prompt", "unit.target.bytes")
_PROMPTERS: Final = (["unit", "target"], ["gate", "judge"])  # both speak to engines that one config names
_FROM_CONFIG: Final = ("engine", "model", "llm")
_SHOWN: Final = 6


@dataclass(frozen=True, slots=True)
class Subject:
    """``what`` is ``step``, ``param``, ``output`` or a part of the run; ``names`` the ids from the root plan inwards."""

    what: str
    names: tuple[str, ...] = ()
    aspect: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One change, and everything that it is about when several steps changed alike."""

    change: Change
    subjects: tuple[Subject, ...]

    @property
    def shown(self) -> tuple[Subject, ...]:
        """The subjects to name."""
        return self.subjects[:_SHOWN]

    @property
    def left_out(self) -> str:
        """``and 3 more``, or nothing."""
        hidden = len(self.subjects) - _SHOWN
        return f"and {hidden} more" if hidden > 0 else ""


def subject_of(path: str) -> Subject:
    """What the change at a path of the plan is about."""
    return _walked(path)[0]


def _walked(path: str) -> tuple[Subject, list[str]]:
    """What the change at a path is about, and the part of it that changed."""
    parts, names = path.split("."), list[str]()
    while parts[0] == "steps":
        names.append(parts[1])
        parts = parts[2:]
        if parts[:3] != _CHILD or len(parts) == 3:
            return Subject("step", tuple(names), _aspect(parts)), parts
        parts = parts[3:]
    if parts[0] in ("params", "outputs"):
        return Subject(parts[0].removesuffix("s"), (*names, parts[1])), parts
    return Subject("workflow" if parts[0] == "workflow" else "run", tuple(names)), parts


def _aspect(parts: Sequence[str]) -> str:
    found = next((prefix for prefix in _ASPECTS if tuple(parts[: len(prefix)]) == prefix), ())
    return _WORDS.get(found, " ".join(found))


def entries(changes: Sequence[Change]) -> dict[ChangeClass, list[Entry]]:
    """The changes of each class that has any, the most dangerous class first."""
    found: dict[tuple[str, str, str, str], list[tuple[Change, Subject]]] = {}
    for change in changes:
        subject, parts = _walked(change.path)
        tail = ".".join(parts[2:] if parts[:2] in _PROMPTERS and parts[2:3] and parts[2] in _FROM_CONFIG else parts)
        shared = tail if subject.what == "step" else subject.what == "run" and parts != ["contentHash"]
        whose = "" if shared and change.prose is UNSET else change.path
        if tail in _OF_ASSETS:  # texts of several steps are one change when they came from one file
            whose = repr((change.place, change.prose))
        found.setdefault((change.class_, tail, change.message, whose), []).append((change, subject))
    rows = [Entry(group[0][0], tuple(subject for _, subject in group)) for group in found.values()]
    return {name: own for name in CLASSES if (own := [row for row in rows if row.change.class_ == name])}


def told(changes: Sequence[Change]) -> Summary:
    """How many entries of each class a person reads."""
    return summary_of(entries(changes))


def summary_of(classes: Mapping[ChangeClass, Sequence[Entry]]) -> Summary:
    """How many entries each class has."""
    return Summary(**{name: len(rows) for name, rows in classes.items()})
