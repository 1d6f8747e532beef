"""What ``akm-run --reuse`` would do, as lines of text: steps that follow each other with one verdict share a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from akm_schemas.counting import counted
from akmc.diff.model import StepReuse
from akmc.render.escape import visible

_FEWEST = 3  # two lines are as easily read as one that stands for both


def reuse_lines(steps: Sequence[StepReuse]) -> Iterator[str]:
    """``  scan  reused   nothing that it depends on changed``; ``first to last (N steps)`` for steps that are told alike.

    A composed workflow has lines of its own: its steps (``kid/inner``) share none with those around it.
    """
    rows = [row for _, told in groupby(steps, _alike) for row in _rows(list(told))]
    width = max((len(who) for who, _ in rows), default=0)
    for who, step in rows:
        yield f"  {who:<{width}}  {step.reuse:<7}  {visible(step.why)}"


def _alike(step: StepReuse) -> tuple[str, str, str]:
    return step.id.rpartition("/")[0], step.reuse, step.why


def _rows(told: list[StepReuse]) -> Iterator[tuple[str, StepReuse]]:
    if len(told) < _FEWEST:
        yield from ((step.id, step) for step in told)
    else:
        yield f"{told[0].id} to {told[-1].id} ({counted(len(told), 'step')})", told[0]
