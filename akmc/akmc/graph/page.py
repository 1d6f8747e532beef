"""A scene as one self-contained page: the drawing beside every step in full, composed workflows inside their steps.

The browser is told to load nothing and to run our script alone (a content security policy with its hash), so that even
a hole in the escaping would run nothing of a plan's.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator

from akm_schemas.drawing import Line, Node, Prose, Scene, draw_scene
from akm_schemas.drawing.text import clip, xml
from akm_schemas.drawing.theme import style
from akm_schemas.visible import visible
from akmc.graph.page_style import SCRIPT, page_style


def page(scene: Scene) -> str:
    """The page as HTML 5."""
    title = scene.title or scene.ref or "workflow"
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_policy()}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{xml(clip(title, 200))}</title>",
            f"<style>\n{page_style()}{style()}</style>\n</head>\n<body>",
            f"<header><h1>{xml(clip(title, 200))}</h1><p><code>{xml(scene.ref)}</code></p></header>",
            '<div class="panes">',
            _drawing(scene, "", "drawing of the workflow", titled=False),
            '<main>\n<p class="tools" hidden><button id="expand" type="button">Expand all</button>',
            '<button id="fold" type="button">Fold all</button></p>',
            *_facts((*scene.head, *scene.foot)),
            *_steps(scene, ""),
            f"</main>\n</div>\n<script>{SCRIPT}</script>\n</body>\n</html>\n",
        ]
    )


def _policy() -> str:
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _anchor(place: str, index: int) -> str:
    """The element id of a step: positions, so that no text of a plan is one."""
    return f"step-{place}{index}"


def _drawing(scene: Scene, place: str, name: str, *, titled: bool = True) -> str:
    links = {node.key: f"#{_anchor(place, index)}" for index, node in enumerate(scene.nodes)}
    svg = draw_scene(scene, links=links, styled=False, titled=titled)
    return f'<nav class="drawing" aria-label="{xml(name)}" tabindex="0">\n{svg}</nav>'


def _steps(scene: Scene, place: str) -> Iterator[str]:
    for index, node in enumerate(scene.nodes):
        yield from _step(node, place, index)


def _step(node: Node, place: str, index: int) -> Iterator[str]:
    mark = node.mark
    tone = "" if mark is None else f' class="{mark.tone}{" gone" if mark.gone else ""}"'
    badge = "" if mark is None else f' <span class="mark {mark.tone}">{xml(mark.word)}</span>'
    kind = node.label + (", skipped unless a route selects it" if node.optional else "")
    gist = xml(clip(node.lines[0].text, 160)) if node.lines else ""
    yield f'<details id="{_anchor(place, index)}"{tone}>'
    yield f'<summary><b>{xml(node.id)}</b> <span class="kind">{kind}</span>{badge}<span class="gist">{gist}</span></summary>'
    if mark is not None:
        yield from _facts(tuple(Line(mark.word, note) for note in mark.notes))
    yield from _facts(node.lines)
    for prose in node.prose:
        yield from _prose(prose)
    if node.child is not None:
        inner = f"{place}{index}-"
        yield f'<section class="child" aria-label="{xml(f"workflow of step {node.id}")}">'
        yield _drawing(node.child, inner, f"drawing of the workflow of step {node.id}")
        yield from _steps(node.child, inner)
        yield "</section>"
    yield "</details>"


def _facts(lines: tuple[Line, ...]) -> Iterator[str]:
    if lines:
        yield "<dl>"
        yield from (f"<dt>{xml(line.name)}</dt><dd>{xml(line.text)}</dd>" for line in lines)
        yield "</dl>"


def _prose(prose: Prose) -> Iterator[str]:
    rows = (visible(row.expandtabs(4)) for row in prose.text.split("\n"))
    yield f"<h4>{xml(prose.name)}</h4>"
    yield "<pre>" + "\n".join(map(xml, rows)) + "</pre>"
