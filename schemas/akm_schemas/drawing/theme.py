"""The colours of drawings, light and dark. Plain rules without variables: viewers other than browsers read them too.

Contrast of text against its ground is at least 4.5 to 1 (WCAG 2.2, 1.4.3); a test computes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from akm_schemas.drawing.model import Tone


@dataclass(frozen=True, slots=True)
class Palette:
    """Colours as ``#rrggbb``: the ground, boxes, texts, lines, and one colour per tone."""

    paper: str
    box: str
    ink: str
    quiet: str
    line: str
    route: str
    tones: dict[Tone, str]


LIGHT: Final = Palette(
    paper="#ffffff",
    box="#f6f8fa",
    ink="#1f2328",
    quiet="#59636e",
    line="#6e7781",
    route="#0550ae",
    tones={"good": "#116329", "bad": "#a40e26", "warn": "#7d4e00", "busy": "#0550ae", "quiet": "#59636e"},
)
DARK: Final = Palette(
    paper="#0d1117",
    box="#1b222b",
    ink="#e6edf3",
    quiet="#9da7b3",
    line="#8b949e",
    route="#79c0ff",
    tones={"good": "#7ee787", "bad": "#ffa198", "warn": "#f2cc60", "busy": "#79c0ff", "quiet": "#9da7b3"},
)
ROOT: Final = "akm-drawing"

_SHAPES: Final = f"""\
.{ROOT} {{ font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }}
.{ROOT} text {{ white-space: pre }}
.{ROOT} .title {{ font-size: 17px; font-weight: 600 }}
.{ROOT} .id {{ font-size: 14px; font-weight: 600 }}
.{ROOT} .box {{ stroke-width: 1.3 }}
.{ROOT} .spine, .{ROOT} .skip, .{ROOT} .route {{ fill: none; stroke-width: 1.6 }}
.{ROOT} .skip, .{ROOT} .gone .box {{ stroke-dasharray: 5 4 }}
.{ROOT} .marked .box {{ stroke-width: 2.6 }}
.{ROOT} .badge {{ font-weight: 600 }}
.{ROOT} a {{ text-decoration: none }}
.{ROOT} a:hover .box {{ stroke-width: 2.6 }}
.{ROOT} a:focus {{ outline: none }}
.{ROOT} a:focus-visible .box {{ stroke-width: 4 }}
"""


def style() -> str:
    """The style sheet of every drawing; all its rules begin with the class of the ``svg`` element."""
    return f"{_SHAPES}{_rules(LIGHT)}@media (prefers-color-scheme: dark) {{\n{_rules(DARK)}}}\n"


def _rules(palette: Palette) -> str:
    rules = [
        (".paper", f"fill: {palette.paper}"),
        ("text", f"fill: {palette.ink}"),
        (".name", f"fill: {palette.quiet}"),
        (".box", f"fill: {palette.box}; stroke: {palette.line}"),
        (".spine", f"stroke: {palette.line}"),
        (".skip", f"stroke: {palette.line}"),
        (".spine-head", f"fill: {palette.line}"),
        (".route", f"stroke: {palette.route}"),
        (".route-head", f"fill: {palette.route}"),
        (".route-label", f"fill: {palette.route}"),
        (".badge", f"fill: {palette.paper}"),
        ("a:focus-visible .box", f"stroke: {palette.route}"),
    ]
    for tone, color in palette.tones.items():
        rules += [
            (f".{tone} .box", f"stroke: {color}"),
            (f".{tone} .pill", f"fill: {color}"),
            (f".{tone} .route", f"stroke: {color}"),
            (f".{tone} .route-head", f"fill: {color}"),
            (f".{tone} .route-label", f"fill: {color}"),
        ]
    return "".join(f".{ROOT} {selector} {{ {body} }}\n" for selector, body in rules)
