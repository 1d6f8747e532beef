"""The formats of ``akmc graph`` by name."""

from __future__ import annotations

from typing import Literal, TypeAlias, assert_never

from akm_schemas.drawing import Scene, draw_scene

Format: TypeAlias = Literal["mermaid", "dot", "svg", "html"]


def write_scene(scene: Scene, format_name: Format) -> str:
    """``scene`` in a format, as text that ends in a newline."""
    if format_name == "mermaid":
        from akmc.graph.mermaid import mermaid

        return mermaid(scene)
    if format_name == "dot":
        from akmc.graph.dot import dot

        return dot(scene)
    if format_name == "svg":
        return draw_scene(scene)
    if format_name == "html":
        from akmc.graph.page import page

        return page(scene)
    assert_never(format_name)
