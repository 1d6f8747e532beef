"""A scene as a Mermaid flowchart, for Markdown files and pull requests on GitHub.

Nothing of the plan is Mermaid's to interpret: node names are ours (``s0``, ``s1``), and every character of a label that
is no letter, digit, blank or ellipsis is an entity code, a few between two letters aside. That keeps quotes, ``%%``
comments and directives, ``<`` and Markdown out of its reach (mermaid.js.org, "Entity codes to escape characters").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from akm_schemas.drawing import Node, Scene
from akm_schemas.drawing.text import clip
from akmc.graph.rows import end_rows, node_rows, start_rows

MAX_TEXT: Final = 50_000  # Mermaid's own default, which GitHub keeps ("maxTextSize")
MAX_EDGES: Final = 500  # likewise ("maxEdges")
_DETAIL: Final = ((60, 8), (48, 4), (36, 2), (28, 1), (24, 0))  # width of a row in cells, facts per node
_PLAIN: Final = re.compile(r"(?<=[^\W_])[-_.,/=](?=[^\W_])|[^\W_]|[ …]")
_DECODED: Final = re.compile(r"\$(?=\$)|:(?=fa-)")
_SHAPES: Final = {"route": ('{{"', '"}}'), "child workflow": ('[["', '"]]')}
_STROKES: Final = {"good": "#2da44e", "bad": "#cf222e", "warn": "#bf8700", "busy": "#0969da", "quiet": "#6e7781"}


def mermaid(scene: Scene) -> str:
    """The flowchart. A large plan says less per step, so that the text stays within what Mermaid draws by default."""
    text = ""
    for width, count in _DETAIL:
        text = "\n".join(_lines(scene, width, count)) + "\n"
        if len(text) <= MAX_TEXT:
            break
    return text


def edges(scene: Scene) -> int:
    """How many edges the flowchart has."""
    return len(scene.nodes) + 1 + len(scene.arcs)


def limits(scene: Scene, text: str) -> list[str]:
    """What of the flowchart ``text`` is more than Mermaid draws by default, as ends of a sentence."""
    counts = ((edges(scene), MAX_EDGES, "edges"), (len(text), MAX_TEXT, "characters"))
    return [f"{most} {word}, and there are {count}" for count, most, word in counts if count > most]


def label(text: str) -> str:
    """``text`` as part of a quoted label.

    Formulas (``$$x$$``) and icons (``fa:fa-car``) are looked for after the entities were decoded: an invisible blank
    keeps them texts.
    """
    text = _DECODED.sub(lambda match: f"{match.group()}\u200b", text)
    found: list[str] = []
    position = 0
    for match in _PLAIN.finditer(text):
        found += [_entities(text[position : match.start()]), match.group()]
        position = match.end()
    return "".join([*found, _entities(text[position:])])


def _entities(text: str) -> str:
    return "".join(f"#{ord(char)};" for char in text)


def _quoted(rows: list[str]) -> str:
    return "<br/>".join(map(label, rows))


def _lines(scene: Scene, width: int, count: int) -> Iterator[str]:
    yield "flowchart TD"
    yield f'  first(["{_quoted(start_rows(scene, width, count))}"])'
    for index, node in enumerate(scene.nodes):
        before, after = _shape(node)
        yield f"  s{index}{before}{_quoted(node_rows(node, width, count))}{after}"
    yield f'  last(["{_quoted(end_rows(scene, width, count))}"])'
    names = ["first", *(f"s{index}" for index in range(len(scene.nodes))), "last"]
    yield from (f"  {one} --> {other}" for one, other in pairwise(names))
    for arc in scene.arcs:
        yield f'  s{arc.source} -.->|"{label(clip(arc.text, max(width // 2, 12)))}"| s{arc.target}'
    yield from _classes(scene)


def _shape(node: Node) -> tuple[str, str]:
    if node.mapped:
        return '[/"', '"/]'
    return _SHAPES.get(node.kind, ('["', '"]'))


def _classes(scene: Scene) -> Iterator[str]:
    groups: dict[str, list[str]] = {}
    for index, node in enumerate(scene.nodes):
        if node.optional:
            groups.setdefault("maybe", []).append(f"s{index}")
        if node.mark is not None:
            groups.setdefault(node.mark.tone, []).append(f"s{index}")
    for name, members in groups.items():
        body = "stroke-dasharray:5 4" if name == "maybe" else f"stroke:{_STROKES[name]},stroke-width:3px"
        yield f"  classDef {name} {body}"
        yield f"  class {','.join(members)} {name}"
