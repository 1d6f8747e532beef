"""What a program comes to, said a second time: routes, skips, map folding and exports, written for reading.

A straight reading of spec 3, section 3, without concurrency, retries, resumes or a journal, sharing no code with the
interpreter. It judges the small typed programs of ``programs``; ``run`` gives the outcome that ``akm-run --json`` has to
show.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from programs import Each, Program, Say, Turn


class Failure(Exception):
    """A step cannot go on; the text is its failure reason."""


@dataclass
class Outcome:
    """``steps`` goes from id to (status, reason, artifact); steps that were not reached are pending."""

    status: str = "completed"
    steps: dict[str, tuple[str, str | None, Any]] = field(default_factory=dict)
    outputs: dict[str, Any] | None = None


def run(program: Program) -> Outcome:
    """The outcome of a fresh run of ``program``."""
    outcome = Outcome(steps={step.id: ("pending", None, None) for step in program.steps})
    artifacts: dict[str, Any] = {}
    targets = {target for step in program.steps if isinstance(step, Turn) for target in step.targets}
    selected: set[str] = set()
    for step in program.steps:
        if step.id in targets - selected:
            outcome.steps[step.id] = ("skipped", None, None)
            continue
        try:
            if isinstance(step, Turn):
                selected.add(branch(step, artifacts))
            else:
                artifacts[step.id] = artifact(step, artifacts)
        except Failure as failure:
            outcome.steps[step.id] = ("failed", str(failure), None)
            outcome.status = "failed"
            return outcome
        outcome.steps[step.id] = ("completed", None, artifacts.get(step.id))
    try:
        outcome.outputs = {name: needed(read, artifacts) for name, read in program.outputs.items()}
    except Failure:  # the completion is rolled back: the run stays active, its last step pending
        outcome.status = "active"
        outcome.steps[program.steps[-1].id] = ("pending", None, None)
    return outcome


def artifact(step: Say | Each, artifacts: dict[str, Any]) -> Any:
    """What a unit or map step promotes."""
    for read in step.inputs:
        resolve(read, artifacts)  # a missing one is null; a walk through the wrong kind fails
    if isinstance(step, Say):
        if step.fails and step.on_error == "fail":
            raise Failure("non_zero_exit")
        return None if step.fails else step.value
    items = needed(step.over, artifacts)
    if not isinstance(items, list):
        raise Failure("not_an_array")
    if any(item is None for item in items):
        raise Failure("null_item")
    failed = [canonical(item) in map(canonical, step.fails) for item in items]
    if any(failed) and step.on_error == "fail":
        raise Failure("non_zero_exit")
    slots = [None if bad else item for item, bad in zip(items, failed, strict=True)]
    return slots if step.reducer == "collect" else vote(slots)


def vote(slots: list[Any]) -> Any:
    """The most frequent value; nothing to vote on is null, a tie or no success a failure."""
    counts = Counter(canonical(slot) for slot in slots if slot is not None)
    if not slots:
        return None
    if not counts:
        raise Failure("vote_no_success")
    (first, most), *others = counts.most_common()
    if others and others[0][1] == most:
        raise Failure("vote_tie")
    return json.loads(first)


def branch(step: Turn, artifacts: dict[str, Any]) -> str:
    """The step that a route selects."""
    value = needed(step.input, artifacts)
    if isinstance(value, dict | list):
        raise Failure("wrong_kind")
    text = value if isinstance(value, str) else canonical(value)
    target = dict(step.when).get(text, step.default)
    if target is None:
        raise Failure("no_branch")
    return target


def needed(read: str, artifacts: dict[str, Any]) -> Any:
    """What a reference reads, where null is a failure."""
    value = resolve(read, artifacts)
    if value is None:
        raise Failure("null_reference")
    return value


def resolve(read: str, artifacts: dict[str, Any]) -> Any:
    """What a reference reads; null for a skipped or empty producer and for what is not there."""
    head, *path = re.findall(r"[\w-]+", read.removeprefix("steps.").replace(".output", "", 1))
    value = artifacts.get(head)
    for part in path:
        if value is None:
            return None
        if part.isdigit():
            if not isinstance(value, list):
                raise Failure("wrong_kind")
            value = value[int(part)] if int(part) < len(value) else None
        elif isinstance(value, dict):
            value = value.get(part)
        else:
            raise Failure("wrong_kind")
    return value


def canonical(value: Any) -> str:
    """A JSON value as text; equal values have equal texts (the programs have no numbers but integers)."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
