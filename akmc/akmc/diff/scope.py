"""One pair of plans under comparison: where in the root plan it sits, and the changes found so far."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from msgspec import UNSET, Struct, UnsetType, field

from akm_schemas.json_types import Json
from akm_schemas.plan import Plan, Step
from akmc.diff.model import Change, ChangeClass, ProseLine, SourcePlace
from akmc.diff.phrase import Piece, phrase
from akmc.diff.places import EVERYWHERE, Side, Sources, Within


class Narrowed(Struct, frozen=True):
    """Which item of a list or which line of a text changed, on each side."""

    old: Within = EVERYWHERE
    new: Within = EVERYWHERE


UNNARROWED: Final = Narrowed()
NO_SOURCES: Final = (Sources(), Sources())


class Scope(Struct, frozen=True, dict=True):
    """``prefix`` is the path of this pair in the root plan (empty for the roots themselves).

    ``renames`` maps ids of old steps to the new ids under which they were found again; ``known`` holds what the
    engines of the whole old plan can reach (``engines.reach``); ``sources`` are those of the old and the new side.
    ``exposed`` are the params of an embedded plan that the caller of the root plan gives, ``None`` for the root itself.
    """

    old: Plan
    new: Plan
    prefix: str
    found: list[Change]
    renames: dict[str, str] = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    sources: tuple[Sources, Sources] = NO_SOURCES
    exposed: frozenset[str] | None = None

    def relied_on(self, param: str | None = None) -> ChangeClass:
        """``breaking`` where the callers of the root plan rely on ``param``, or on an export without one; inside an
        embedded plan only the root calls, and what freezing allowed is ``behaviour`` (decision 123)."""
        if self.exposed is None or (param is not None and param in self.exposed):
            return "breaking"
        return "behaviour"

    def report(
        self,
        class_: ChangeClass,
        path: str,
        message: Piece,
        *,
        old: Json | UnsetType = UNSET,
        new: Json | UnsetType = UNSET,
        prose: list[ProseLine] | UnsetType = UNSET,
        narrowed: Narrowed = UNNARROWED,
    ) -> None:
        """Add a change at ``path`` below this scope's prefix, with its place in the new and in the old source."""
        parts = path.split(".")  # ids and names have no dots
        before, after = self._place("old", parts, narrowed.old), self._place("new", parts, narrowed.new)
        where = f"{self.prefix}.{path}" if self.prefix else path
        place = before if after is UNSET else after
        # the place of a key beside that of a whole step would look like a move
        alike = self.sources[0].knows(self.old) == self.sources[1].knows(self.new)
        old_place = before if after is not UNSET and alike else UNSET
        said = phrase(message)
        self.found.append(
            Change(
                class_=class_,
                path=where,
                message=said.text,
                code=list(said.code) or UNSET,
                old=old,
                new=new,
                prose=prose,
                place=place,
                old_place=old_place,
            )
        )

    def _place(self, side: Side, parts: list[str], within: Within) -> SourcePlace | UnsetType:
        plan = self.old if side == "old" else self.new
        sources = self.sources[0 if side == "old" else 1]
        step: Step | None = None
        if parts[0] == "steps":
            step = (self._old_steps if side == "old" else self._new_steps).get(parts[1])
            if step is None:
                return UNSET
            parts = parts[2:]
        elif parts[0] in ("params", "outputs") and parts[1] not in (
            plan.params if parts[0] == "params" else plan.outputs
        ):
            return UNSET
        return sources.place(plan, side, step, parts, within, self._unchanged) or UNSET

    @cached_property
    def _unchanged(self) -> frozenset[str]:
        """The hashes of the files that both plans were made from: no change is in one of them."""
        olds, news = ({item.sha256 for item in plan.provenance.source_read_set} for plan in (self.old, self.new))
        return frozenset(olds & news)

    @cached_property
    def _new_steps(self) -> dict[str, Step]:
        return {step.id: step for step in self.new.steps}

    @cached_property
    def _old_steps(self) -> dict[str, Step]:
        """The old steps by the ids that they have now."""
        return {self.renames.get(step.id, step.id): step for step in self.old.steps}
