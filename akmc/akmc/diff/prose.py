"""Texts line by line, with the changed words marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Final

from akmc.diff.model import ProseLine

_CONTEXT: Final = 1
_MAX_LINE_PAIRS: Final = 4_000_000  # difflib is quadratic; beyond this the middle is shown as removed and added
_MAX_WORDS: Final = 400
_ALIKE: Final = 0.35  # below this, marking words would mark nearly all of them
_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]")


def prose_diff(old: str, new: str) -> list[ProseLine]:
    """The lines of ``old`` and ``new`` with one line of context; empty when the texts are equal."""
    if old == new:
        return []
    before, after = old.split("\n"), new.split("\n")
    lines: list[ProseLine] = []
    for op, left, right in _hunks(before, after):
        lines += [ProseLine(op="=", text=line) for line in left] if op == "equal" else _replaced(left, right)
    return _with_context(lines)


def _hunks(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    start = 0
    while start < min(len(before), len(after)) and before[start] == after[start]:
        start += 1
    end = 0
    while end < min(len(before), len(after)) - start and before[-1 - end] == after[-1 - end]:
        end += 1
    left, right = before[start : len(before) - end], after[start : len(after) - end]
    yield "equal", before[:start], after[:start]
    if len(left) * len(right) > _MAX_LINE_PAIRS:
        yield "replace", left, right
    else:
        for op, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
            yield ("equal" if op == "equal" else "replace"), left[a:b], right[c:d]
    yield "equal", before[len(before) - end :], after[len(after) - end :]


def _replaced(left: Sequence[str], right: Sequence[str]) -> list[ProseLine]:
    lines: list[ProseLine] = []
    paired = min(len(left), len(right))
    for old, new in zip(left, right, strict=False):
        marks = _word_marks(old, new)
        lines.append(ProseLine(op="-", text=old, marks=marks[0]))
        lines.append(ProseLine(op="+", text=new, marks=marks[1]))
    lines += [ProseLine(op="-", text=line) for line in left[paired:]]
    lines += [ProseLine(op="+", text=line) for line in right[paired:]]
    return lines


def _word_marks(old: str, new: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    before, after = _WORD.findall(old), _WORD.findall(new)
    if max(len(before), len(after)) > _MAX_WORDS:
        return [], []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return [], []
    ends_before, ends_after = _ends(before), _ends(after)
    marks: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for op, a, b, c, d in matcher.get_opcodes():
        if op == "equal":
            continue
        if b > a:
            marks[0].append((ends_before[a], ends_before[b]))
        if d > c:
            marks[1].append((ends_after[c], ends_after[d]))
    return marks


def _ends(words: Sequence[str]) -> list[int]:
    """Offsets of the word boundaries: ``n + 1`` numbers for ``n`` words."""
    ends = [0]
    for word in words:
        ends.append(ends[-1] + len(word))
    return ends


def _with_context(lines: Sequence[ProseLine]) -> list[ProseLine]:
    shown = [False] * len(lines)
    for index, line in enumerate(lines):
        if line.op != "=":
            for near in range(max(0, index - _CONTEXT), min(len(lines), index + _CONTEXT + 1)):
                shown[near] = True
    kept: list[ProseLine] = []
    hidden = 0
    for line, visible in zip(lines, shown, strict=True):
        if visible and hidden:
            kept.append(_left_out(hidden))
            hidden = 0
        if visible:
            kept.append(line)
        else:
            hidden += 1
    return [*kept, _left_out(hidden)] if hidden else kept


def _left_out(count: int) -> ProseLine:
    return ProseLine(op="~", text=f"{count} equal line{'s' if count > 1 else ''}")
