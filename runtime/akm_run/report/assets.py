"""The page's style and script, files of this package. The colours are those of the drawings."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from akm_schemas.drawing.theme import DARK, LIGHT, Palette, style


@cache
def page_script() -> str:
    """The script; the page's policy allows exactly this text."""
    return _text("page.js")


@cache
def page_style() -> str:
    """The rules of the page in both colour schemes, and those of the drawings in it."""
    return (
        f":root {{ {_colors(LIGHT)} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {_colors(DARK)} }} }}\n"
        f"{_text('page.css')}{style()}"
    )


def _text(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _colors(palette: Palette) -> str:
    plain = {
        "paper": palette.paper,
        "box": palette.box,
        "ink": palette.ink,
        "soft": palette.quiet,
        "line": palette.line,
        "link": palette.route,
    }
    named = plain | {f"{tone}": color for tone, color in palette.tones.items()}
    return "; ".join(f"--{name}: {color}" for name, color in named.items())
