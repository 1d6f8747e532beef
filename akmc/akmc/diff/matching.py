"""Which step of the old plan is which step of the new one.

Ids decide; of what is left, a step that does the same under another id is a rename. Moves are the matched steps
outside the longest run that kept its order.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import UNSET, Struct

from akm_schemas.canonical import canonical_text
from akm_schemas.plan import CommandTarget, ExecTarget, Plan, Step

_ALIKE: Final = 0.6
_MAX_COMPARED: Final = 32  # unmatched steps per side whose pairs are all compared, and steps that share a line
_WORD: Final = re.compile(r"\w+")


class Matching(Struct, frozen=True):
    """``pairs`` in new order, ``removed`` in old order, ``added`` in new order, ``moved`` ids of new steps."""

    pairs: tuple[tuple[Step, Step], ...]
    removed: tuple[Step, ...]
    added: tuple[Step, ...]
    moved: frozenset[str]

    @property
    def renames(self) -> dict[str, str]:
        """Old id to new id of every renamed step."""
        return {old.id: new.id for old, new in self.pairs if old.id != new.id}


def match_steps(old: Plan, new: Plan) -> Matching:
    """Match the steps of two plans."""
    by_id = {step.id: step for step in old.steps}
    found = {step.id: by_id.pop(step.id) for step in new.steps if step.id in by_id}
    removed = list(by_id.values())
    added = [step for step in new.steps if step.id not in found]
    for before, after in _renamed(removed, added):
        found[after.id] = before
        removed.remove(before)
    pairs = tuple((found[step.id], step) for step in new.steps if step.id in found)
    left = tuple(step for step in added if step.id not in found)
    return Matching(pairs, tuple(removed), left, _moved(pairs))


class _Candidate(Struct, frozen=True):
    """An unmatched step: what it is without id and position, the hashes of its lines, and its words."""

    bare: Step
    lines: frozenset[int]
    words: Counter[str]


def likeness(old: Step, new: Step) -> float:
    """1 for steps that differ in id and position at most, else how much of their texts they have in common."""
    return _likeness(_candidate(old), _candidate(new))


def _renamed(removed: Sequence[Step], added: Sequence[Step]) -> list[tuple[Step, Step]]:
    """Pairs of unmatched steps that are most alike, each step in one pair at most."""
    if not removed or not added:
        return []
    olds, news = (list(map(_candidate, steps)) for steps in (removed, added))
    scores = [
        (-score, left, right)
        for left, right in _worth_comparing(olds, news)
        if (score := _likeness(olds[left], news[right])) >= _ALIKE
    ]
    taken: tuple[set[int], set[int]] = (set(), set())
    found: list[tuple[Step, Step]] = []
    for _, left, right in sorted(scores):
        if left not in taken[0] and right not in taken[1]:
            taken[0].add(left)
            taken[1].add(right)
            found.append((removed[left], added[right]))
    return found


def _worth_comparing(olds: Sequence[_Candidate], news: Sequence[_Candidate]) -> Iterator[tuple[int, int]]:
    """All pairs of a few steps; of many, those that share a line which few others have."""
    if max(len(olds), len(news)) <= _MAX_COMPARED:
        yield from ((left, right) for left in range(len(olds)) for right in range(len(news)))
        return
    having: dict[int, list[int]] = {}
    for left, old in enumerate(olds):
        for line in old.lines:
            having.setdefault(line, []).append(left)
    for right, new in enumerate(news):
        near = {left for line in new.lines for left in _few(having.get(line, []))}
        yield from ((left, right) for left in sorted(near))


def _few(lefts: list[int]) -> list[int]:
    return lefts if len(lefts) <= _MAX_COMPARED else []


def _candidate(step: Step) -> _Candidate:
    texts = list(_texts(step))
    bare = msgspec.structs.replace(step, id="", index=0)
    lines = {line.strip() for text in texts for line in text.split("\n")} - {""}
    whole = canonical_text(msgspec.to_builtins(bare))
    words = Counter(word for text in texts for word in _WORD.findall(text))
    return _Candidate(bare, frozenset(map(hash, (*lines, whole))), words)


def _likeness(old: _Candidate, new: _Candidate) -> float:
    """1 for steps that differ in id and position at most, else the share of lines or words that they have in common.

    Shares (Dice) are linear in the texts; an edit distance over long prose is not.
    """
    if old.bare.kind != new.bare.kind:
        return 0.0
    if old.bare == new.bare:
        return 1.0
    lines = len(old.lines) + len(new.lines)
    words = old.words.total() + new.words.total()
    by_line = 2 * len(old.lines & new.lines) / lines if lines else 0.0
    by_word = 2 * (old.words & new.words).total() / words if words else 0.0
    return 0.99 * max(by_line, by_word)


def _texts(step: Step) -> Iterator[str]:
    """What identifies a step to its author: the instructions, and what the target runs."""
    if step.unit is UNSET:
        yield "" if step.route is UNSET else canonical_text(msgspec.to_builtins(step.route))
        return
    target = step.unit.target
    yield type(target).__name__
    if isinstance(target, CommandTarget):
        yield step.unit.instructions if target.prompt is UNSET else target.prompt
        return
    yield step.unit.instructions
    if isinstance(target, ExecTarget):
        yield from target.command
    else:
        yield target.ref


def _moved(pairs: Sequence[tuple[Step, Step]]) -> frozenset[str]:
    """Patience: the longest increasing subsequence of old positions stayed, the rest moved."""
    ends: list[int] = []
    last: list[int] = []
    previous: list[int] = []
    for position, (old, _) in enumerate(pairs):
        at = bisect_left(ends, old.index)
        previous.append(last[at - 1] if at else -1)
        ends[at : at + 1] = [old.index]
        last[at : at + 1] = [position]
    stayed: set[int] = set()
    position = last[-1] if last else -1
    while position >= 0:
        stayed.add(position)
        position = previous[position]
    return frozenset(new.id for position, (_, new) in enumerate(pairs) if position not in stayed)
