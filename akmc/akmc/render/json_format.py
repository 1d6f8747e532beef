"""The JSON format: ``{"diagnostics": [...], "summary": {...}}``, complete, in one document."""

from __future__ import annotations

from typing import Any

from akmc.render.escape import json_text
from akmc.render.finding import Finding, FoundNote, Report


def render(report: Report, color: bool) -> str:
    """The whole report; ``color`` does not apply."""
    del color
    document = {
        "diagnostics": [finding_json(finding) for finding in report.findings],
        "summary": {
            "files": len(report.paths),
            "errors": report.count("error"),
            "warnings": report.count("warning"),
            "notes": report.count("note"),
            "fixed": report.fixed,
        },
    }
    return json_text(document, indent=2) + "\n"


def finding_json(finding: Finding) -> dict[str, Any]:
    """One diagnostic as plain JSON; lines and columns count from 1, the end is exclusive."""
    rule, span = finding.rule, finding.span
    found: dict[str, Any] = {
        "code": rule.code,
        "rule": rule.name,
        "severity": rule.severity,
        "path": finding.path,
        "line": span.line,
        "column": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
        "message": finding.message,
        "help": finding.help,
        "notes": [_note_json(note) for note in finding.notes],
        "fixable": finding.fixable,
    }
    if rule.usage_code is not None:
        found["usageCode"] = rule.usage_code
    return found


def _note_json(note: FoundNote) -> dict[str, Any]:
    return {
        "message": note.message,
        "path": note.path,
        "line": note.span.line if note.span else None,
        "column": note.span.column if note.span else None,
    }
