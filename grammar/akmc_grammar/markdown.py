"""The Markdown front end: bytes of ``workflows/x.md`` to a ``Document``.

Order of work: delimiters, YAML, checking walk, cross-key rules, body, source IR. Each stage goes on with what the one
before could read; nothing raises for anything a file can hold.
"""

from __future__ import annotations

from typing import Literal, cast

from msgspec import UNSET, Struct, UnsetType

from akm_schemas import keys
from akm_schemas.bounds import BODY_MARKS, SOURCE_BYTES
from akm_schemas.json_types import Json, JsonObject
from akmc_grammar import source_ir_build as build
from akmc_grammar.body_binder import Body, Section, read_body
from akmc_grammar.diagnostics import Sink
from akmc_grammar.document import Allow, Document, Locator, above
from akmc_grammar.frontmatter_rules import check_llm, check_steps
from akmc_grammar.ir import SourceIR, Unit
from akmc_grammar.places import Path, Place, Span
from akmc_grammar.sections import StepHead, bind_sections
from akmc_grammar.shape_hints import meant_key
from akmc_grammar.shape_walk import Walk
from akmc_grammar.source import SourceText
from akmc_grammar.suppression import find_allows
from akmc_grammar.yaml_reader import read_yaml, yaml_comments
from akmc_grammar.yaml_tree import Mapping, Node, Scalar, Sequence, YamlTree

OPENER = "---"
FIRST_YAML_LINE = 2


class MarkdownLocator(Struct, frozen=True):
    """Places of a Markdown workflow: frontmatter through the YAML tree, prose through its sections.

    ``("steps", i, "instructions")`` is the section's heading, ``("steps", i, "rubric")`` its gate heading.
    """

    tree: YamlTree
    sections: dict[int, Section]

    def span(self, place: Place) -> Span:
        """See ``document.Locator``."""
        prose = place.part == "value" and len(place.path) == 3 and place.path[2] in ("instructions", "rubric")
        if place.span is None and prose:
            section = self.sections.get(cast(int, place.path[1]))
            if section is not None:
                gate = section.gate if place.path[2] == "rubric" else None
                return gate.span if gate is not None else section.heading_span
        return self.tree.span(place)


class LineLocator:
    """Places of a text without structure: line 1."""

    def span(self, place: Place) -> Span:
        """The span a scanner gave, else the start of the text."""
        return place.span or Span(1, 1, 1, 1)


def read_markdown(source: SourceText, *, ref: str, sink: Sink) -> Document:
    """Read a Markdown workflow.

    Args:
        source: the file as it was read.
        ref: its canonical ref, empty outside a bundle.
        sink: where findings go.
    """
    nothing = Document(source, ref, None, frozenset({()}), LineLocator(), ())
    if not readable(source, sink):
        return nothing
    lines = source.lines
    closer = frontmatter_end(lines)
    if closer is None:
        report_missing_frontmatter(source, sink)
        return nothing
    text = "\n".join(lines[1:closer])
    if text:
        text += "\n"
    root = read_yaml(text, file=source.name, sink=sink, first_line=FIRST_YAML_LINE, dialect="frontmatter")
    body = read_body(lines[closer + 1 :], closer + 2)
    if beyond_bounds(body, source, sink):
        return nothing
    allows = find_allows(yaml_comments(text, first_line=FIRST_YAML_LINE), body.comments)
    if root is None and sink.has_errors:  # no YAML, or more of it than is read: nothing is concluded from the rest
        bind_sections(body, [], file=source.name, sink=sink, cascade=False)
        return Document(source, ref, None, frozenset({()}), LineLocator(), allows)
    return Reader(source, ref, sink, root, body).document(allows)


def readable(source: SourceText, sink: Sink) -> bool:
    """Whether the bytes can be read at all; reports why not."""
    if not SOURCE_BYTES.holds(len(source.raw)):
        message = f"a source has at most {SOURCE_BYTES.high} bytes, found {len(source.raw)}"
        help = "move what is no instruction into files that the steps read, or split the workflow"
        sink.report("bound-exceeded", Place(source.name, span=Span(1, 1, 1, 1)), message, help=help)
        return False
    if source.text is None:
        before = source.raw[: source.bad_offset]
        line = before.count(b"\n") + 1
        column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
        byte = source.raw[source.bad_offset or 0]
        sink.report(
            "source-not-utf8",
            Place(source.name, span=Span(line, column, line, column + 1)),
            f"the byte 0x{byte:02x} is not UTF-8",
            help="save the file as UTF-8",
        )
        return False
    return True


def beyond_bounds(body: Body, source: SourceText, sink: Sink) -> bool:
    """Whether the body was not read to its end; reports where that stopped. Nothing is concluded from the rest."""
    if body.beyond is None:
        return False
    message = f"a body has at most {BODY_MARKS.high} headings, and this is one more"
    help = "write as a list what is no step, or move it into files that the steps read"
    sink.report("bound-exceeded", Place(source.name, span=body.beyond), message, help=help)
    return True


def frontmatter_end(lines: list[str]) -> int | None:
    """Index of the closing delimiter, or ``None`` when line 1 is no opener or nothing closes it."""
    if lines[0] != OPENER:
        return None
    return next((index for index in range(1, len(lines)) if lines[index].rstrip(" \t") == OPENER), None)


def report_missing_frontmatter(source: SourceText, sink: Sink) -> None:
    """Say what is wrong with the delimiters, or that the file is of the classic format."""
    first = source.lines[0]
    if first == OPENER:
        why, help = 'the frontmatter is never closed: no later line is exactly "---"', 'add a line "---" after it'
    elif first.rstrip(" \t") == OPENER:
        why, help = 'line 1 is "---" with blanks behind it', "drop the blanks"
    else:
        why, help = 'line 1 is not exactly "---"', 'begin the file with "---", the keys, and another "---"'
    if classic := classic_marker(read_body(source.lines, 1)):
        report_superseded(source, sink, classic)
        return
    sink.report("missing-frontmatter", Place(source.name, span=Span(1, 1, 1, len(first) + 1)), why, help=help)


def classic_marker(body: Body) -> Span | None:
    """The heading that shows the classic Markdown format, or ``None``."""
    if body.title is not None and body.title.startswith("Workflow:"):
        return body.title_span
    return next((section.heading_span for section in body.sections if section.heading.startswith("Step:")), None)


def report_superseded(source: SourceText, sink: Sink, span: Span) -> None:
    """Report a workflow of the classic Markdown format."""
    sink.report(
        "superseded-format",
        Place(source.name, span=span),
        "this is a workflow of the classic Markdown format",
        help=f"akmc migrate {source.name}",
    )


class Reader(Struct):
    """One frontmatter with its body."""

    source: SourceText
    ref: str
    sink: Sink
    root: Node | None
    body: Body

    def document(self, allows: tuple[Allow, ...]) -> Document:
        """Walk, check, bind and build."""
        walk = Walk(self.source.name, self.sink)
        tree = YamlTree(self.root) if self.root is not None else None
        root = self.root if self.root is not None else Mapping((), Span(1, 1, 1, 4))
        steps_node = root.get("steps") if isinstance(root, Mapping) else None
        if steps_node is None and (classic := classic_marker(self.body)):
            report_superseded(self.source, self.sink, classic)
            return Document(self.source, self.ref, None, frozenset({()}), LineLocator(), ())
        walked = walk.value(root, keys.WORKFLOW, ())
        found = walked if isinstance(walked, dict) else None
        check_steps(walk, steps_node)
        if isinstance(root, Mapping) and isinstance(defaults := root.get("defaults"), Mapping):
            check_llm(walk, defaults.get("llm"), ("defaults", "llm"))
        heads = self.step_heads(steps_node, walk)
        sections = bind_sections(
            self.body, heads, file=self.source.name, sink=self.sink, cascade=isinstance(steps_node, Sequence)
        )
        locator: Locator = MarkdownLocator(tree, sections) if tree is not None else LineLocator()
        result = self.build(found, sections, walk, locator) if found is not None else None
        return Document(
            self.source,
            self.ref,
            result,
            frozenset(walk.poisoned) if result is not None else frozenset({()}),
            locator,
            allows,
        )

    def step_heads(self, steps: Node | None, walk: Walk) -> list[StepHead]:
        """What the body binder has to know of each step. A malformed id still names its section, so that one mistake
        is not reported twice; a step whose id is unreadable or repeated asks for none."""
        heads: list[StepHead] = []
        taken: set[str | None] = set()
        for index, step in enumerate(steps.items if isinstance(steps, Sequence) else ()):
            if not isinstance(step, Mapping):
                heads.append(StepHead(index, None, "route", False))
                continue
            node = step.get("id")
            name = node.value if isinstance(node, Scalar) and isinstance(node.value, str) else None
            bad = ("steps", index, "id") in walk.poisoned
            if bad and name in taken:
                name = None
            taken.add(name)
            names = [str(entry.key.value) for entry in step.entries]
            kinds = {name if keys.STEP.key(name) else meant_key(keys.STEP, name) for name in names}
            kind: Literal["unit", "map", "route"] = "map" if "map" in kinds else "unit"
            if bad or "route" in kinds:  # misspelt or beside another kind, it is reported as that
                kind = "route"
            gate = step.get("gate")
            loops = isinstance(gate, Mapping) and gate.get("max_loops") is not None
            heads.append(StepHead(index, name, kind, loops))
        return heads

    def build(self, root: JsonObject, sections: dict[int, Section], walk: Walk, locator: Locator) -> SourceIR:
        """Assemble the IR and poison what could not be assembled."""
        steps: list[Json] = cast("list[Json]", root["steps"]) if isinstance(root.get("steps"), list) else []
        built = []
        above_poisoned = above(walk.poisoned)
        for index, step in enumerate(steps):
            id_ok = ("steps", index, "id") not in walk.poisoned
            bag = step if isinstance(step, dict) else {}
            built.append(build.build_step(bag, id_ok=id_ok, section=sections.get(index)))
            poison_unreadable_exec(walk, above_poisoned, index, bag, built[-1].unit)
        return SourceIR(
            source_format="markdown",
            title=self.body.title or str(root.get("description", "")),
            description=str(root.get("description", "")),
            params=build.build_params(_mapping(root, "params")),
            defaults=build.build_defaults(_mapping(root, "defaults")),
            budget=build.build_budget(_mapping(root, "budget")),
            outputs=build.build_outputs(_mapping(root, "outputs")),
            steps=built,
            preamble=self.body.preamble,
            spans=self.spans(len(steps), sections, locator),
        )

    def spans(self, count: int, sections: dict[int, Section], locator: Locator) -> dict[str, list[int]]:
        """Provenance spans of steps, sections and gates."""
        found: dict[str, list[int]] = {}
        for index in range(count):
            span = locator.span(Place(self.source.name, ("steps", index)))
            found[f"steps.{index}"] = as_list(span)
            if (section := sections.get(index)) is not None:
                found[f"steps.{index}.section"] = as_list(section.span)
                if section.gate is not None:
                    found[f"steps.{index}.gate"] = as_list(section.gate.span)
        return found


def as_list(span: Span) -> list[int]:
    """A span as the plan writes it."""
    return [span.line, span.column, span.end_line, span.end_column]


def poison_unreadable_exec(
    walk: Walk, above_poisoned: frozenset[Path], index: int, step: JsonObject, unit: Unit | UnsetType
) -> None:
    """An exec that was written but cannot be read is not an engine unit: nothing may conclude anything from it."""
    if not isinstance(unit, Unit) or unit.exec is not UNSET:
        return
    for path in (("unit",), ("map", "unit")):
        bag: Json = step
        for name in path:
            bag = bag.get(name) if isinstance(bag, dict) else None
        at: Path = ("steps", index, *path, "exec")
        written = isinstance(bag, dict) and "exec" in bag
        faulty = bool(walk.poisoned) and any(at[:size] in walk.poisoned for size in range(len(at) + 1))
        if written or faulty or at in above_poisoned:
            walk.poisoned.add(at)


def _mapping(root: JsonObject, name: str) -> JsonObject:
    value = root.get(name)
    return value if isinstance(value, dict) else {}
