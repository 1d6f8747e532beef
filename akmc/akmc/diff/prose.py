"""Texts line by line, with the changed words marked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from akm_schemas.counting import counted
from akmc.diff.model import ProseLine

_CONTEXT: Final = 1
_WORDS_AROUND: Final = 6
_MAX_LINE_PAIRS: Final = 4_000_000  # difflib is quadratic; beyond this the middle is shown as removed and added
_MAX_WORDS: Final = 400
_ALIKE: Final = 0.35  # below this, marking words would mark nearly all of them
_WORD: Final = re.compile(r"\w+|\s+|[^\w\s]")


def prose_diff(old: str, new: str, *, context: int = _CONTEXT) -> list[ProseLine]:
    """The lines of ``old`` and ``new`` with ``context`` lines around changes; empty when the texts are equal."""
    if old == new:
        return []
    if old.endswith("\n") and new.endswith("\n"):  # the end of the last line is no line of its own
        old, new = old[:-1], new[:-1]
    before, after = old.split("\n"), new.split("\n")
    lines: list[ProseLine] = []
    for op, left, right in _hunks(before, after):
        lines += [ProseLine(op="=", text=line) for line in left] if op == "equal" else _replaced(left, right)
    return _with_context(lines, context)


def lines_changed(prose: Sequence[ProseLine]) -> str:
    """``1 line out, 2 in``."""
    ops = [line.op for line in prose]
    gone, came = ops.count("-"), ops.count("+")
    return f"{counted(gone, 'line')} out, {came} in"


def argv_diff(old: Sequence[str], new: Sequence[str]) -> list[ProseLine]:
    """Two argument vectors as a text, one argument a line; further lines of one argument are indented."""
    texts = ("\n".join(word.replace("\n", "\n  ") for word in words) for words in (old, new))
    return prose_diff(*texts, context=_WORDS_AROUND)


def _hunks(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    start, end = _shared_ends(before, after)
    left, right = before[start : len(before) - end], after[start : len(after) - end]
    yield "equal", before[:start], after[:start]
    if len(left) * len(right) > _MAX_LINE_PAIRS or set(left).isdisjoint(right):
        yield "replace", left, right
    else:
        for op, a, b, c, d in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
            yield ("equal" if op == "equal" else "replace"), left[a:b], right[c:d]
    yield "equal", before[len(before) - end :], after[len(after) - end :]


def _shared_ends(before: Sequence[str], after: Sequence[str]) -> tuple[int, int]:
    """How many items both begin with, and how many of the others both end with."""
    least = min(len(before), len(after))
    start = next((at for at in range(least) if before[at] != after[at]), least)
    rest = least - start
    end = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    return start, end


@lru_cache(maxsize=1024)  # a word that was replaced everywhere changes many lines alike
def _word_marks_of(old: str, new: str) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
    marks = _word_marks(old, new)
    return tuple(marks[0]), tuple(marks[1])


def _replaced(left: Sequence[str], right: Sequence[str]) -> list[ProseLine]:
    lines: list[ProseLine] = []
    paired = min(len(left), len(right))
    for old, new in zip(left, right, strict=False):
        marks = _word_marks_of(old, new)
        lines.append(ProseLine(op="-", text=old, marks=list(marks[0])))
        lines.append(ProseLine(op="+", text=new, marks=list(marks[1])))
    lines += [ProseLine(op="-", text=line) for line in left[paired:]]
    lines += [ProseLine(op="+", text=line) for line in right[paired:]]
    return lines


def _word_marks(old: str, new: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    before, after = _WORD.findall(old), _WORD.findall(new)
    if max(len(before), len(after)) > _MAX_WORDS:
        return [], []
    start, end = _shared_ends(before, after)
    matcher = SequenceMatcher(None, before[start : len(before) - end], after[start : len(after) - end], autojunk=False)
    codes = [(op, start + a, start + b, start + c, start + d) for op, a, b, c, d in matcher.get_opcodes()]
    equal = start + end + sum(b - a for op, a, b, _, _ in codes if op == "equal")
    if 2 * equal < _ALIKE * (len(before) + len(after)):
        return [], []
    ends_before, ends_after = _ends(before), _ends(after)
    marks: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for op, a, b, c, d in codes:
        if op == "equal":
            continue
        if b > a:
            marks[0].append((ends_before[a], ends_before[b]))
        if d > c:
            marks[1].append((ends_after[c], ends_after[d]))
    return _joined(old, marks[0]), _joined(new, marks[1])


def _joined(text: str, marks: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Marks with only blanks between them as one."""
    joined: list[tuple[int, int]] = []
    for start, end in marks:
        if joined and not text[joined[-1][1] : start].strip():
            start = joined.pop()[0]
        joined.append((start, end))
    return joined


def _ends(words: Sequence[str]) -> list[int]:
    """Offsets of the word boundaries: ``n + 1`` numbers for ``n`` words."""
    ends = [0]
    for word in words:
        ends.append(ends[-1] + len(word))
    return ends


def _with_context(lines: Sequence[ProseLine], context: int) -> list[ProseLine]:
    if all(line.op != "=" for line in lines):
        return list(lines)
    shown = [False] * len(lines)
    for index, line in enumerate(lines):
        if line.op != "=":
            for near in range(max(0, index - context), min(len(lines), index + context + 1)):
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
    return ProseLine(op="~", text=counted(count, "equal line"))
