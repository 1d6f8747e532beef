"""Workflows under another path: which new one does what a deleted one did, or nearly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from akm_schemas.plan import Plan
from akmc.diff.matching import likeness, match_steps

_ALIKE: Final = 0.6
_MAX_PAIRS: Final = 1_024  # compared for likeness; beyond, only those that do the same are found


def moved(gone: Mapping[str, Plan], came: Mapping[str, Plan]) -> dict[str, str]:
    """The path of a new workflow to that of a deleted one, each at most once: the same ``contentHash`` first, then those
    whose steps are most alike."""
    by_hash = {plan.content_hash: path for path, plan in sorted(gone.items(), reverse=True)}
    found: dict[str, str] = {}
    for path, plan in sorted(came.items()):
        old = by_hash.pop(plan.content_hash, None)
        if old is not None:
            found[path] = old
    olds = sorted(set(gone) - set(found.values()))
    news = sorted(set(came) - set(found))
    if len(olds) * len(news) > _MAX_PAIRS:
        return found
    scores = sorted((-_likeness(gone[old], came[new]), old, new) for old in olds for new in news)
    for score, old, new in scores:
        if -score >= _ALIKE and new not in found and old not in found.values():
            found[new] = old
    return found


def _likeness(old: Plan, new: Plan) -> float:
    """The share (Dice) of the steps that are in both, each as far as its two versions are alike."""
    pairs = match_steps(old, new).pairs
    total = len(old.steps) + len(new.steps)
    return 2 * sum(likeness(before, after) for before, after in pairs) / total if total else 0.0
