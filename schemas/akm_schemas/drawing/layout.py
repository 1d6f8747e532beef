"""Where everything stands, in whole pixels.

The spine is a line, so nothing is searched for: boxes go down the page in order. A route leaves its box on the right,
goes down in a lane of its own, and enters each of its targets from the right; short lanes are the inner ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from akm_schemas.counting import counted
from akm_schemas.drawing.model import Arc, Line, Node, Scene
from akm_schemas.drawing.text import wrap

CELL: Final = 7.3  # width of one cell of the 12 px fixed-width font, the widest of the usual ones
ROW: Final = 17
BOX_X: Final = 48
BOX_WIDTH: Final = 480
PADDING: Final = 14
SPINE_X: Final = BOX_X + 26
NAME_CELLS: Final = 10
TEXT_CELLS: Final = int((BOX_WIDTH - 2 * PADDING) / CELL) - NAME_CELLS
LABEL_CELLS: Final = 22
LANE: Final = 14
MARGIN: Final = 20
GAP: Final = 36
_HEAD_ROW: Final = 30
_PORT_ROW: Final = 18
_LINE_ROWS: Final = 3
_NOTES: Final = 4


@dataclass(frozen=True, slots=True)
class Row:
    """One row of text: the fact's name on its first row, ``y`` of its base line."""

    name: str
    text: str
    y: int


@dataclass(frozen=True, slots=True)
class Box:
    """The place of a node; ``ports`` are the heights where routes enter, by the arc's position in the scene."""

    node: Node
    y: int
    height: int
    rows: tuple[Row, ...]
    ports: dict[int, int]

    @property
    def bottom(self) -> int:
        """The lower edge."""
        return self.y + self.height

    @property
    def exit(self) -> int:
        """Where its routes leave."""
        return self.bottom - 13


@dataclass(frozen=True, slots=True)
class Curve:
    """The place of an arc: from ``start`` across to ``lane``, down it, and back to ``end``."""

    arc: Arc
    start: int
    lane: int
    end: int


@dataclass(frozen=True, slots=True)
class Layout:
    """Everything in place; ``width`` and ``height`` are the picture's."""

    head: tuple[Row, ...]
    boxes: tuple[Box, ...]
    curves: tuple[Curve, ...]
    foot: tuple[Row, ...]
    width: int
    height: int


def lay_out(scene: Scene, *, titled: bool = True) -> Layout:
    """Place a scene, with room for a title above it. Time grows with the size of the scene and, for lanes, with the square of its routes (256)."""
    head, y = _rows(scene.head, 66 if titled else 22)
    entering: dict[int, list[int]] = {}
    for position, arc in enumerate(scene.arcs):
        entering.setdefault(arc.target, []).append(position)
    boxes: list[Box] = []
    y += 14 if scene.head else 0
    for index, node in enumerate(scene.nodes):
        box = _box(node, y + GAP, entering.get(index, []))
        boxes.append(box)
        y = box.bottom
    curves = _curves(scene, boxes)
    optional = any(node.optional for node in scene.nodes)
    foot, bottom = _rows((*scene.foot, *((_LEGEND,) if optional else ())), y + GAP + 22)
    right = max((curve.lane for curve in curves), default=BOX_X + BOX_WIDTH)
    return Layout(head, tuple(boxes), curves, foot, right + MARGIN + 6, bottom + 8)


_LEGEND: Final = Line("- - -", "a step that is skipped unless a route selects it")


def _rows(lines: tuple[Line, ...], y: int) -> tuple[tuple[Row, ...], int]:
    """The rows of ``lines``, the first one at ``y``, and where the next one would be."""
    found: list[Row] = []
    for line in lines:
        for position, text in enumerate(wrap(line.text, TEXT_CELLS, _LINE_ROWS) or ("",)):
            found.append(Row("" if position else line.name, text, y))
            y += ROW
    return tuple(found), y


def _box(node: Node, y: int, entering: list[int]) -> Box:
    lines = [line for line in node.lines if line.brief]
    if node.child is not None:
        lines.append(Line("folded", counted(node.child.deep(), "step")))
    elif node.kind == "prompt" and node.prose:
        lines.append(Line("asks", node.prose[0].text.split("\n", 1)[0]))
    if node.mark is not None:
        notes, label = node.mark.notes, node.mark.label or node.mark.word
        lines += [Line(label if not position else "", note) for position, note in enumerate(notes[:_NOTES])]
        if len(notes) > _NOTES:
            lines.append(Line("", f"and {len(notes) - _NOTES} more"))
    rows, end = _rows(tuple(lines), y + _HEAD_ROW + 12)
    needed = 24 + _PORT_ROW * len(entering) + (_PORT_ROW if node.kind == "route" else 0)
    ports = {position: y + 24 + _PORT_ROW * place for place, position in enumerate(entering)}
    return Box(node, y, max(end - y - 4, needed, _HEAD_ROW + 8), rows, ports)


def _curves(scene: Scene, boxes: list[Box]) -> tuple[Curve, ...]:
    spans: dict[int, tuple[int, int]] = {}
    curves: list[Curve] = []
    for position, arc in enumerate(scene.arcs):
        start, end = boxes[arc.source].exit, boxes[arc.target].ports[position]
        spans[arc.source] = (start, max(end, spans.get(arc.source, (start, end))[1]))
        curves.append(Curve(arc, start, 0, end))
    lanes = _lanes(spans)
    first = BOX_X + BOX_WIDTH + int(LABEL_CELLS * CELL) + LANE
    return tuple(replace(curve, lane=first + LANE * lanes[curve.arc.source]) for curve in curves)


def _lanes(spans: dict[int, tuple[int, int]]) -> dict[int, int]:
    """A lane for each span, so that no two in one lane meet; the shortest take the first ones."""
    taken: list[list[tuple[int, int]]] = []
    found: dict[int, int] = {}
    for source, (start, end) in sorted(spans.items(), key=lambda item: (item[1][1] - item[1][0], item[1][0])):
        free = (number for number, lane in enumerate(taken) if all(end < begun or start > done for begun, done in lane))
        number = next(free, len(taken))
        if number == len(taken):
            taken.append([])
        taken[number].append((start, end))
        found[source] = number
    return found
