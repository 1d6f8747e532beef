"""One line per finding: ``path:line:col: error[AKM0123 name]: message``."""

from __future__ import annotations

from akmc.render.capped import capped, hidden_line
from akmc.render.escape import visible
from akmc.render.finding import Finding, Report


def render(report: Report, color: bool) -> str:
    """All findings, capped per file; never coloured, since editors parse it."""
    del color
    lines: list[str] = []
    for path, kept, hidden in capped(report.findings):
        lines += [finding_line(finding) for finding in kept]
        if hidden:
            lines.append(hidden_line(path, hidden))
    return "".join(line + "\n" for line in lines)


def finding_line(finding: Finding) -> str:
    """One finding on one line, without a newline."""
    rule, span = finding.rule, finding.span
    label = f"{rule.severity}[{rule.code} {rule.name}]"
    return f"{visible(finding.path)}:{span.line}:{span.column}: {label}: {visible(finding.message)}"
