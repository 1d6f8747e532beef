"""A comparison as text for a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from akmc.diff.model import CLASSES, Change, PlanDiff, ProseLine, Summary
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


def summary_line(diff: PlanDiff) -> str:
    """One line without its end: ``equal``, or how many changes of which class."""
    return "the plans are equal" if diff.equal else counts(diff.summary)


def counts(summary: Summary) -> str:
    """``2 breaking, 1 behaviour``: the classes that have changes."""
    numbers = ((getattr(summary, name), name) for name in CLASSES)
    return ", ".join(f"{count} {name}" for count, name in numbers if count) or "no changes"


def text_format(diff: PlanDiff, old: str, new: str, *, color: bool) -> str:
    """The changes by class, then what ``akm-run --reuse`` would do; ``old`` and ``new`` are the sides as named."""
    paint = _Painter(color)
    lines = [f"{visible(old)} -> {visible(new)}: {summary_line(diff)}"]
    for change in diff.changes:
        lines += ["", *_change_lines(change, paint)]
    if diff.changes and diff.steps:
        width = max(len(step.id) for step in diff.steps)
        lines += ["", "akm-run --reuse would treat the finished units of an old run so:"]
        lines += [f"  {step.id:<{width}}  {step.reuse:<7}  {visible(step.why)}" for step in diff.steps]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class _Painter:
    """Wraps pieces of text in SGR sequences, or leaves them alone."""

    color: bool

    def __call__(self, kind: str, text: str) -> str:
        return f"\x1b[{_CODES[kind]}m{text}\x1b[0m" if self.color else text


def _change_lines(change: Change, paint: _Painter) -> list[str]:
    label = paint(change.class_, f"{change.class_:<{_WIDTH}}")
    lines = [f"{label}  {visible(change.path)}: {visible(change.message)}"]
    if change.place is not UNSET:
        place = change.place
        lines.append(
            f"  --> {visible(place.file)}:{place.line}:{place.column}" + (" (old)" if place.side == "old" else "")
        )
    if change.prose is not UNSET:
        lines += [f"  {_prose_line(line, paint)}" for line in change.prose]
    return lines


def _prose_line(line: ProseLine, paint: _Painter) -> str:
    if line.op == "~":
        return paint("~", f"  ... {line.text}")
    if line.op == "=":
        return f"  {visible(line.text)}".rstrip()
    return paint(line.op, f"{line.op} {marked(line, *_MARKS[line.op])}".rstrip())


def marked(line: ProseLine, before: str, after: str) -> str:
    """The line with each changed run of words between ``before`` and ``after``."""
    parts: list[str] = []
    end = 0
    for start, stop in line.marks:
        parts += [visible(line.text[end:start]), before, visible(line.text[start:stop]), after]
        end = stop
    return "".join([*parts, visible(line.text[end:])])
