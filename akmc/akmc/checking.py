"""What ``akmc check`` does: collect, mend, check, show, and choose the exit status."""

from __future__ import annotations

import sys
from pathlib import Path

from msgspec import Struct

from akm_schemas.counting import counted
from akmc.console import err, out, read_stdin, wants_color
from akmc.faults import CONFIG, FOUND, INTERNAL, OK, USAGE, CommandFault
from akmc.progress import Progress
from akmc.render import render_report
from akmc.render.escape import visible
from akmc.render.finding import Report
from akmc.session.selection import Selection
from akmc.session.session import Checked, Session
from akmc.session.store import FileStore
from akmc.session.targets import Collector, Targets, bundle_option

STDIN = "-"
CACHED_FROM = 32
"""Targets in one call from which on verdicts are remembered; below, nothing is read or written for it."""
STDIN_NAME = "workflows/stdin.md"
_NAMED = 3


class CheckOptions(Struct, frozen=True, kw_only=True):
    """The options of ``akmc check`` as written; ``paths`` empty: the bundle around the working directory."""

    paths: tuple[str, ...] = ()
    strict: bool = False
    freeze: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fix: bool = False
    watch: bool = False
    format_name: str = "text"
    stdin_filename: str | None = None
    bundle: Path | None = None
    config: Path | None = None


def run_check(options: CheckOptions) -> int:
    """Check, print, and return the exit status."""
    selection = Selection.of(options.select, options.ignore)

    def new_session() -> Session:
        return Session(FileStore(), config_file=options.config, freeze=options.freeze)

    if options.watch:
        from akmc.watching import refuse_options, watch

        refuse_options(options.format_name, options.paths, fix=options.fix)
        return watch(
            new_session,
            lambda store: collect(store, options),
            lambda session, targets: check_once(session, targets, options, selection),
        )
    session = new_session()
    targets = collect(session.store, options)
    fixed = 0
    if options.fix:
        from akmc.fix.run import fix_targets

        result = fix_targets(session, targets, selection)
        targets, fixed = result.targets, result.applied
    if len(targets.targets) >= CACHED_FROM:
        from akmc.session.verdicts import open_verdicts

        session.verdicts = open_verdicts(session.store.working_directory)
    status = check_once(session, targets, options, selection, fixed)
    if session.verdicts is not None:
        session.verdicts.save()
    return status


def check_once(session: Session, targets: Targets, options: CheckOptions, selection: Selection, fixed: int = 0) -> int:
    """Check ``targets``, print the report and the summary, and return the exit status."""
    progress = Progress()
    try:
        checked = session.check(targets, progress)
    finally:
        progress.close()
    findings = tuple(finding for finding in checked.findings if selection.keeps(finding))
    report = Report(findings, checked.paths, fixed, options.strict)
    out(render_report(report, options.format_name, color=wants_color(sys.stdout)))
    for problem in targets.problems:
        if not problem.fatal:
            err(f"akmc: {visible(problem.message)}")
    if not checked.config_errors:  # what depends on the config was not checked: no totals are true
        err(summary(report, whole=not checked.crashes))
    return _status(report, checked)


def collect(store: FileStore, options: CheckOptions) -> Targets:
    """The targets of the paths; ``-`` among them is standard input under ``--stdin-filename``."""
    collector = Collector(store, bundle_option(options.bundle))
    if STDIN not in options.paths:
        if options.stdin_filename is not None:
            raise CommandFault('--stdin-filename goes with the path "-"', help='add "-"')
        return collector.collect(options.paths)
    if options.fix:
        raise CommandFault("--fix cannot change standard input", help="name the file instead")
    name = options.stdin_filename or STDIN_NAME
    store.put(Path(name), read_stdin())
    collector.text(name)
    others = [path for path in options.paths if path != STDIN]
    return collector.collect(others) if others else collector.result()


def summary(report: Report, *, whole: bool = True) -> str:
    """The totals in one line; ``whole`` is whether no pass crashed, else nothing may be called free of findings."""
    counts = [
        counted(report.count(severity), severity) for severity in ("error", "warning", "note") if report.count(severity)
    ]
    fixed = [f"{report.fixed} fixed"] if report.fixed else []
    hint = _fixable_hint(report)
    nothing = "no findings" if whole else "not completely, an internal error came first"
    return f"{counted(len(report.paths), 'file')} checked: {', '.join([*counts, *fixed]) or nothing}{hint}"


def _fixable_hint(report: Report) -> str:
    """How much ``--fix`` would mend: of the checked files, which it changes, and of others, which it leaves alone."""
    elsewhere = [finding.path for finding in report.findings if finding.fixable and finding.path not in report.paths]
    here = sum(finding.fixable for finding in report.findings) - len(elsewhere)
    words = [f"{here} fixable with --fix"] if here else []
    if elsewhere:
        names = sorted(set(elsewhere))
        shown = " ".join(map(visible, names[:_NAMED])) + (" ..." if len(names) > _NAMED else "")
        words.append(f"{len(elsewhere)} fixable with akmc check --fix {shown}")
    return f" ({', '.join(words)})" if words else ""


def _status(report: Report, checked: Checked) -> int:
    """Say what went wrong besides findings; the gravest of it is the exit status."""
    for problem in (*checked.problems, *checked.config_errors):
        err(f"akmc: {visible(problem)}")
    if checked.crashes:
        from akmc.crash import say_crashes

        say_crashes(checked.crashes)
        return INTERNAL
    if checked.config_errors:
        return CONFIG
    if checked.problems:
        return USAGE
    return FOUND if report.failed else OK
