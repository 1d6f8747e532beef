"""The command front end: bytes of ``commands/x.md`` to a ``CommandDocument``.

Frontmatter is optional; everything behind it is the prompt template. Source: spec 1, sections 1 and 3.
"""

from __future__ import annotations

from typing import Final, Literal

from msgspec import Struct, field

from akm_schemas.bounds import INSTRUCTION_BYTES
from akm_schemas.task_keys import COMMAND
from akmc_grammar.diagnostics import Sink
from akmc_grammar.document import Allow, Locator
from akmc_grammar.markdown import FIRST_YAML_LINE, OPENER, LineLocator, frontmatter_end, readable
from akmc_grammar.places import Path, Place, Span
from akmc_grammar.shape_walk import Walk
from akmc_grammar.source import SourceText
from akmc_grammar.suppression import find_allows
from akmc_grammar.yaml_reader import read_yaml, yaml_comments
from akmc_grammar.yaml_tree import Mapping, YamlTree

ARGUMENTS: Final = "$ARGUMENTS"


class Command(Struct, frozen=True):
    """A prompt template with what its frontmatter asks for."""

    template: str
    model: str | None = None
    agent: str | None = None


class CommandDocument(Struct, frozen=True):
    """A command after its front end; see ``document.Document`` for the fields."""

    source: SourceText
    ref: str
    ir: Command | None
    locator: Locator
    poisoned: frozenset[Path] = frozenset()
    allows: tuple[Allow, ...] = field(default=())


def read_command(source: SourceText, *, ref: str, sink: Sink) -> CommandDocument:
    """Read a command.

    Args:
        source: the file as it was read.
        ref: its canonical ref.
        sink: where findings go.
    """
    if not readable(source, sink) or source.text is None:
        return CommandDocument(source, ref, None, LineLocator(), frozenset({()}))
    lines = source.lines
    if lines[0].rstrip(" \t") != OPENER:
        return _with_body(source, ref, sink, lines, 0, Command(""), LineLocator(), ())
    closer = frontmatter_end([OPENER, *lines[1:]])
    if closer is None:
        why = 'the frontmatter is never closed: no later line is exactly "---"'
        place = Place(source.name, span=Span(1, 1, 1, len(lines[0]) + 1))
        sink.report("missing-frontmatter", place, why, help='add a line "---" after it')
        return CommandDocument(source, ref, None, LineLocator(), frozenset({()}))
    text = "".join(f"{line}\n" for line in lines[1:closer])
    faults = len(sink.found)
    root = read_yaml(text, file=source.name, sink=sink, first_line=FIRST_YAML_LINE, dialect="frontmatter")
    allows = find_allows(yaml_comments(text, first_line=FIRST_YAML_LINE), ())
    walk = Walk(source.name, sink)
    walked = walk.value(root or Mapping((), Span(1, 1, 1, 4)), COMMAND, ())
    head = walked if isinstance(walked, dict) else {}
    locator = YamlTree(root, FIRST_YAML_LINE)
    if len(sink.found) > faults:
        return CommandDocument(source, ref, None, locator, frozenset(walk.poisoned | {()}), allows)
    model, agent = head.get("model"), head.get("agent")
    asked = Command("", model if isinstance(model, str) else None, agent if isinstance(agent, str) else None)
    return _with_body(source, ref, sink, lines[closer + 1 :], closer + 1, asked, locator, allows)


def _with_body(
    source: SourceText,
    ref: str,
    sink: Sink,
    lines: list[str],
    first: int,
    asked: Command,
    locator: Locator,
    allows: tuple[Allow, ...],
) -> CommandDocument:
    """The document with its template, which is the text without blank lines at either end."""
    template = without_blank_ends("\n".join(lines))
    size = len(template.encode("utf-8", "surrogatepass"))
    if not INSTRUCTION_BYTES.holds(size):
        place = Place(source.name, span=Span(first + 1, 1, first + 1, 1))
        message = f"the prompt has {INSTRUCTION_BYTES.says()}, found {size}"
        sink.report("bound-exceeded", place, message, help="write what the engine shall do below the frontmatter")
        return CommandDocument(source, ref, None, locator, frozenset({()}), allows)
    return CommandDocument(source, ref, Command(template, asked.model, asked.agent), locator, frozenset(), allows)


def without_blank_ends(text: str) -> str:
    """``text`` without blank lines at either end and without its last line end, as sections of a workflow are read."""
    lines = text.split("\n")
    kept = [index for index, line in enumerate(lines) if line.strip(" \t")]
    return "\n".join(lines[kept[0] : kept[-1] + 1]) if kept else ""


def filled(template: str, arguments: str | None) -> tuple[str, Literal["none", "arguments"]]:
    """The prompt, and whether the template had a place for arguments.

    One pass: what was inserted is never looked at again; without arguments the empty text is inserted.
    """
    kind: Literal["none", "arguments"] = "arguments" if ARGUMENTS in template else "none"
    return template.replace(ARGUMENTS, arguments or ""), kind
