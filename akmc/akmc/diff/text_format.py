"""A comparison as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import UNSET, Struct

from akmc.diff.entries import Entry, Subject, entries, summary_of
from akmc.diff.model import CLASSES, Change, ChangeClass, PlanDiff, ProseLine, StepReuse, Summary
from akmc.diff.reuse_lines import reuse_lines
from akmc.render.escape import visible

_CODES: Final = {
    "breaking": "1;31",
    "security": "1;35",
    "behaviour": "1;33",
    "provenance": "2",
    "-": "31",
    "+": "32",
    "~": "2",
}
_WIDTH: Final = max(map(len, CLASSES))
_MARKS: Final = {"-": ("[-", "-]"), "+": ("{+", "+}")}
_NOTHING: Final = "no change in behaviour"


def summary_line(diff: PlanDiff) -> str:
    """One line without its end: ``the plans are equal``, or how many changes of which class, one of several steps once."""
    return _headline(diff, entries(diff.changes))


def _headline(diff: PlanDiff, classes: Mapping[ChangeClass, Sequence[Entry]]) -> str:
    return "the plans are equal" if diff.equal else counts(summary_of(classes))


def counts(summary: Summary) -> str:
    """``2 breaking, 1 behaviour``: the classes that have changes."""
    numbers = [(getattr(summary, name), name) for name in CLASSES]
    said = ", ".join(f"{count} {name}" for count, name in numbers if count)
    return f"{_NOTHING} ({said})" if summary == Summary(provenance=summary.provenance) and said else said or _NOTHING


def text_format(diff: PlanDiff, old: str, new: str, *, color: bool) -> str:
    """The changes by class, then what ``akm-run --reuse`` would do; ``old`` and ``new`` are the sides as named."""
    rows = entries(diff.changes)
    return "\n".join([f"{visible(old)} -> {visible(new)}: {_headline(diff, rows)}", *_body(diff, rows, color)]) + "\n"


def body_lines(diff: PlanDiff, *, color: bool) -> Iterator[str]:
    """Everything below the headline."""
    return _body(diff, entries(diff.changes), color)


def _body(diff: PlanDiff, classes: Mapping[ChangeClass, Sequence[Entry]], color: bool) -> Iterator[str]:
    paint = _Painter(color)
    for rows in classes.values():
        for row in rows:
            yield ""
            yield from _entry_lines(row, paint)
    if diff.changes and diff.steps:
        yield from ("", "akm-run --reuse would treat the finished units of an old run so:")
        yield from reuse_lines(diff.steps)


def reuse_counts(steps: list[StepReuse]) -> str:
    """``2 steps dispatched again, 1 depends, 5 reused``."""
    words = {"again": "dispatched again", "depends": "taken over on a condition", "reused": "taken over"}
    numbers = {word: sum(step.reuse == name for step in steps) for name, word in words.items()}
    return ", ".join(f"{count} {word}" for word, count in numbers.items() if count)


class _Painter(Struct, frozen=True):
    """Wraps pieces of text in SGR sequences, or leaves them alone."""

    color: bool

    def __call__(self, kind: str, text: str) -> str:
        return f"\x1b[{_CODES[kind]}m{text}\x1b[0m" if self.color else text


def subject_text(subject: Subject) -> str:
    """``step kid > inner (gate)``, ``param mode``, ``run``."""
    names = " > ".join(map(visible, subject.names))
    return " ".join(filter(None, (subject.what, names, f"({subject.aspect})" if subject.aspect else "")))


def _entry_lines(entry: Entry, paint: _Painter) -> Iterator[str]:
    change = entry.change
    label = paint(change.class_, f"{change.class_:<{_WIDTH}}")
    about = ", ".join(map(subject_text, entry.shown)) + (f" {entry.left_out}" if entry.left_out else "")
    yield f"{label}  {about}: {visible(change.message)}"
    if change.place is not UNSET:
        yield f"  --> {place_text(change)}"
    if change.prose is not UNSET:
        yield from (f"  {_prose_line(line, paint)}".rstrip() for line in change.prose)


def place_text(change: Change) -> str:
    """``workflows/a.md:7:5``, with the old place behind it when it is another one."""
    place, old = change.place, change.old_place
    assert place is not UNSET
    text = f"{visible(place.file)}:{place.line}:{place.column}"
    if place.side == "old":
        return f"{text} (old)"
    if old is UNSET or (old.file, old.line, old.column) == (place.file, place.line, place.column):
        return text
    where = f"{old.line}:{old.column}" if old.file == place.file else f"{visible(old.file)}:{old.line}:{old.column}"
    return f"{text} (was {where})"


def _prose_line(line: ProseLine, paint: _Painter) -> str:
    if line.op == "~":
        return paint("~", f"  ... {line.text}")
    if line.op == "=":
        return f"  {visible(line.text)}".rstrip()
    return paint(line.op, f"{line.op} {marked(line, *_MARKS[line.op])}".rstrip())


def marked(line: ProseLine, before: str, after: str) -> str:
    """The line with each changed run of words between ``before`` and ``after``."""
    text = line.text
    if not line.marks:
        return visible(text)
    escape = str if visible(text) == text else visible  # most lines need no escapes, and then no piece does
    parts: list[str] = []
    end = 0
    for start, stop in line.marks:
        parts += [escape(text[end:start]), before, escape(text[start:stop]), after]
        end = stop
    return "".join([*parts, escape(text[end:])])
