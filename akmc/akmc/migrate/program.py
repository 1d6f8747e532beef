"""The YAML program, version 1 or 2, to a draft.

Before: the tree satisfies the program's schema. After: a draft whose steps stand in the old order, and remarks on all
that changed its meaning or has no place; what the new checks still refuse is the business of ``repair``.
"""

from __future__ import annotations

from collections.abc import Sequence as Seq
from typing import cast

from akm_schemas.json_types import Json, JsonObject
from akmc.migrate.expressions import Inputs, Scope, bare_reference, say_in_words
from akmc.migrate.ids import new_step_ids
from akmc.migrate.mentions import list_old_ids
from akmc.migrate.model import Draft, Notes, Origins, Section
from akmc.migrate.program_unit import new_settings
from akmc.migrate.prose import Prose, prose_of_scalar
from akmc.migrate.protect import protect, trimmed
from akmc.migrate.surroundings import Surroundings
from akmc.migrate.titles import description_of, heading_text
from akmc_grammar.places import Path, Span
from akmc_grammar.yaml_tree import Entry, Mapping, Scalar, Sequence, to_json

_KINDS = ("unit", "map", "route")


class ProgramReader:
    """One program. ``lines`` are those of the old file, ``stem`` its name without folder and extension."""

    def __init__(self, root: Mapping, lines: Seq[str], stem: str, around: Surroundings, notes: Notes) -> None:
        self.root = root
        self.lines = lines
        self.stem = stem
        self.around = around
        self.notes = notes
        self.places: dict[Path, Span] = {}
        self.steps = [cast(Mapping, item) for item in cast(Sequence, root.get("steps")).items]
        self.old_ids = [text_of(step, "id") for step in self.steps]
        self.new_ids = new_step_ids(self.old_ids)
        params = root.get("params")
        self.params = frozenset(str(entry.key.value) for entry in params.entries) if isinstance(params, Mapping) else ()

    def draft(self) -> Draft:
        """The whole document."""
        name = text_of(self.root, "name")
        frontmatter: JsonObject = {
            "type": "workflow",
            "description": description_of(self.root.get("description"), name),
        }
        for key in ("params", "defaults", "budget"):
            node = self.root.get(key)
            if isinstance(node, Mapping):
                defaults = key == "defaults"
                value = new_settings(node, key, self.around, self.notes) if defaults else to_json(node)
                if value:
                    frontmatter[key] = value
        sections: list[Section] = []
        settings: list[Json] = []
        for index in range(len(self.steps)):
            step, section = self.step(index)
            settings.append(step)
            sections.append(section)
        frontmatter["steps"] = settings
        self.list_clashes()
        titles = tuple(
            (new, heading_text(text_of(step, "title"), ""))
            for new, step in zip(self.new_ids, self.steps, strict=True)
            if step.get("title") is not None
        )
        return Draft(
            title=heading_text(name, self.stem),
            frontmatter=frontmatter,
            preamble="",
            titles=titles,
            sections=tuple(sections),
            kept=self.notes.kept_lines(),
            origins=Origins(self.root, self.places),
        )

    def step(self, index: int) -> tuple[JsonObject, Section]:
        """One step's settings and prose."""
        node, name = self.steps[index], self.new_ids[index]
        kind = next(kind for kind in _KINDS if node.get(kind) is not None)
        body = cast(Mapping, node.get(kind))
        inputs = Inputs()
        scope = self.scope(index, kind == "map")
        settings: JsonObject = {"id": name}
        instructions = ""
        if kind == "route":
            settings["route"] = self.route(body, index)
        else:
            unit = body if kind == "unit" else cast(Mapping, body.get("unit"))
            instructions = self.instructions(unit, scope, inputs)
            if inputs.texts:
                settings["inputs"] = list(inputs.texts)
                self.places[("steps", index, "inputs")] = key_span(unit, "instructions")
            bag = new_settings(unit, f'step "{name}"', self.around, self.notes)
            if kind == "map":
                settings["map"] = self.fan(body, bag)
            elif bag:
                settings["unit"] = bag
        self.output(node, settings, kind, name)
        rubric = self.gate(node, settings, scope)
        return settings, Section(name, instructions, rubric)

    def scope(self, index: int, is_map: bool) -> Scope:
        """What expressions of a step may name."""
        first: dict[str, int] = {}
        for number, name in enumerate(self.old_ids):
            first.setdefault(name, number)
        routes = frozenset(name for name, number in first.items() if self.steps[number].get("route") is not None)
        return Scope(index, self.new_ids[index], is_map, frozenset(self.params), first, routes)

    def instructions(self, unit: Mapping, scope: Scope, inputs: Inputs) -> str:
        """The unit's prose as it can stand in the body."""
        node = cast(Scalar, unit.get("instructions"))
        prose = say_in_words(prose_of_scalar(node, self.lines), scope, inputs, self.notes)
        text = trimmed(protect(prose, "section", self.notes).text)
        if text:
            return text
        self.notes.warn(key_span(unit, "instructions"), f'the step "{scope.name}" has blank instructions: write some')
        return f"Do what the step `{scope.name}` is named for."

    def fan(self, body: Mapping, bag: JsonObject) -> JsonObject:
        """The ``map`` of a step."""
        found: JsonObject = {"over": bare_reference(text_of(body, "over"))}
        for key in ("concurrency", "reducer"):
            if (node := body.get(key)) is not None:
                found[key] = to_json(node)
        if bag:
            found["unit"] = bag
        return found

    def route(self, body: Mapping, index: int) -> JsonObject:
        """The ``route`` of a step: the map of ``when`` becomes a list in the same order."""
        branches: list[Json] = []
        for number, entry in enumerate(cast(Mapping, body.get("when")).entries):
            branches.append({"match": str(entry.key.value), "step": str(getattr(entry.value, "value", ""))})
            self.places[("steps", index, "route", "when", number)] = entry.key.span
        found: JsonObject = {"input": bare_reference(text_of(body, "input")), "when": branches}
        if body.get("default") is not None:
            found["default"] = text_of(body, "default")
        return found

    def output(self, node: Mapping, settings: JsonObject, kind: str, name: str) -> None:
        """The schema of the artifact; a route has none."""
        entry = node.entry("output")
        if entry is None:
            return
        if kind == "route":
            why = "a route promotes no artifact"
            self.notes.keep(entry.key.span, f'output of step "{name}"', to_json(entry.value), why)
        else:
            settings["output"] = to_json(entry.value)

    def gate(self, node: Mapping, settings: JsonObject, scope: Scope) -> str | None:
        """The rubric, a bullet per criterion; ``max_loops`` goes to the settings."""
        entry = node.entry("gate")
        if entry is None or not isinstance(entry.value, Mapping):
            return None
        gate = entry.value
        if (loops := gate.get("max_loops")) is not None:
            settings["gate"] = {"max_loops": to_json(loops)}
        required = gate.entry("required")
        if required is None or not getattr(required.value, "value", None):
            where: Entry = required or entry
            said = "does not say required" if required is None else "is not required"
            message = f'the gate of step "{scope.name}" {said}: it now blocks without a judge'
            self.notes.warn(where.key.span, message)
        bullets = []
        for item in cast(Sequence, gate.get("criteria")).items:
            prose = say_in_words(prose_of_scalar(cast(Scalar, item), self.lines), scope, None, self.notes)
            bullets.append(bullet(prose))
        whole = Prose("\n".join(prose.text for prose in bullets), tuple(o for prose in bullets for o in prose.origins))
        return trimmed(protect(whole, "section", self.notes).text)

    def list_clashes(self) -> None:
        """Ids that two steps had: say which one changed, and where prose mentions either."""
        renamed: dict[str, list[str]] = {}
        for old, new, step in zip(self.old_ids, self.new_ids, self.steps, strict=True):
            if old != new:
                message = f'the step id "{old}" is taken by an earlier step: this one is now "{new}"'
                self.notes.warn(key_span(step, "id"), f"{message}; references to it mean the earlier one")
                renamed.setdefault(old, [old]).append(new)
        if renamed:
            list_old_ids([prose_of_scalar(node, self.lines) for node in self.prose_nodes()], renamed, self.notes)

    def prose_nodes(self) -> list[Scalar]:
        """The scalars of all instructions and criteria."""
        found: list[Scalar] = []
        for step in self.steps:
            fan, gate = step.get("map"), step.get("gate")
            unit = fan.get("unit") if isinstance(fan, Mapping) else step.get("unit")
            texts = [unit.get("instructions")] if isinstance(unit, Mapping) else []
            criteria = gate.get("criteria") if isinstance(gate, Mapping) else None
            texts += criteria.items if isinstance(criteria, Sequence) else ()
            found += [node for node in texts if isinstance(node, Scalar)]
        return found


def bullet(prose: Prose) -> Prose:
    """One criterion as a list item: its further lines stand below its first one's text."""
    lines = prose.text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    last = next((number for number in range(len(lines) - 1, first, -1) if lines[number].strip()), first)
    kept = [lines[first].strip(), *lines[first + 1 : last + 1]]
    text = "\n".join(
        ("  " if number else "- ") + line if line.strip() or not number else "" for number, line in enumerate(kept)
    )
    return Prose(text.rstrip(" ") if last == first else text, prose.origins[first : last + 1])


def text_of(node: Mapping, key: str) -> str:
    """The text of a scalar entry, empty without one."""
    value = getattr(node.get(key), "value", None)
    return value if isinstance(value, str) else ""


def key_span(node: Mapping, key: str) -> Span:
    """The place of a key, else of the mapping."""
    entry = node.entry(key)
    return node.span if entry is None else entry.key.span
