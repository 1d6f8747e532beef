"""What is known statically of params and artifacts (spec 1, sections 2.3 and 2.6; spec 3, sections 3 and 5)."""

from __future__ import annotations

from functools import cached_property
from typing import Final

from msgspec import UNSET, Struct, field

from akm_schemas.canonical import canonical_bytes
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import ExecTarget, ScriptTarget
from akm_schemas.references import Reference
from akmc_grammar.ir import Step
from akmc_grammar.places import Path
from akmc_grammar.suggest import listed
from akmc_passes.contract import Composed, Program
from akmc_passes.ir_walk import map_of, marred, route_of, unit_of, unit_path
from akmc_passes.schema_paths import SCALARS, Broken, View, follow, view_of
from akmc_passes.spine import Spine

_TEXT: Final[JsonObject] = {"type": "string"}
_ARRAY: Final[JsonObject] = {"type": "array"}


class Known(Struct, frozen=True):
    """What is known of a value, and the path of what says so."""

    view: View
    declared: Path


class Routed(Struct, frozen=True, dict=True):
    """Every value that a route can be given, as the text that is compared: each once, sorted."""

    texts: tuple[str, ...]

    @cached_property
    def as_set(self) -> frozenset[str]:
        """The texts, for looking one up."""
        return frozenset(self.texts)

    @cached_property
    def listed(self) -> str:
        """The texts as words for a message."""
        return listed(self.texts)


class Artifacts(Struct, frozen=True):
    """What is known of the params and artifacts of one program, worked out once for all that refer to them."""

    program: Program
    spine: Spine
    _known: dict[tuple[str, str], Known | None] = field(default_factory=dict)
    _views: dict[int, View] = field(default_factory=dict)
    _routed: dict[tuple[str, str, tuple[str | int, ...]], Routed | None] = field(default_factory=dict)

    def view_of(self, schema: JsonObject) -> View:
        """The view of a schema that this program or what it composes holds: the same one for the same object."""
        return self._views.setdefault(id(schema), view_of(schema))  # a view keeps its schema alive

    def producer(self, reference: Reference) -> Known | None:
        """What is known of the root of a reference (its path not followed); ``None``: nothing."""
        root = (reference.root, reference.name)
        if root not in self._known:
            self._known[root] = self._producer(reference)
        return self._known[root]

    def routed(self, index: int) -> Routed | None:
        """What a route step can be given, where its schema lists the values and one of them can be routed."""
        reference = self.program.references.get(("steps", index, "route", "input"))
        if reference is None:
            return None
        key = (reference.root, reference.name, tuple(reference.path))
        if key not in self._routed:
            values = self._routed_values(reference)
            texts = None if values is None else sorted({match_text(value) for value in values})
            self._routed[key] = None if texts is None else Routed(tuple(texts))
        return self._routed[key]

    def live_targets(self, index: int) -> frozenset[str]:
        """The step ids that a route step can really select."""
        route = route_of(self.spine.ir.steps[index])
        routed = self.routed(index)
        if routed is None or marred(self.program.document, ("steps", index, "route")):
            return self.spine.named_targets(index)
        branches = [(match_text(branch.match), branch.step) for branch in route.when if branch.match is not UNSET]
        taken = {step for text, step in branches if text in routed.as_set}
        if not routed.as_set <= {text for text, _ in branches}:
            taken.add(route.default)
        return frozenset(name for name in taken if isinstance(name, str))

    def _producer(self, reference: Reference) -> Known | None:
        ir = self.program.document.ir
        assert ir is not None
        if reference.root == "params":
            schema = ir.params.get(reference.name)
            return Known(self.view_of(schema), ("params", reference.name)) if schema else None
        index = self.spine.index_of.get(reference.name)
        if index is None:
            return None
        exported = self.program.exports.get(reference.name)
        if exported is not None:
            return Known(self.view_of(exported), ("steps", index, "unit", "uses"))
        return self._step_artifact(ir.steps[index], index)

    def _step_artifact(self, step: Step, index: int) -> Known | None:
        document, path = self.program.document, unit_path(step, index)
        if marred(document, ("steps", index, "output")):
            return None
        if step.output is not UNSET and step.output:
            return Known(self.view_of(step.output), ("steps", index, "output"))
        unit = unit_of(step)
        if marred(document, (*path, "output")) or marred(document, (*path, "exec")) or step.kind == "route":
            return None
        one: JsonObject | None = None
        declared: Path = path
        if unit.output is not UNSET and unit.output:
            one, declared = unit.output, (*path, "output")
        elif unit.exec is not UNSET:
            one, declared = _TEXT, (*path, "exec")
        elif (composed := self.program.composed.get(("steps", index))) is not None:
            one, declared = _composed_schema(composed), (*path, "uses")
        if step.kind == "map":
            fan = map_of(step)
            if marred(document, ("steps", index, "map", "reducer")):
                return None
            if fan.reducer is UNSET or fan.reducer == "collect":
                if one is None:
                    return Known(self.view_of(_ARRAY), ("steps", index, "map"))
                return Known(self.view_of(one).array, declared)
        return None if one is None else Known(self.view_of(one), declared)

    def _routed_values(self, reference: Reference) -> list[Json] | None:
        known = self.producer(reference)
        end = None if known is None else follow(known.view, reference.path)
        if end is None or isinstance(end, Broken) or not end.types & SCALARS:  # reported as a mismatch
            return None
        return end.values


def _composed_schema(composed: Composed) -> JsonObject | None:
    """What a composed asset makes: what its task declares, the text of a process, or anything."""
    if composed.output:
        return composed.output
    return _TEXT if isinstance(composed.target, ExecTarget | ScriptTarget) else None


def match_text(value: Json) -> str:
    """A routed value, or the match of a branch, as the text that is compared."""
    return value if isinstance(value, str) else canonical_bytes(value).decode()
