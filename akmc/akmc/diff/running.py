"""What ``akmc diff`` does: two sides or a whole bundle, one of four formats, an exit status."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from akm_schemas.plan import Plan
from akmc.console import err, out, wants_color
from akmc.diff.model import CLASSES, ChangeClass, PlanDiff
from akmc.diff.sides import Side, read_sides
from akmc.faults import FOUND, OK, CommandFault
from akmc.planning import needed_plan, show_findings
from akmc.render.escape import visible
from akmc.session.freezing import STDIN
from akmc_grammar.suggest import did_you_mean, listed


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffOptions:
    """The options of ``akmc diff`` as written; ``paths`` are the two sides, or what ``merge_base`` looks at;
    ``labels`` name the sides in what is printed."""

    paths: Sequence[str]
    format_name: str
    exit_code: bool
    fail_on: Sequence[str]
    summary: bool
    labels: Sequence[str]
    merge_base: str | None
    bundle: Path | None
    config: Path | None


def run_diff(options: DiffOptions) -> int:
    """Compare, print, and return the exit status."""
    classes = classes_of(options.fail_on)
    if options.merge_base is not None:
        return _run_bundle(options, options.merge_base, classes)
    if len(options.paths) != 2:
        count = len(options.paths) or "none"
        help = "akmc diff OLD NEW, or --merge-base REV for all workflows of the bundle"
        raise CommandFault(f"two sides are compared, and {count} were named", help=help)
    if len(options.labels) not in (0, 2):
        raise CommandFault("--label was given once", help="give it twice, for OLD and for NEW")
    old, new = options.paths
    if old == new == STDIN:
        raise CommandFault("both sides are standard input", help='give "-" once')
    names = options.labels or (old, new)
    sides = read_sides((old, new), names, config=options.config, bundle=options.bundle)
    plans = [plan for side in sides if (plan := _plan(side)) is not None]
    if len(plans) < len(sides):
        return max(side.result.status for side in sides)
    from akmc.diff.compare import compare_plans
    from akmc.diff.scope import NO_SOURCES

    sources = NO_SOURCES if options.summary else (sides[0].sources, sides[1].sources)  # a headline has no places
    found = compare_plans(plans[0], plans[1], sources)
    _show(found, names[0], names[1], options)
    return FOUND if (options.exit_code and not found.equal) or found.has(classes) else OK


def _run_bundle(options: DiffOptions, rev: str, classes: tuple[ChangeClass, ...]) -> int:
    from akmc.diff import bundle_formats
    from akmc.diff.bundle import compare_bundle

    if options.labels:
        raise CommandFault("--label names two sides, and --merge-base has none", help="leave one of them out")

    def broken(sides: Sequence[Side]) -> None:
        _say_all_broken(sides, headline=options.summary)

    found, status = compare_bundle(rev, options.paths, bundle=options.bundle, config=options.config, broken=broken)
    if options.summary:
        out(bundle_formats.bundle_headline(found) + "\n")
    elif options.format_name == "json":
        out(bundle_formats.bundle_json(found))
    elif options.format_name == "markdown":
        out(bundle_formats.bundle_markdown(found))
    elif options.format_name == "html":
        out(bundle_formats.bundle_html(found))
    else:
        out(bundle_formats.bundle_text(found, color=wants_color(sys.stdout)))
    return status or (FOUND if (options.exit_code and not found.equal) or found.has(classes) else OK)


def classes_of(words: Sequence[str]) -> tuple[ChangeClass, ...]:
    """The classes that ``--fail-on`` names, in order of danger."""
    asked = [word.strip() for text in words for word in text.split(",") if word.strip()]
    for word in asked:
        if word not in CLASSES:
            hint = did_you_mean(word, CLASSES) or f"the classes are {listed(CLASSES)}"
            raise CommandFault(f'--fail-on: there is no class "{word}"', help=hint)
    if words and not asked:
        raise CommandFault("--fail-on names no class", help=f"the classes are {listed(CLASSES)}")
    return tuple(name for name in CLASSES if name in asked)


def _plan(side: Side) -> Plan | None:
    """The side's plan; without one, its findings go to standard error."""
    if side.plan is not None and side.result.status == OK:
        return side.plan
    _say_broken(side)
    return None


def _say_broken(side: Side) -> None:
    needed_plan(side.result)
    err(f'akmc: "{visible(side.label)}" does not freeze')


def _say_all_broken(sides: Sequence[Side], *, headline: bool) -> None:
    """Which sides do not freeze. Why stands in what is printed; where that is a headline alone, here, each finding once."""
    said: set[tuple[object, ...]] = set()
    for side in sides:
        findings = side.result.findings
        new = tuple(found for found in findings if headline and found.sort_key not in said)
        said.update(found.sort_key for found in new)
        if side.result.crashes or not findings:
            needed_plan(side.result)
        else:
            show_findings(replace(side.result, findings=new))
        err(f'akmc: "{visible(side.label)}" does not freeze')


def _show(found: PlanDiff, old: str, new: str, options: DiffOptions) -> None:
    if options.summary:
        from akmc.diff.text_format import summary_line

        out(summary_line(found) + "\n")
    elif options.format_name == "json":
        from akmc.diff.json_format import json_format

        out(json_format(found, old, new))
    elif options.format_name == "markdown":
        from akmc.diff.markdown_format import markdown_format

        out(markdown_format(found, old, new))
    elif options.format_name == "html":
        from akmc.diff.html_format import html_format

        out(html_format(found, old, new))
    else:
        from akmc.diff.text_format import text_format

        out(text_format(found, old, new, color=wants_color(sys.stdout)))
