"""A plan as a picture: import it where a picture is wanted, never at the start of a program.

``scene`` says what there is to see, ``layout`` where it stands, ``svg`` writes it. ``akmc graph`` and the report of
``akm-run`` share all three.
"""

from __future__ import annotations

from akm_schemas.drawing.model import Arc, Line, Mark, Node, Prose, Scene, Tone
from akm_schemas.drawing.scene import scene_of
from akm_schemas.drawing.svg import draw_plan, draw_scene

__all__ = ["Arc", "Line", "Mark", "Node", "Prose", "Scene", "Tone", "draw_plan", "draw_scene", "scene_of"]
