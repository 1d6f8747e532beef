"""JSON Lines: one diagnostic a line, no summary."""

from __future__ import annotations

from akmc.render.escape import json_text
from akmc.render.finding import Report
from akmc.render.json_format import finding_json


def render(report: Report, color: bool) -> str:
    """One JSON object a line; nothing at all for a clean run."""
    del color
    return "".join(json_text(finding_json(finding)) + "\n" for finding in report.findings)
