"""Which step of the old plan is which step of the new one.

Ids decide; of what is left, a step that does the same under another id is a rename. Moves are the matched steps
outside the longest run that kept its order.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import msgspec
from msgspec import UNSET

from akm_schemas.canonical import canonical_text
from akm_schemas.plan import CommandTarget, ExecTarget, Plan, Step

_ALIKE: Final = 0.6
_MAX_COMPARED: Final = 32  # unmatched steps per side; beyond this only exact renames are looked for
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Matching:
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


@dataclass(frozen=True, slots=True)
class _Candidate:
    """An unmatched step: what it is without id and position, and its words (none when only equal ones count)."""

    bare: Step
    words: Counter[str]


def _renamed(removed: Sequence[Step], added: Sequence[Step]) -> list[tuple[Step, Step]]:
    by_words = max(len(removed), len(added)) <= _MAX_COMPARED
    olds, news = ([_candidate(step, by_words=by_words) for step in steps] for steps in (removed, added))
    scores = [
        (-score, left, right)
        for left, before in enumerate(olds)
        for right, after in enumerate(news)
        if (score := _likeness(before, after)) >= _ALIKE
    ]
    taken: tuple[set[int], set[int]] = (set(), set())
    found: list[tuple[Step, Step]] = []
    for _, left, right in sorted(scores):
        if left not in taken[0] and right not in taken[1]:
            taken[0].add(left)
            taken[1].add(right)
            found.append((removed[left], added[right]))
    return found


def _candidate(step: Step, *, by_words: bool) -> _Candidate:
    return _Candidate(msgspec.structs.replace(step, id="", index=0), _words(step) if by_words else Counter())


def _likeness(old: _Candidate, new: _Candidate) -> float:
    """1 for steps that differ in id and position at most, else the share of words that they have in common."""
    if old.bare.kind != new.bare.kind:
        return 0.0
    if old.bare == new.bare:
        return 1.0
    total = old.words.total() + new.words.total()
    return 0.99 * 2 * (old.words & new.words).total() / total if total else 0.0


def _words(step: Step) -> Counter[str]:
    """What identifies a step to its author, word by word: the instructions, and what the target runs.

    Likeness is the share of common words (Dice), which is linear; an edit distance over long prose is not.
    """
    if step.unit is UNSET:
        route = "" if step.route is UNSET else canonical_text(msgspec.to_builtins(step.route))
        return Counter(_WORD.findall(route))
    target = step.unit.target
    parts = [type(target).__name__, step.unit.instructions]
    if isinstance(target, CommandTarget) and target.prompt is not UNSET:
        parts = [parts[0], target.prompt]
    elif isinstance(target, ExecTarget):
        parts += target.command
    elif not isinstance(target, CommandTarget):
        parts.append(target.ref)
    return Counter(word for part in parts for word in _WORD.findall(part))


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
