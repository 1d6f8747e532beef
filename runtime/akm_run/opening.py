"""Opening a step: everything it reads is resolved once, before anything of it is dispatched (spec 3, section 3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import UNSET, Struct

from akm_run.artifacts import Fault
from akm_run.bindings import resolve_bindings
from akm_run.frame import Frame, PlannedUnit, StepContext
from akm_run.identity import InputHasher, StepInputs, in_loop, item_keys, solo_key
from akm_run.policy import BUDGET_EXCEEDED
from akm_run.resolution import Producer, WrongKind, kind_of, quoted, resolve
from akm_schemas.bounds import MAP_ITEMS
from akm_schemas.canonical import canonical_bytes
from akm_schemas.hashing import json_hash
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import CommandTarget, LlmEngine, Step
from akm_schemas.references import Reference


class Reusable(Struct, frozen=True):
    """The completed units of the run ``run_id``: (unit key, input hash) -> unit id."""

    run_id: str
    units: Mapping[tuple[str, str], str]


class RunFacts(Struct, frozen=True):
    """What was fixed when the run was published.

    ``width`` is the run's width, ``commit`` what isolated units get, ``reusable`` what may be taken over.
    """

    params: JsonObject
    width: int
    commit: str | None = None
    reusable: Reusable | None = None


class Round(Struct, frozen=True):
    """Which round of a step is opened, and with what feedback."""

    loop: int
    feedback: str | None


class Ending(Struct, frozen=True):
    """The last step at the moment of its completion, when exports are resolved."""

    step_id: str
    producer: Producer


class Opened(Struct, frozen=True):
    """A frame without its history, and what to tell about its inputs."""

    frame: Frame
    notices: tuple[str, ...]


class Opener:
    """Opens the steps of one run."""

    def __init__(self, facts: RunFacts, producer: Callable[[str], Producer | None]) -> None:
        self._facts = facts
        self._producer = producer
        self._params_hash = json_hash(facts.params)

    def strict(self, reference: Reference, ending: Ending | None = None) -> Json | Fault:
        """The value of a reference that must not be null, or the fault that names it.

        ``ending`` is a step that is about to settle, seen as if it had.
        """

        def producer(step_id: str) -> Producer | None:
            if ending is not None and step_id == ending.step_id:
                return ending.producer
            return self._producer(step_id)

        found = resolve(reference, self._facts.params, producer)
        if isinstance(found, WrongKind):
            return Fault("wrong_kind", found.why)
        return Fault("null_reference", found.why) if found.why is not None else found.value

    def open(self, step: Step, turn: Round) -> Opened | Fault:
        """The frame of a unit or map step, or why it fails before any dispatch."""
        assert step.unit is not UNSET
        unit, target = step.unit, step.unit.target
        if unit.env and isinstance(target, CommandTarget) and isinstance(target.engine, LlmEngine):
            return Fault(
                "env_unsupported", f"env_unsupported: engine {quoted(target.engine.name)} cannot carry env bindings"
            )
        if unit.isolation == "worktree" and self._facts.commit is None:
            return Fault(
                "spawn_failed",
                "isolation: worktree needs a git directory with a commit, and there was none when the run was published",
            )
        inputs, notices = self._inputs(step)
        if isinstance(inputs, Fault):
            return inputs
        bindings = resolve_bindings(target, self.strict)
        if isinstance(bindings, Fault):
            return bindings
        schema = unit.output if unit.output is not UNSET else None
        if schema is None and step.kind == "unit" and step.output is not UNSET:
            schema = step.output
        shared = StepInputs(
            target_hash=target.content_hash,
            inputs=tuple(inputs.items()),
            bindings=bindings,
            params_hash=self._params_hash,
            schema=schema,
            isolation=unit.isolation,
            feedback=turn.feedback,
        )
        units = self._units(step, turn.loop, InputHasher(shared))
        if isinstance(units, Fault):
            return units
        context = StepContext(inputs or None, bindings or None, turn.feedback)
        frame = Frame(step, turn.loop, context, units, schema, self._width(step), shared)
        return Opened(frame, notices)

    def _width(self, step: Step) -> int:
        if step.map is UNSET:
            return 1
        widths = [step.map.concurrency, self._facts.width]
        assert step.unit is not UNSET
        if isinstance(step.unit.target, CommandTarget) and step.unit.target.concurrency is not UNSET:
            widths.append(step.unit.target.concurrency)
        return max(1, min(widths))

    def _inputs(self, step: Step) -> tuple[JsonObject | Fault, tuple[str, ...]]:
        values: JsonObject = {}
        notices: list[str] = []
        for reference in step.inputs:
            found = resolve(reference, self._facts.params, self._producer)
            if isinstance(found, WrongKind):
                return Fault("wrong_kind", found.why), ()
            values[reference.text] = found.value
            if found.why is not None:
                notices.append(f"input {found.why}")
        return values, tuple(notices)

    def _units(self, step: Step, loop: int, hasher: InputHasher) -> list[PlannedUnit] | Fault:
        if step.map is UNSET:
            return [PlannedUnit(in_loop(solo_key(step.id), loop), hasher.solo())]
        over = step.map.over
        items = self.strict(over)
        if isinstance(items, Fault):
            return items
        if not isinstance(items, list):
            return Fault("not_an_array", f"{over.text} is {kind_of(items)}: a map needs an array")
        if None in items:
            return Fault("null_item", f"{over.text}[{items.index(None)}] is null: a map needs a value for every item")
        if not MAP_ITEMS.holds(len(items)):
            return Fault(BUDGET_EXCEEDED, f"{over.text} has {len(items)} items: a map takes {MAP_ITEMS.says()}")
        texts = [canonical_bytes(item) for item in items]
        keys = item_keys(step.id, texts)
        return [
            PlannedUnit(in_loop(key, loop), hasher.item(text), index, item)
            for index, (key, text, item) in enumerate(zip(keys, texts, items, strict=True))
        ]
