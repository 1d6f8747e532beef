"""JUnit XML: a suite per file, a test case per finding, one passing case for a clean file.

Shape: the Ant/Jenkins form that CI systems read (``testsuites``, ``testsuite``, ``testcase``, ``failure``).
"""

from __future__ import annotations

from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from akmc.render.escape import visible
from akmc.render.finding import Finding, Report


def render(report: Report, color: bool) -> str:
    """The whole report as one XML document; a finding that does not fail the check is a passing case with its text."""
    del color
    by_path = {path: list(group) for path, group in groupby(report.findings, key=lambda finding: finding.path)}
    paths = sorted({*report.paths, *by_path})
    failures = sum(_fails(finding, report.strict) for finding in report.findings)
    tests = sum(max(len(by_path.get(path, ())), 1) for path in paths)
    suites = "".join(_suite(path, by_path.get(path, []), report.strict) for path in paths)
    head = f'<testsuites name="akmc check" tests="{tests}" failures="{failures}" errors="0">\n'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}{suites}</testsuites>\n'


def _fails(finding: Finding, strict: bool) -> bool:
    severity = finding.rule.severity
    return severity == "error" or (strict and severity == "warning")


def _suite(path: str, findings: list[Finding], strict: bool) -> str:
    name = quoteattr(visible(path))
    failures = sum(_fails(finding, strict) for finding in findings)
    cases = "".join(_case(name, finding, strict) for finding in findings)
    cases = cases or f'    <testcase name="no findings" classname={name}/>\n'
    head = f'  <testsuite name={name} tests="{max(len(findings), 1)}" failures="{failures}" errors="0">\n'
    return f"{head}{cases}  </testsuite>\n"


def _case(class_name: str, finding: Finding, strict: bool) -> str:
    rule, span = finding.rule, finding.span
    name = quoteattr(f"{rule.code} {rule.name} at {span.line}:{span.column}")
    help_line = f"\nhelp: {visible(finding.help)}" if finding.help else ""
    body = escape(f"{visible(finding.path)}:{span.line}:{span.column}: {visible(finding.message)}{help_line}")
    if _fails(finding, strict):
        message = quoteattr(visible(finding.message))
        inner = f'      <failure type="{rule.severity}" message={message}>{body}</failure>\n'
    else:
        inner = f"      <system-out>{body}</system-out>\n"
    return f"    <testcase name={name} classname={class_name}>\n{inner}    </testcase>\n"
