"""One pair of plans under comparison: where in the root plan it sits, and the changes found so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from msgspec import UNSET, UnsetType

from akm_schemas.json_types import Json
from akm_schemas.plan import Plan
from akmc.diff.model import Change, ChangeClass, ProseLine, SourcePlace


@dataclass(frozen=True)
class Said:
    """A provenance span to point at: its key (``steps.2.section``) and the side that has it."""

    side: Literal["old", "new"]
    key: str


@dataclass(frozen=True)
class Scope:
    """``prefix`` is the path of this pair in the root plan (empty for the roots themselves).

    ``renames`` maps ids of old steps to the new ids under which they were found again; ``known`` holds what the
    engines of the whole old plan can reach (``engines.reach``).
    """

    old: Plan
    new: Plan
    prefix: str
    found: list[Change]
    renames: dict[str, str] = field(default_factory=dict)
    known: frozenset[str] = frozenset()

    def report(
        self,
        class_: ChangeClass,
        path: str,
        message: str,
        *,
        old: Json | UnsetType = UNSET,
        new: Json | UnsetType = UNSET,
        prose: list[ProseLine] | UnsetType = UNSET,
        said: Said | None = None,
    ) -> None:
        """Add a change at ``path`` below this scope's prefix."""
        place = self._place(said) if said is not None else UNSET
        where = f"{self.prefix}.{path}" if self.prefix else path
        self.found.append(
            Change(class_=class_, path=where, message=message, old=old, new=new, prose=prose, place=place)
        )

    def _place(self, said: Said) -> SourcePlace | UnsetType:
        """The nearest span at or above ``said.key``; plans of hand-made provenance may have none."""
        provenance = (self.old if said.side == "old" else self.new).provenance
        key = said.key
        while key not in provenance.spans:
            key, _, last = key.rpartition(".")
            if not last:
                return UNSET
        line, column = provenance.spans[key][:2]
        files = [item.path for item in provenance.source_read_set if item.ref == provenance.ref]
        return SourcePlace(side=said.side, file=files[0] if files else provenance.ref, line=line, column=column)
