"""What steps and units read, told from what the journal kept: references, bindings, the item of a map's unit."""

from __future__ import annotations

from msgspec import UNSET

from akm_run.artifacts import Fault
from akm_run.bindings import resolve_bindings
from akm_run.journal import Journal
from akm_run.journal.excerpts import with_artifact
from akm_run.report.texts import Piece, Texts
from akm_run.report.tree import Shown
from akm_run.resolution import Found, Producer, resolve
from akm_run.rows import StepRow
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import Step
from akm_schemas.references import Reference


class Inputs:
    """Reads of one run. At most one artifact is in memory, the one that was read last."""

    def __init__(self, journal: Journal, shown: Shown, rows: list[StepRow], texts: Texts) -> None:
        self._journal = journal
        self._shown = shown
        self._rows = {row.step_id: row for row in rows}
        self._texts = texts
        self._last: StepRow | None = None
        self._items: tuple[int, int, list[Piece]] | None = None

    def of_step(self, step: Step) -> list[tuple[str, Piece]]:
        """What a step that was reached reads, by name: its references, then its bindings; nothing that is null."""
        found = [(reference.text, self._found(reference)) for reference in step.inputs]
        bound: JsonObject | Fault = {}
        if step.unit is not UNSET:
            bound = resolve_bindings(step.unit.target, self._strict)
        named = [] if isinstance(bound, Fault) else list(bound.items())
        return [(name, self._texts.value(value)) for name, value in (*found, *named) if value is not None]

    def item(self, step: Step, index: int, room: int) -> Piece | None:
        """The item of a map's unit, within ``room`` bytes; ``None`` where it cannot be told any more."""
        if self._items is None or self._items[:2] != (step.index, room):
            self._items = (step.index, room, self._all_items(step, room))
        items = self._items[2]
        return items[index] if index < len(items) else None

    def _all_items(self, step: Step, room: int) -> list[Piece]:
        found = None if step.map is UNSET else self._found(step.map.over)
        return [self._texts.value(item, room) for item in found] if isinstance(found, list) else []

    def _found(self, reference: Reference) -> Json:
        found = resolve(reference, self._shown.params, self._producer)
        return found.value if isinstance(found, Found) else None

    def _strict(self, reference: Reference) -> Json | Fault:
        value = self._found(reference)
        return Fault("null_reference", reference.text) if value is None else value

    def _producer(self, step_id: str) -> Producer | None:
        row = self._rows.get(step_id)
        if row is None:
            return None
        if row.status == "skipped":
            return Producer("skipped", None)
        if row.status != "completed":
            return None
        if self._last is None or self._last.step_id != step_id:
            self._last = with_artifact(self._journal, self._shown.run.run_id, row)
        return Producer("completed", self._last.artifact)
