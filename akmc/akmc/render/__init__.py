"""Findings and plans as text and as machine formats; one module per format, imported on use."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable

    from akmc.render.finding import Report

# format -> module with ``render(report, color) -> str``
FORMATS: dict[str, str] = {
    "text": "akmc.render.text",
    "concise": "akmc.render.concise",
    "json": "akmc.render.json_format",
    "jsonl": "akmc.render.jsonl",
    "sarif": "akmc.render.sarif",
    "github": "akmc.render.github",
    "junit": "akmc.render.junit",
}


def render_report(report: Report, format_name: str, *, color: bool = False) -> str:
    """The report in one of ``FORMATS``; ``color`` matters to the text format alone."""
    render = cast("Callable[[Report, bool], str]", import_module(FORMATS[format_name]).render)
    return render(report, color)
