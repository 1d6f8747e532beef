"""The plan as a drawing, each step marked with what became of it, the routes that were taken marked too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from akm_run.report.part import Part
from akm_run.report.texts import Texts
from akm_run.report.words import counted, lasting, sign, tone
from akm_run.rows import StepRow
from akm_schemas.drawing import Line, Mark, Node, Scene, draw_scene, scene_of

_TAKEN = Mark("✓", "good")


def drawing(part: Part) -> Iterator[str]:
    """The drawing; its boxes lead to the steps."""
    if part.shown.plan is None:
        return
    marks = {row.step_id: _mark(part, row) for row in part.rows}
    links = {row.step_id: f"#{part.anchor(f'step-{row.index}')}" for row in part.rows}
    scene = _routed(part, scene_of(part.shown.plan, marks=marks))
    if part.texts.scrubs:
        scene = _scrubbed(scene, part.texts)
    yield f'<div class="drawing" role="group" aria-label="drawing of the steps, each with its status" tabindex="0">\n{draw_scene(scene, links=links, styled=False, titled=False)}</div>'


def _mark(part: Part, row: StepRow) -> Mark:
    word = part.step_word(row)
    return Mark(f"{sign(word)} {word}", tone(word), tuple(_notes(part, row)), label="this run")


def _notes(part: Part, row: StepRow) -> Iterator[str]:
    seconds = part.step_seconds(row)
    facts = [] if seconds is None else [lasting(seconds)]
    if row.unit_count > 1 or row.failed_units:
        failed = f", {row.failed_units} failed" if row.failed_units else ""
        facts.append(counted(row.unit_count, "unit") + failed)
    tokens = sum(attempt.tokens or 0 for attempt in part.attempts_of(row.index))
    if tokens:
        facts.append(counted(tokens, "token"))
    if row.loop > 1:
        facts.append(f"round {row.loop}")
    if facts:
        yield ", ".join(facts)
    if row.selected is not None:
        yield f"selected {row.selected}"
    if row.reason is not None:
        yield row.reason


def _routed(part: Part, scene: Scene) -> Scene:
    selected = {row.index: row.selected for row in part.rows if row.selected is not None}
    ids = [node.id for node in scene.nodes]
    arcs = tuple(
        replace(arc, mark=_TAKEN) if selected.get(arc.source) == ids[arc.target] else arc for arc in scene.arcs
    )
    return replace(scene, arcs=arcs)


def _scrubbed(scene: Scene, texts: Texts) -> Scene:
    """The scene without secrets: a param's default may be one, and it stands in the plan."""

    def lines(found: tuple[Line, ...]) -> tuple[Line, ...]:
        return tuple(replace(line, text=texts.plain(line.text)) for line in found)

    def node(found: Node) -> Node:
        prose = tuple(replace(part, text=texts.plain(part.text)) for part in found.prose)
        return replace(found, lines=lines(found.lines), prose=prose)

    nodes = tuple(map(node, scene.nodes))
    return replace(scene, head=lines(scene.head), foot=lines(scene.foot), nodes=nodes)
