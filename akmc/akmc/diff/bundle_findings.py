"""Why workflows do not freeze, in the three formats that people read; each finding once, in the workflow it belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from msgspec import UNSET

from akmc.diff.markdown_text import code, escaped
from akmc.diff.model import WorkflowDiff, WorkflowFinding
from akmc.render.escape import visible


def shown_findings(rows: Sequence[WorkflowDiff]) -> dict[str, list[WorkflowFinding]]:
    """The findings to show under each row, by its path: those of a composed workflow stand under that one alone, which
    has the fewest besides."""
    broken = [row for row in rows if row.status == "broken"]
    homes: dict[WorkflowFinding, str] = {}
    for row in sorted(broken, key=lambda row: (len(_findings(row)), row.path)):
        for finding in _findings(row):
            homes.setdefault(finding, row.path)
    return {row.path: [found for found in _findings(row) if homes[found] == row.path] for row in broken}


def _findings(row: WorkflowDiff) -> Sequence[WorkflowFinding]:
    return () if row.findings is UNSET else row.findings


def finding_lines(findings: Sequence[WorkflowFinding]) -> Iterator[str]:
    """For a terminal; without the lines of the source, which ``akmc check`` shows."""
    for finding in findings:
        yield f"  {_place(finding)}: {_label(finding)}: {visible(finding.message)}"
        if finding.help is not UNSET:
            yield f"    help: {visible(finding.help)}"


def finding_blocks(findings: Sequence[WorkflowFinding]) -> Iterator[str]:
    """One list of Markdown, if there is any finding."""
    items = (f"- {code(_place(found))}: {escaped(_label(found))}: {escaped(found.message)}" for found in findings)
    listed = "\n".join(items)
    yield from [listed] if listed else []


def finding_parts(findings: Sequence[WorkflowFinding]) -> Iterator[str]:
    """One list of HTML, if there is any finding."""
    if findings:
        yield "<ul>"
        for found in findings:
            yield f"<li><code>{escape(_place(found))}</code>: {escape(f'{_label(found)}: {visible(found.message)}')}"
        yield "</ul>"


def _place(finding: WorkflowFinding) -> str:
    return f"{visible(finding.path)}:{finding.line}:{finding.column}"


def _label(finding: WorkflowFinding) -> str:
    return f"{finding.severity}[{finding.code} {finding.rule}]"
