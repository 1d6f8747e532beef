"""SARIF 2.1.0 (OASIS), for code scanning."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote

from akmc.render.escape import json_text
from akmc.render.finding import Finding, FoundFix, FoundNote, Report
from akmc.version import version
from akmc_grammar.places import Span
from akmc_grammar.rules import Rule

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(report: Report, color: bool) -> str:
    """One run with the rules that were found and a result per finding; ``color`` does not apply."""
    del color
    rules = sorted({finding.rule.code: finding.rule for finding in report.findings}.items())
    index = {code: position for position, (code, _) in enumerate(rules)}
    run = {
        "tool": {"driver": {"name": "akmc", "version": version(), "rules": [_rule(rule) for _, rule in rules]}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, index[finding.rule.code]) for finding in report.findings],
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": f"akmc explain {rule.name}"},
        "defaultConfiguration": {"level": rule.severity},
    }


def _result(finding: Finding, rule_index: int) -> dict[str, Any]:
    rule = finding.rule
    text = finding.message if finding.help is None else f"{finding.message}\nhelp: {finding.help}"
    properties = {"rule": rule.name} | ({"usageCode": rule.usage_code} if rule.usage_code else {})
    found: dict[str, Any] = {
        "ruleId": rule.code,
        "ruleIndex": rule_index,
        "level": rule.severity,
        "message": {"text": text},
        "locations": [{"physicalLocation": _location(finding.path, finding.span)}],
        "properties": properties,
    }
    related = [_related(number, note) for number, note in enumerate(finding.notes, start=1)]
    if related:
        found["relatedLocations"] = related
    if finding.fix is not None and finding.fix.safe and finding.fix.edits:
        found["fixes"] = [_fix(finding.path, finding.fix)]
    return found


def _location(path: str, span: Span) -> dict[str, Any]:
    return {"artifactLocation": {"uri": artifact_uri(path)}, "region": _region(span)}


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }


def artifact_uri(path: str) -> str:
    """``path`` as a URI reference: relative where the path is, with every byte that needs it percent-encoded."""
    text = quote(os.fsencode(path.replace(os.sep, "/")), safe="/")
    return f"file://{text}" if text.startswith("/") else text


def _related(number: int, note: FoundNote) -> dict[str, Any]:
    found: dict[str, Any] = {"id": number, "message": {"text": note.message}}
    if note.path is not None and note.span is not None:
        found["physicalLocation"] = _location(note.path, note.span)
    return found


def _fix(path: str, fix: FoundFix) -> dict[str, Any]:
    replacements = [{"deletedRegion": _region(edit.span), "insertedContent": {"text": edit.text}} for edit in fix.edits]
    change = {"artifactLocation": {"uri": artifact_uri(path)}, "replacements": replacements}
    return {"description": {"text": fix.title}, "artifactChanges": [change]}
