"""A scene as SVG 1.1 with CSS classes: no script, no link outside, no element id (several share a page).

Everything that colour says is also said by a word or a shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from akm_schemas.drawing.layout import (
    BOX_WIDTH,
    BOX_X,
    CELL,
    LABEL_CELLS,
    MARGIN,
    NAME_CELLS,
    PADDING,
    SPINE_X,
    Box,
    Curve,
    Layout,
    Row,
    lay_out,
)
from akm_schemas.drawing.model import Mark, Node, Scene
from akm_schemas.drawing.scene import scene_of
from akm_schemas.drawing.text import cells, clip, xml
from akm_schemas.drawing.theme import ROOT, style
from akm_schemas.plan import Plan

_RIGHT: Final = BOX_X + BOX_WIDTH
_TEXT_X: Final = BOX_X + PADDING
_FACT_X: Final = _TEXT_X + int(NAME_CELLS * CELL)
_TITLE_CELLS: Final = 45
_ID_CELL: Final = 8.6  # width of one cell of the 14 px font of ids
_TIP_CELLS: Final = 600
_BEND: Final = 7


def draw_plan(
    plan: Plan, *, marks: Mapping[str, Mark] | None = None, links: Mapping[str, str] | None = None, styled: bool = True
) -> str:
    """A plan as one ``svg`` element, composed workflows folded.

    ``marks`` and ``links`` (targets of ``href``) go by step id. ``styled=False`` leaves the style sheet out, for a page
    that carries ``theme.style()`` once. Any text of the plan, the marks and the links is escaped.
    """
    return draw_scene(scene_of(plan, marks=marks), links=links, styled=styled)


def draw_scene(
    scene: Scene, *, links: Mapping[str, str] | None = None, styled: bool = True, titled: bool = True
) -> str:
    """A scene as one ``svg`` element; ``links`` go by the nodes' keys. ``titled``: title and ref stand on top."""
    layout = lay_out(scene, titled=titled)
    size = f'width="{layout.width}" height="{layout.height}" viewBox="0 0 {layout.width} {layout.height}"'
    name = scene.title or scene.ref or "workflow"
    title, ref = clip(name, _TITLE_CELLS), clip(scene.ref, _TITLE_CELLS + 15)
    role = "group" if links else "img"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{ROOT}" role="{role}" {size}>',
        f"<title>{xml(clip(name, _TIP_CELLS))}</title>",
        f"<style>\n{style()}</style>" if styled else "",
        f'<rect class="paper" width="{layout.width}" height="{layout.height}"/>',
        *((_text(MARGIN, 28, title, "title"), _text(MARGIN, 47, ref, "name")) if titled else ()),
        *_rows(layout.head, MARGIN),
        *_spine(layout),
        *(part for box in layout.boxes for part in _step(box, links or {})),
        *(_curve(curve) for curve in sorted(layout.curves, key=lambda curve: curve.arc.mark is None)),
        *_rows(layout.foot, MARGIN),
        "</svg>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _text(x: float, y: int, text: str, kind: str = "", anchor: str = "") -> str:
    """``text`` is visible already."""
    attributes = (f' class="{kind}"' if kind else "") + (f' text-anchor="{anchor}"' if anchor else "")
    return f'<text x="{x:g}" y="{y}"{attributes}>{xml(text)}</text>' if text else ""


def _rows(rows: tuple[Row, ...], x: int) -> Iterator[str]:
    for row in rows:
        yield _text(x, row.y, clip(row.name, NAME_CELLS - 1), "name")
        yield _text(x + int(NAME_CELLS * CELL), row.y, row.text)


def _spine(layout: Layout) -> Iterator[str]:
    """The line from the first box to the end, and a way round every box that can be skipped."""
    top, bottom = layout.boxes[0].y - 24, layout.boxes[-1].bottom + 22
    yield f'<circle class="spine-head" cx="{SPINE_X}" cy="{top}" r="5"/>'
    yield f'<path class="spine" d="M{SPINE_X} {top}V{bottom}"/>'
    for box in layout.boxes:
        y = box.y
        yield f'<path class="spine-head" d="M{SPINE_X} {y}l-5 -9h10z"/>'
        if box.node.optional:
            left, end = MARGIN, box.bottom + 16
            yield (
                f'<path class="skip" d="M{SPINE_X} {y - 14}H{left + _BEND}Q{left} {y - 14} {left} {y - 14 + _BEND}'
                f'V{end - _BEND}Q{left} {end} {left + _BEND} {end}H{SPINE_X}"/>'
            )
    yield f'<rect class="spine-head" x="{SPINE_X - 5}" y="{bottom - 5}" width="10" height="10"/>'


def _step(box: Box, links: Mapping[str, str]) -> Iterator[str]:
    node, mark = box.node, box.node.mark
    classes = "step" + (f" marked {mark.tone}" if mark is not None else "")
    if mark is not None and mark.gone:
        classes += " gone"
    link = links.get(node.key)
    if link is not None:
        said = xml(f"step {node.id}, {node.label}" + (f", {clip(mark.word, 40)}" if mark is not None else ""))
        yield f'<a href="{xml(link)}" aria-label="{said}">'
    yield f'<g class="{classes}">'
    yield f"<title>{xml(clip(_tip(node), _TIP_CELLS))}</title>"
    yield from _outline(box)
    yield _text(_TEXT_X, box.y + 23, clip(node.id, _id_cells(node)), "id")
    yield _text(_RIGHT - PADDING, box.y + 23, node.label, "name", "end")
    for row in box.rows:
        yield _text(_TEXT_X, row.y, clip(row.name, NAME_CELLS - 1), "name")
        yield _text(_FACT_X, row.y, row.text)
    if mark is not None:
        yield from _badge(box.y, clip(mark.word, LABEL_CELLS))
    yield "</g>"
    if link is not None:
        yield "</a>"


def _id_cells(node: Node) -> int:
    """How much of an id fits beside the kind."""
    return int((BOX_WIDTH - 2 * PADDING - (cells(node.label) + 2) * CELL) / _ID_CELL)


def _tip(node: Node) -> str:
    facts = (f"{line.name}: {line.text[:_TIP_CELLS]}" for line in node.lines if line.brief)
    return "; ".join([f"{node.id} ({node.label})", *facts])


def _outline(box: Box) -> Iterator[str]:
    """A shape per kind: cut corners route, sheets in a pile map, a double frame composes."""
    y, height = box.y, box.height
    if box.node.kind == "route":
        cut, low = 12, height - 24
        yield (
            f'<path class="box" d="M{BOX_X + cut} {y}H{_RIGHT - cut}l{cut} {cut}v{low}l-{cut} {cut}'
            f'H{BOX_X + cut}l-{cut} -{cut}v-{low}z"/>'
        )
        return
    for shift in (6, 3, 0) if box.node.mapped else (0,):
        yield (f'<rect class="box" x="{BOX_X + shift}" y="{y + shift}" width="{BOX_WIDTH}" height="{height}" rx="5"/>')
    if box.node.child is not None:
        yield (f'<rect class="box" x="{BOX_X + 4}" y="{y + 4}" width="{BOX_WIDTH - 8}" height="{height - 8}" rx="3"/>')


def _badge(y: int, word: str) -> Iterator[str]:
    width = int((cells(word) + 2) * CELL)
    left = _RIGHT - PADDING - width
    yield f'<rect class="pill" x="{left}" y="{y - 10}" width="{width}" height="19" rx="9"/>'
    yield _text(left + width / 2, y + 4, word, "badge", "middle")


def _curve(curve: Curve) -> str:
    start, lane, end, mark = curve.start, curve.lane, curve.end, curve.arc.mark
    group = "arc" + (f" {mark.tone}" if mark is not None else "")
    label = curve.arc.text
    path = (
        f"M{_RIGHT} {start}H{lane - _BEND}Q{lane} {start} {lane} {start + _BEND}"
        f"V{end - _BEND}Q{lane} {end} {lane - _BEND} {end}H{_RIGHT + 8}"
    )
    return (
        f'<g class="{group}"><title>{xml(clip(label, _TIP_CELLS))}</title><path class="route" d="{path}"/>'
        f'<path class="route-head" d="M{_RIGHT} {end}l9 -5v10z"/>'
        f"{_text(_RIGHT + 14, end - 4, clip(label, LABEL_CELLS - 1), 'route-label')}</g>"
    )
