"""Two plans as one scene: the new plan's steps in order, the removed ones where they stood, all changes marked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from msgspec import UNSET

from akm_schemas.drawing import Arc, Line, Mark, Node, Scene, scene_of
from akm_schemas.plan import ChildTarget, Plan, Step
from akmc.diff.compare import compare_plans
from akmc.diff.matching import Matching, match_steps
from akmc.diff.model import Change

ADDED: Final = Mark("+ added", "good")
REMOVED: Final = Mark("- removed", "bad", gone=True)
CHANGED: Final = Mark("~ changed", "warn")
_CHILD: Final = ["unit", "target", "frozenPlan"]


@dataclass(frozen=True)
class _Said:
    """The messages of a comparison by the key of a step; those of a whole plan by its prefix (empty: the root)."""

    notes: dict[str, list[str]] = field(default_factory=dict)

    def of(self, key: str) -> tuple[str, ...]:
        """All messages of a key."""
        return tuple(self.notes.get(key, ()))


def difference_scene(old: Plan, new: Plan, names: tuple[str, str]) -> Scene:
    """The merged scene; ``names`` are what the person called the two sides."""
    said = _Said()
    for change in compare_plans(old, new).changes:
        for key, note in _keyed(change):
            said.notes.setdefault(key, []).append(note)
    scene = _merged(old, new, "", said)
    head = (*scene.head, *((Line("equal", "the plans do not differ"),) if not said.notes else ()))
    return replace(scene, ref=f"{names[0]} → {names[1]}", head=head)


def _keyed(change: Change) -> Iterator[tuple[str, str]]:
    """The step that a change belongs to, and every step around it."""
    rest = change.path.split(".")
    note = f"{change.class_}: {change.message}"
    prefix = ""
    while len(rest) > 1 and rest[0] == "steps":
        key, rest = prefix + rest[1], rest[2:]
        if rest[:3] != _CHILD or len(rest) == 3:
            yield key, note
            return
        yield key, f"{change.class_}: inside {'.'.join(rest[3:])}: {change.message}"
        prefix, rest = f"{key}/", rest[3:]
    yield prefix, f"{'.'.join(rest)}: {note}"


def _merged(old: Plan, new: Plan, prefix: str, said: _Said) -> Scene:
    matching = match_steps(old, new)
    before, after = scene_of(old, prefix=prefix), scene_of(new, prefix=prefix)
    nodes = {node.id: node for node in after.nodes}
    added = {step.id for step in matching.added}
    for node in after.nodes:
        if node.id in added:
            nodes[node.id] = _all(node, replace(ADDED, notes=said.of(node.key)))
        elif notes := said.of(node.key):
            nodes[node.id] = replace(node, mark=replace(CHANGED, notes=notes))
    for one, other in matching.pairs:
        child = _children(one, other)
        if child is not None:
            inside = _merged(*child, f"{prefix}{other.id}/", said)
            nodes[other.id] = replace(nodes[other.id], child=inside)
    for step in matching.removed:
        node = before.nodes[step.index]
        nodes[step.id] = _all(node, replace(REMOVED, notes=said.of(node.key)))
    order = _order(old, new, matching)
    changes = tuple(Line("changed", note) for note in said.of(prefix))
    return replace(
        after,
        head=(*after.head, *changes),
        nodes=tuple(nodes[name] for name in order),
        arcs=tuple(_arcs(before, after, matching, order)),
    )


def _all(node: Node, mark: Mark) -> Node:
    """A node that came or went, with everything inside it."""
    if node.child is None:
        return replace(node, mark=mark)
    bare = replace(mark, notes=())
    child = replace(node.child, nodes=tuple(_all(inner, bare) for inner in node.child.nodes))
    return replace(node, mark=mark, child=child)


def _children(old: Step, new: Step) -> tuple[Plan, Plan] | None:
    if old.unit is UNSET or new.unit is UNSET:
        return None
    one, other = old.unit.target, new.unit.target
    if not isinstance(one, ChildTarget) or not isinstance(other, ChildTarget):
        return None
    return one.frozen_plan, other.frozen_plan


def _order(old: Plan, new: Plan, matching: Matching) -> list[str]:
    """Ids of the merged spine: a removed step stands behind the step that it followed."""
    now = {before.id: after.id for before, after in matching.pairs}
    order = [step.id for step in new.steps]
    gone = {step.id for step in matching.removed}
    for step in old.steps:
        if step.id in gone:
            previous = old.steps[step.index - 1].id if step.index else None
            order.insert(0 if previous is None else order.index(now.get(previous, previous)) + 1, step.id)
    return order


def _arcs(before: Scene, after: Scene, matching: Matching, order: list[str]) -> Iterator[Arc]:
    """The routes of both plans. One that is gone and would lead backwards now is left to the notes of its step."""
    place = {name: index for index, name in enumerate(order)}
    now = {one.id: other.id for one, other in matching.pairs}
    old = _labels(before, lambda name: place[now.get(name, name)])
    new = _labels(after, lambda name: place[name])
    for ends in sorted({*old, *new}):
        was, label = old.get(ends), new.get(ends)
        if label is None:
            if was is not None and ends[0] < ends[1]:
                yield Arc(*ends, was, Mark("- removed", "bad"))
        elif was is None:
            yield Arc(*ends, label, Mark("+ added", "good"))
        elif was == label:
            yield Arc(*ends, label)
        else:
            yield Arc(*ends, f"{label} (was {was})", Mark("~", "warn"))


def _labels(scene: Scene, place: Callable[[str], int]) -> dict[tuple[int, int], str]:
    return {(place(scene.nodes[arc.source].id), place(scene.nodes[arc.target].id)): arc.label for arc in scene.arcs}
