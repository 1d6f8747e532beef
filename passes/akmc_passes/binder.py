"""The bindings of one step; see ``bindings``, which imports this when a step composes something."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import InputBinding, LiteralInput, ReferenceInput
from akm_schemas.references import Reference
from akm_schemas.subset_validate import validate
from akmc_grammar.diagnostics import Note
from akmc_grammar.places import Path, Place
from akmc_grammar.reference_grammar import ReferenceFault, parse_reference
from akmc_grammar.suggest import did_you_mean, listed
from akmc_passes.contract import Context, Program, Surface
from akmc_passes.ir_walk import unit_of
from akmc_passes.spine import Spine
from akmc_passes.words import quoted

RULE: Final = "input-binding-invalid"
FROM: Final = "from"


@dataclass
class Binder:
    """One step."""

    program: Program
    context: Context
    spine: Spine
    index: int
    surface: Surface

    def __post_init__(self) -> None:
        self.references: dict[Path, Reference] = {}
        uses = unit_of(self.spine.ir.steps[self.index]).uses
        assert uses is not UNSET
        self.has_with = uses.with_ is not UNSET
        self.given: JsonObject = uses.with_ if uses.with_ is not UNSET else {}
        self.path: Path = ("steps", self.index, "unit", "with")

    def bindings(self) -> list[InputBinding]:
        """The bindings in the order of their names; what was reported is left out."""
        if self.program.document.is_poisoned(self.path):
            return []
        found: dict[str, InputBinding] = {
            name: LiteralInput(name=name, value=value)
            for name, value in self.surface.preset.items()
            if name not in self.given
        }
        for name, value in self.given.items():
            if name not in self.surface.schemas:
                self.report_unknown(name)
                continue
            bound = self.bound(name, value)
            if bound is not None:
                found[name] = bound
        self.check_required()
        return [found[name] for name in sorted(found)]

    def bound(self, name: str, value: Json) -> InputBinding | None:
        """One value: exactly ``{from: REFERENCE}``, or a literal."""
        if isinstance(value, dict) and FROM in value:
            reference = self.reference(name, value)
            if reference is None:
                return None
            return ReferenceInput(name=name, from_=reference, schema=self.surface.schemas[name])
        outcome = validate(self.surface.schemas[name], value)
        if outcome.ok:
            return LiteralInput(name=name, value=value)
        message = f"{quoted(name)} does not satisfy the schema of the {self.what}: {outcome.errors[0]}"
        self.report((*self.path, name), message, f"give a value that the schema of {self.surface.ref} admits")
        return None

    # ---- references ----

    def reference(self, name: str, value: Mapping[str, Json]) -> Reference | None:
        """The reference of ``{from: TEXT}``; ``None`` after a report."""
        text = value[FROM]
        if len(value) > 1 or not isinstance(text, str):
            message = f'{quoted(name)} has a key "{FROM}" and is not exactly {{{FROM}: <reference>}}'
            help = f"write {{{FROM}: steps.<id>.output}}; a literal value cannot have that key"
            self.report((*self.path, name), message, help)
            return None
        at: Path = (*self.path, name, FROM)
        parsed = parse_reference(text)
        if isinstance(parsed, ReferenceFault):
            place = Place(self.program.document.source.name, at, offset=parsed.offset)
            self.context.sink.report("invalid-reference", place, parsed.message, help=parsed.help)
            return None
        known = self.names_param(at, parsed) if parsed.root == "params" else self.names_step(at, parsed)
        if not known or not self.names_export(at, parsed):
            return None
        self.references[at] = parsed
        return parsed

    def names_param(self, at: Path, reference: Reference) -> bool:
        """Whether the composing workflow declares the param."""
        params = self.spine.ir.params
        if reference.name in params:
            return True
        message = f"{quoted(reference.text)} does not name a declared workflow param; declared params: {listed(params)}"
        help = "a YAML workflow has no params: write the value, or take it from an earlier step"
        self.report(at, message, help)
        return False

    def names_step(self, at: Path, reference: Reference) -> bool:
        """Whether the reference names an earlier step."""
        producer = self.spine.index_of.get(reference.name)
        earlier = [step.id for step in self.spine.ir.steps[: self.index] if isinstance(step.id, str)]
        if producer is not None and producer < self.index:
            return True
        if producer is None and self.spine.has_unnamed:  # it may be the step whose id could not be read
            return False
        notes: list[Note] = []
        why = "names no step"
        if producer is not None:
            why = "reads the step's own output" if producer == self.index else "names a later step"
            notes = [Note("declared here", self.program.place("steps", producer, "id"))]
        message = f"{quoted(reference.text)} {why}; earlier steps: {listed(earlier)}"
        help = did_you_mean(reference.name, earlier) or "name an earlier step"
        self.report(at, message, help, notes=notes)
        return False

    def names_export(self, at: Path, reference: Reference) -> bool:
        """Whether the first segment of a reference into a child names one of its exports."""
        exported = self.program.exports.get(reference.name) if reference.root == "steps" else None
        if exported is None or not reference.path:
            return True
        first, properties = reference.path[0], exported["properties"]
        assert isinstance(properties, dict)
        if first in properties:
            return True
        producer = self.spine.index_of[reference.name]
        shown = quoted(first) if isinstance(first, str) else f"[{first}]"
        message = (
            f"the child workflow of {quoted(reference.name)} exports no {shown}; its exports: {listed(properties)}"
        )
        notes = [Note("composed here", self.program.place("steps", producer, "unit", "uses"))]
        help = did_you_mean(str(first), properties) or "name one of its exports"
        place = self.program.place(*at)
        self.context.sink.report("child-output-unknown", place, message, notes=notes, help=help)
        return False

    # ---- reports ----

    @property
    def what(self) -> str:
        """What is bound, in words."""
        return f"{self.surface.kind} of {self.surface.ref}"

    def report(
        self, at: Path, message: str, help: str, *, notes: list[Note] | None = None, part: str = "value"
    ) -> None:
        """Report a binding that the target does not take."""
        self.context.sink.report(RULE, self.program.place(*at, part=part), message, notes=notes or (), help=help)

    def report_unknown(self, name: str) -> None:
        """Report a key that names nothing of the target."""
        declared = self.surface.schemas
        kind = self.surface.kind
        message = f"{self.surface.ref} has no {kind} {quoted(name)}; declared {kind}s: {listed(declared)}"
        help = did_you_mean(name, declared) or "drop it: a value that nothing takes is not passed on"
        self.report((*self.path, name), message, help, part="key")

    def check_required(self) -> None:
        """Report what has to be bound and is not, each name once, at ``with`` or else at ``uses``."""
        at = self.path if self.has_with else ("steps", self.index, "unit", "uses")
        for name, why in sorted(self.surface.required.items()):
            if name not in self.given and name not in self.surface.preset:
                message = f"the {self.surface.kind} {quoted(name)} of {self.surface.ref} is not bound: {why}"
                self.report(at, message, f"write with: {{{name}: …}}")
