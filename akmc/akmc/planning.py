"""What a command says when it needs a plan and the source gives none."""

from __future__ import annotations

import sys

from msgspec.structs import replace

from akm_schemas.plan import Plan
from akmc.checking import summary
from akmc.console import err, wants_color
from akmc.faults import USAGE
from akmc.render import render_report
from akmc.render.finding import Finding, Report
from akmc.session.freezing import PlanResult, changed_sources
from akmc_grammar.places import Span
from akmc_grammar.rules import RULES


def needed_plan(result: PlanResult) -> tuple[int, Plan | None]:
    """The exit status and the plan, after all findings of the source were shown on standard error."""
    show_findings(result)
    if result.crashes:
        from akmc.crash import say_crashes

        say_crashes(result.crashes)
    elif result.plan is None and result.status == USAGE and not result.findings:
        err("akmc: the source uses something that this version cannot freeze yet, although nothing is wrong with it")
    return result.status, result.plan


def show_changed(result: PlanResult) -> bool:
    """Show each source that no longer holds what was read, and whether there is one."""
    assert result.analysis is not None
    found = tuple(
        Finding(
            RULES["source-changed-during-freeze"],
            f'"{name}" changed while the plan was made: nothing was written',
            name,
            Span(1, 1, 1, 1),
            help="compile again when the file is at rest",
        )
        for name in changed_sources(result.analysis)
    )
    show_findings(replace(result, findings=found))
    return bool(found)


def show_findings(result: PlanResult) -> None:
    """Findings of a source, warnings included, on standard error: standard output belongs to the plan."""
    if not result.findings:
        return
    paths = tuple(sorted({finding.path for finding in result.findings}))
    report = Report(result.findings, paths)
    err(render_report(report, "text", color=wants_color(sys.stderr)).rstrip("\n"))
    err(summary(report))
