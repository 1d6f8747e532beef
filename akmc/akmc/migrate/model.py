"""What a migration makes: a draft of the new document, and remarks about the old one."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from akm_schemas.json_types import Json, JsonObject
from akmc_grammar.places import Path, Span
from akmc_grammar.yaml_tree import Mapping, Node, Sequence

SHOWN = 60


@dataclass(frozen=True, slots=True, order=True)
class Remark:
    """Something of the old file (at ``span`` there) that a person has to know about the new one."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Section:
    """One step's prose, ready to stand below its heading; ``rubric`` is ``None`` without a gate."""

    step_id: str
    instructions: str
    rubric: str | None = None


@dataclass(frozen=True, slots=True)
class Origins:
    """From a path of the new frontmatter to a place in the old file.

    ``root`` is the old YAML, whose paths mostly stayed; ``places`` holds those that did not.
    """

    root: Node | None
    places: dict[Path, Span] = field(default_factory=dict)

    def span(self, path: Path) -> Span:
        """The place of ``path``, else of the nearest thing above it, else the start of the file."""
        for size in range(len(path), -1, -1):
            found = self.places.get(path[:size]) or _span_at(self.root, path[:size])
            if found is not None:
                return found
        return Span(1, 1, 1, 1)


def _span_at(node: Node | None, path: Path) -> Span | None:
    span = None if node is None else _short(node.span)
    for step in path:
        if isinstance(node, Mapping) and isinstance(step, str):
            entry = node.entry(step)
            node, span = (None, None) if entry is None else (entry.value, entry.key.span)
        elif isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
            span = _short(node.span)
        else:
            return None
    return span


def _short(span: Span) -> Span:
    return Span(span.line, span.column, span.line, span.column)


@dataclass(frozen=True, slots=True)
class Draft:
    """A workflow on its way: ``frontmatter`` is the whole mapping, ``title`` the text of the H1.

    ``preamble`` is the old free prose, ``titles`` are (step id, old title) pairs, ``kept`` lines of prose about what
    the new format has no place for.
    """

    title: str
    frontmatter: JsonObject
    preamble: str
    titles: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    kept: tuple[str, ...]
    origins: Origins


@dataclass(slots=True)
class Notes:
    """Collects remarks and kept lines while a draft is made."""

    remarks: list[Remark] = field(default_factory=list)
    kept: list[tuple[Span, str]] = field(default_factory=list)

    def warn(self, span: Span, message: str) -> None:
        """Remark on something that changed."""
        self.remarks.append(Remark(_short(span), message))

    def keep(self, span: Span, what: str, value: Json, why: str) -> None:
        """Keep as prose what has no equivalent. ``what`` names it ("runner of step ...")."""
        name = (what if what.isprintable() else json.dumps(what)[1:-1]).replace("<!--", "&lt;!--")
        self.kept.append((_short(span), f"- {name}: {code_span(one_line(value))}"))
        self.warn(span, f"{what}, {clipped(value)}: {why}; kept as prose")

    def kept_lines(self) -> tuple[str, ...]:
        """The kept lines in the order of their old places."""
        return tuple(line for _, line in sorted(self.kept))


def one_line(value: Json) -> str:
    """A text that fits on a line as it is, anything else as JSON."""
    if isinstance(value, str) and value.strip() == value != "" and value.isprintable():
        return value
    return json.dumps(value, ensure_ascii=not json.dumps(value, ensure_ascii=False).isprintable())


def clipped(value: Json) -> str:
    """``value`` for a message: texts in quotes, long values cut."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."


def code_span(text: str) -> str:
    """``text`` (one line) as Markdown code, with a fence longer than any run of backticks inside."""
    fence = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"
