"""A scene in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from akm_schemas.drawing import Node, Scene
from akm_schemas.drawing.text import clip
from akm_schemas.visible import visible
from akmc.graph.rows import end_rows, node_rows, start_rows

_WIDTH: Final = 60
_COUNT: Final = 8
_COLORS: Final = {"good": "#116329", "bad": "#a40e26", "warn": "#7d4e00", "busy": "#0550ae", "quiet": "#59636e"}


def dot(scene: Scene) -> str:
    """The directed graph; routes bend beside the spine, which stays a line."""
    return "\n".join(_lines(scene)) + "\n"


def quoted(text: str) -> str:
    r"""``text`` as a quoted string: no quote ends it, no ``\N`` or ``&lt;`` is interpreted (graphviz.org, "escString")."""
    safe = visible(text).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{safe}"'


def _label(rows: list[str]) -> str:
    """Rows as one label, flush left (``\\l``)."""
    return '"' + "".join(quoted(row)[1:-1] + "\\l" for row in rows) + '"'


def _lines(scene: Scene) -> Iterator[str]:
    yield "digraph workflow {"
    yield '  graph [rankdir=TB, charset="UTF-8", fontname="monospace"];'
    yield '  node [shape=box, fontname="monospace", fontsize=10];'
    yield '  edge [fontname="monospace", fontsize=9];'
    yield f"  first [shape=oval, label={_label(start_rows(scene, _WIDTH, _COUNT))}];"
    for index, node in enumerate(scene.nodes):
        yield f"  s{index} [label={_label(node_rows(node, _WIDTH, _COUNT))}{_looks(node)}];"
    yield f"  last [shape=oval, label={_label(end_rows(scene, _WIDTH, _COUNT))}];"
    names = ["first", *(f"s{index}" for index in range(len(scene.nodes))), "last"]
    yield f"  {' -> '.join(names)} [weight=100];"
    for arc in scene.arcs:
        color = "" if arc.mark is None else f', color="{_COLORS[arc.mark.tone]}"'
        text = quoted(clip(arc.text, _WIDTH))
        yield f"  s{arc.source} -> s{arc.target} [style=dashed, constraint=false, label={text}{color}];"
    yield "}"


def _looks(node: Node) -> str:
    looks: dict[str, str] = {}
    if node.kind == "route":
        looks["shape"] = "octagon"
    elif node.mapped:
        looks["shape"] = "box3d"
    elif node.child is not None:
        looks["peripheries"] = "2"
    if node.optional:
        looks["style"] = "dashed"
    if node.mark is not None:
        looks["color"] = f'"{_COLORS[node.mark.tone]}"'
        looks["penwidth"] = "2.5"
    return "".join(f", {key}={value}" for key, value in looks.items())
