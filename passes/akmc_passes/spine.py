"""The spine of a document: which steps there are, and which of them a run can skip.

Before: route targets may name anything. After: a ``Spine`` that ignores what names no later step.

A target of a route runs when at least one decided route selected it, a router that is skipped selects nothing, and a
router without a match fails the run. From that follows which steps always run, and which have surely run when another
one does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from msgspec import Struct

from akm_schemas.references import Reference
from akmc_grammar.ir import SourceIR
from akmc_grammar.reference_grammar import parse_reference
from akmc_passes.ir_walk import route_of


class Spine(Struct, frozen=True, dict=True):
    """Steps by id and the routes between them."""

    ir: SourceIR

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Step id to index; the first one of a repeated id."""
        found: dict[str, int] = {}
        for index, step in enumerate(self.ir.steps):
            if isinstance(step.id, str):
                found.setdefault(step.id, index)
        return found

    @cached_property
    def has_unnamed(self) -> bool:
        """Whether a step has no readable id, so that an unknown id may be that step's."""
        return any(not isinstance(step.id, str) for step in self.ir.steps)

    @cached_property
    def routers_of(self) -> dict[int, list[int]]:
        """Index of each targeted step to the indexes of the routes that name it, ascending."""
        found: dict[int, list[int]] = {}
        for index, targets in self.targets_of.items():
            for target in sorted(targets):
                found.setdefault(target, []).append(index)
        return found

    @cached_property
    def targets_of(self) -> dict[int, frozenset[int]]:
        """Index of each route step to the indexes of the later steps that it names."""
        found: dict[int, frozenset[int]] = {}
        for index, step in enumerate(self.ir.steps):
            if step.kind == "route":
                found[index] = self._later(index, self.named_targets(index))
        return found

    def named_targets(self, index: int) -> frozenset[str]:
        """The step ids that a route step names."""
        route = route_of(self.ir.steps[index])
        names = [branch.step for branch in route.when] + [route.default]
        return frozenset(name for name in names if isinstance(name, str))

    def _later(self, index: int, names: frozenset[str]) -> frozenset[int]:
        found = (self.index_of.get(name, -1) for name in names)
        return frozenset(target for target in found if target > index)

    @cached_property
    def surely_run(self) -> tuple[frozenset[int], ...]:
        """Per step: the steps that have certainly run whenever it runs. Routes only lead forward, so one pass will do."""
        found: list[frozenset[int]] = []
        for index in range(len(self.ir.steps)):
            routers = self.routers_of.get(index)
            if routers is None:
                found.append(self.always_before(index))
                continue
            ways = [found[router] | {router} | self.read_by_router(router) for router in routers]
            found.append(frozenset.intersection(*ways) | self.always_before(index))
        return tuple(found)

    def read_by_router(self, router: int) -> frozenset[int]:
        """The step whose artifact a router reads: a router that decided has found it there, for null fails it."""
        text = route_of(self.ir.steps[router]).input
        reference = parse_reference(text) if isinstance(text, str) else None
        if not isinstance(reference, Reference) or reference.root != "steps":
            return frozenset()
        index = self.index_of.get(reference.name, router)
        return frozenset({index}) if index < router else frozenset()

    @cached_property
    def always(self) -> frozenset[int]:
        """The steps that no route can skip: no route names them, or one that always runs leads nowhere else."""
        found: set[int] = set()
        for index in range(len(self.ir.steps)):
            routers = self.routers_of.get(index)
            if routers is None or any(router in found and self.targets_of[router] == {index} for router in routers):
                found.add(index)
        return frozenset(found)

    def always_before(self, index: int) -> frozenset[int]:
        """The steps before ``index`` that no route can skip."""
        return frozenset(step for step in self.always if step < index)

    def unreachable(self, live: Callable[[int], frozenset[str]]) -> list[int]:
        """The steps that only branches which are never taken lead to, ascending; ``live`` has the ids that a route step
        can select."""
        taken = {index: self._later(index, live(index)) for index in self.targets_of}
        lost: set[int] = set()
        for index, routers in sorted(self.routers_of.items()):
            if all(router in lost or index not in taken[router] for router in routers):
                lost.add(index)
        return sorted(lost)
