"""The classic Markdown workflow to a draft.

It was linear: every step is a unit with instructions, and perhaps criteria, which become the rubric. Nothing was ever
substituted in its prose, so that the moustaches in it become words.
"""

from __future__ import annotations

import re

from akm_schemas import keys
from akm_schemas.json_types import Json, JsonObject
from akmc.migrate.classic_body import ClassicStep, read_classic_body
from akmc.migrate.ids import new_param_names, new_step_ids
from akmc.migrate.mentions import list_old_ids, name_moustaches
from akmc.migrate.model import Draft, Notes, Origins, Section
from akmc.migrate.prose import Prose, prose_of_lines, prose_of_scalar
from akmc.migrate.protect import protect, trimmed
from akmc.migrate.recognise import Classic
from akmc.migrate.titles import description_of, heading_text
from akmc_grammar.places import Path, Span
from akmc_grammar.yaml_tree import Entry, Mapping, Scalar, to_json

_ENVELOPE = frozenset(key.name for key in keys.ENVELOPE)


class ClassicReader:
    """One classic workflow; ``stem`` is the file's name without folder and extension."""

    def __init__(self, classic: Classic, stem: str, notes: Notes) -> None:
        self.classic = classic
        self.stem = stem
        self.notes = notes
        self.body = read_classic_body(classic.lines, classic.first_line)
        self.places: dict[Path, Span] = {}
        self.param_names: dict[str, str] = {}

    def draft(self) -> Draft:
        """The whole document."""
        frontmatter = self.frontmatter(heading_text(self.body.title, self.stem))
        title = heading_text(self.words(self.body.title, self.body.title_line), self.stem)
        new_ids = self.new_ids()
        sections = [self.section(step, name) for step, name in zip(self.body.steps, new_ids, strict=True)]
        steps: list[Json] = [{"id": name} for name in new_ids]
        for index, step in enumerate(self.body.steps):
            self.places[("steps", index)] = step.heading
        frontmatter["steps"] = steps
        preamble = self.prose(prose_of_lines(self.body.preamble), "preamble")
        words = [heading_text(self.words(step.title, step.heading.line), "") for step in self.body.steps]
        titles = zip(new_ids, words, strict=True)
        return Draft(
            title=title,
            frontmatter=frontmatter,
            preamble=preamble,
            titles=tuple(pair for pair in titles if pair[1]),
            sections=tuple(sections),
            kept=self.notes.kept_lines(),
            origins=Origins(self.classic.root, self.places),
        )

    # ---- frontmatter ----

    def frontmatter(self, title: str) -> JsonObject:
        """Envelope keys as they are, params with their descriptions; other keys are kept as prose."""
        root = self.classic.root or Mapping((), Span(1, 1, 1, 1))
        found: JsonObject = {"type": "workflow", "description": description_of(root.get("description"), title)}
        params: JsonObject = {}
        for entry in root.entries:
            name = str(entry.key.value)
            if name == "params":
                params = self.params(entry)
            elif name not in _ENVELOPE:
                why = "today's frontmatter has no such key"
                self.notes.keep(entry.key.span, f'frontmatter key "{name}"', to_json(entry.value), why)
            elif name not in found:
                found[name] = to_json(entry.value)
            elif name == "type" and to_json(entry.value) != "workflow":
                self.notes.keep(entry.key.span, "type", to_json(entry.value), "this is a workflow")
            elif name == "description" and not isinstance(to_json(entry.value), str):
                self.notes.keep(entry.key.span, "description", to_json(entry.value), "a description is a text")
        if params:
            found["params"] = params
        return found

    def params(self, entry: Entry) -> JsonObject:
        """Params as untyped schemas with their description; a mapping is taken for a schema."""
        if not isinstance(entry.value, Mapping):
            if getattr(entry.value, "value", "") is not None:
                self.notes.keep(entry.key.span, "params", to_json(entry.value), "params map names to descriptions")
            return {}
        entries = entry.value.entries
        names = new_param_names([str(item.key.value) for item in entries])
        self.param_names = {str(item.key.value): name for item, name in zip(entries, names, strict=True)}
        found: JsonObject = {}
        for item, name in zip(entries, names, strict=True):
            if name != item.key.value:
                message = f'the param "{item.key.value}" cannot be a name any more: it is now "{name}"'
                self.notes.warn(item.key.span, message)
            self.places[("params", name)] = item.key.span
            found[name] = self.param(item)
        return found

    def param(self, entry: Entry) -> JsonObject:
        """The schema of one param."""
        value = to_json(entry.value)
        if isinstance(value, dict):
            return value
        if value is None or value == "":
            return {}
        if isinstance(entry.value, Scalar):
            prose = prose_of_scalar(entry.value, self.classic.source.lines)
            return {"description": name_moustaches(prose, self.param_names.get, self.notes).text}
        what = f'description of param "{entry.key.value}"'
        self.notes.keep(entry.key.span, what, value, "a description is a text")
        return {}

    # ---- steps ----

    def new_ids(self) -> list[str]:
        """Legal ids for all steps; every change is listed, with the mentions of the old id."""
        steps = self.body.steps
        old_ids = [step.old_id for step in steps]
        new_ids = new_step_ids(old_ids, [slug(step.title, index) for index, step in enumerate(steps)])
        renamed: dict[str, list[str]] = {}
        for step, old, new in zip(steps, old_ids, new_ids, strict=True):
            if not step.old_id:
                self.notes.warn(step.id_span, f'the step has no "Step ID:" line: its id is now "{new}"')
            elif old != new:
                clash = old in new_ids
                why = "an earlier step has that id" if clash else "an id has letters, digits, underscores and dashes"
                self.notes.warn(step.id_span, f'the step id "{old}" is now "{new}": {why}')
                renamed.setdefault(old, [old] if clash else []).append(new)
        if renamed:
            list_old_ids(self.all_prose(), renamed, self.notes)
        return new_ids

    def all_prose(self) -> list[Prose]:
        """Every piece of prose, in order."""
        found = [self.body.preamble]
        for step in self.body.steps:
            found += [step.lead, step.instructions or [], step.criteria or []]
        return [prose_of_lines(lines) for lines in found if lines]

    def section(self, step: ClassicStep, name: str) -> Section:
        """One step's prose."""
        lead = [pair for pair in step.lead if pair[0].strip()]
        if lead and step.instructions is not None:
            span = Span(lead[0][1], 1, lead[0][1], 1)
            self.notes.warn(span, f'the text before "### Instructions" now begins the instructions of step "{name}"')
        for text, span in step.repeated:
            self.notes.warn(span, f'a second "### {text}" of step "{name}" is text of the part that it stands in')
        joint = [("", step.heading.line)] if lead and step.lead[-1][0].strip() else []
        lines = step.lead + joint + (step.instructions or [])
        instructions = self.prose(prose_of_lines(lines), "section")
        if not instructions:
            self.notes.warn(step.heading, f'the step "{name}" has no instructions: write some')
            instructions = f"Do what the step `{name}` is named for."
        return Section(name, instructions, self.rubric(step, name))

    def rubric(self, step: ClassicStep, name: str) -> str | None:
        """The criteria, byte for byte."""
        if step.criteria is None or step.criteria_span is None:
            return None
        rubric = self.prose(prose_of_lines(step.criteria), "section")
        if not rubric:
            self.notes.warn(step.criteria_span, f'the step "{name}" has no criteria below the heading: it has no gate')
            return None
        self.notes.warn(step.criteria_span, f'the criteria of step "{name}" are a gate: it now blocks without a judge')
        return rubric

    def words(self, text: str, line: int) -> str:
        """One line of prose with its moustaches as words."""
        return name_moustaches(prose_of_lines([(text, line)]), self.param_names.get, self.notes).text

    def prose(self, prose: Prose, role: str) -> str:
        """Prose as it can stand in the new body."""
        worded = name_moustaches(prose, self.param_names.get, self.notes)
        return trimmed(protect(worded, "section" if role == "section" else "preamble", self.notes).text)


def slug(title: str, index: int) -> str:
    """An id from a title; ``index`` counts from 0."""
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or f"step-{index + 1}"
