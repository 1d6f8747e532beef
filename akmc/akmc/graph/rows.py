"""The rows of a node or an end for formats that place things themselves."""

from __future__ import annotations

from akm_schemas.counting import counted
from akm_schemas.drawing import Line, Node, Scene
from akm_schemas.drawing.text import clip, wrap


def node_rows(node: Node, width: int, count: int) -> list[str]:
    """Id, kind and mark on the first row, then at most ``count`` facts of ``width`` cells, visible and clipped."""
    facts = [f"{line.name} {line.text[: 4 * width]}" for line in node.lines if line.brief]
    if node.child is not None:
        facts.append(f"{counted(node.child.deep(), 'step')} inside")
    if node.optional:
        facts.append("skipped unless selected")
    mark = "" if node.mark is None else f"{clip(node.mark.word, 24)} "
    notes = [] if node.mark is None else list(node.mark.notes)
    return [f"{mark}{clip(node.id, max(width, 40))} ({node.label})", *_clipped([*notes[:2], *facts], width, count)]


def start_rows(scene: Scene, width: int, count: int) -> list[str]:
    """Title and ref, then what a run starts with."""
    names = [clip(name, width) for name in (scene.title, scene.ref) if name]
    return [*(names or ["workflow"]), *_lines(scene.head, width, count)]


def end_rows(scene: Scene, width: int, count: int) -> list[str]:
    """The outputs."""
    return _lines(scene.foot, width, count) or ["end"]


def _lines(lines: tuple[Line, ...], width: int, count: int) -> list[str]:
    return _clipped([f"{line.name} {line.text[: 4 * width]}" for line in lines], width, count)


def _clipped(texts: list[str], width: int, count: int) -> list[str]:
    shown = [row for text in texts[:count] for row in wrap(text, width, 2)]
    return [*shown, f"and {len(texts) - count} more"] if 0 < count < len(texts) else shown
