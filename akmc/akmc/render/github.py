"""Workflow commands of GitHub Actions, one line per finding.

Format and escapes: "Workflow commands for GitHub Actions" and the toolkit's ``@actions/core`` (command.ts).
"""

from __future__ import annotations

from akmc.render.escape import visible
from akmc.render.finding import Finding, Report

_LEVELS = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report, color: bool) -> str:
    """One command a line; ``color`` does not apply."""
    del color
    return "".join(_command(finding) + "\n" for finding in report.findings)


def _command(finding: Finding) -> str:
    rule, span = finding.rule, finding.span
    places = {"file": finding.path, "line": str(span.line), "col": str(span.column)}
    if span.end_line == span.line:  # columns of an annotation are taken only within one line
        places |= {"endLine": str(span.end_line), "endColumn": str(span.end_column)}
    properties = {**places, "title": f"{rule.name} ({rule.code})"}
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    message = finding.message if finding.help is None else f"{finding.message}\nhelp: {finding.help}"
    return f"::{_LEVELS[rule.severity]} {listed}::{_data(message)}"


def _data(text: str) -> str:
    shown = "\n".join(map(visible, text.split("\n")))  # the log that shows the command is a terminal too
    return shown.replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
