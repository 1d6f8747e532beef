"""What ``akmc compile`` does: freeze, and publish whole or not at all."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from akm_schemas.counting import counted
from akmc.console import err, out, out_bytes
from akmc.emitting import emitted
from akmc.faults import FOUND, OK, USAGE, CommandFault
from akmc.files import write_atomically
from akmc.planning import needed_plan, show_changed, show_findings
from akmc.render.escape import visible
from akmc.session.freezing import STDIN, PlanResult, compile_source

if TYPE_CHECKING:
    from akmc_passes.pipeline import Timing


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """The options of ``akmc compile`` as written; ``output`` ``None`` is standard output."""

    source: str
    output: str | None = None
    emit: str = "plan"
    stop_after: str | None = None
    time_passes: bool = False
    check: bool = False
    pretty: bool = False
    stdin_filename: str | None = None
    bundle: Path | None = None
    config: Path | None = None


def print_pass_list() -> int:
    """One pass a line: its name and the first line of its specification."""
    from akmc_passes.pipeline import describe_passes

    rows = describe_passes()
    width = max(len(name) for name, _ in rows)
    for name, line in rows:
        out(f"{name:<{width}}  {line}\n")
    return OK


def run_compile(options: CompileOptions) -> int:
    """Compile, write, and return the exit status."""
    _check_options(options)
    timings: list[Timing] | None = [] if options.time_passes else None
    result = compile_source(
        options.source,
        config=options.config,
        bundle=options.bundle,
        stdin_name=options.stdin_filename,
        form="source-ir" if options.emit == "source-ir" else "resolved" if options.emit == "resolved" else "plan",
        stop_after=options.stop_after,
        timings=timings,
    )
    if timings is not None:
        _say_timings(timings)
    if options.check:
        return _check(options, result)
    if options.stop_after is not None or options.emit in ("source-ir", "resolved"):
        return _emit_early(options, result)
    status, plan = needed_plan(result)
    if plan is None:
        return status
    return publish(options, result)


def publish(options: CompileOptions, result: PlanResult) -> int:
    """Write the plan of ``result`` and say what was written where; the exit status. A source that changed since it was
    read fails: the plan would describe files that never were together."""
    if show_changed(result):
        return USAGE
    _refuse_sources(options, result)
    _write(options, emitted(result, options.emit, pretty=options.pretty))
    plan = result.plan
    if options.output in (None, STDIN) or plan is None or not Path(options.output or "").is_file():
        return OK
    steps = counted(len(plan.steps), "step")
    err(f"akmc: wrote {visible(options.output or '')} (contentHash {plan.content_hash[:12]}, {steps})")
    return OK


def _check_options(options: CompileOptions) -> None:
    if options.check and options.output in (None, STDIN):
        raise CommandFault("--check needs the plan's file", help="name it with -o PLAN")
    if options.check and (options.emit != "plan" or options.stop_after is not None):
        raise CommandFault("--check compares whole plans", help="leave --emit and --stop-after out")
    if options.stop_after is not None:
        from akmc_grammar.suggest import did_you_mean
        from akmc_passes.pipeline import pass_names

        names = pass_names()
        if options.stop_after not in names:
            hint = did_you_mean(options.stop_after, names) or "akmc compile --print-passes lists them"
            raise CommandFault(f'there is no pass "{options.stop_after}"', help=hint)


def _say_timings(timings: list[Timing]) -> None:
    """Milliseconds per pass, in the order in which they ran."""
    for timing in timings:
        err(f"{timing.seconds * 1000:9.2f} ms  {timing.name}")


def _emit_early(options: CompileOptions, result: PlanResult) -> int:
    """Write a stage before the plan. It is written although the freeze would fail, as long as it could be read."""
    show_findings(result)
    if result.crashes:
        from akmc.crash import say_crashes

        say_crashes(result.crashes)
    analysis = result.analysis
    errors = any(finding.rule.severity == "error" for finding in result.findings)
    if analysis is None or analysis.document is None or analysis.document.ir is None or errors or result.crashes:
        return result.status if errors or result.crashes else USAGE
    _refuse_sources(options, result)
    stage = "source-ir" if options.emit == "source-ir" else "resolved"
    _write(options, emitted(result, stage, pretty=options.pretty))
    return OK


def _refuse_sources(options: CompileOptions, result: PlanResult) -> None:
    """Fail when the output would be written over a source, of this plan or of any other."""
    if options.output in (None, STDIN) or result.analysis is None:
        return
    output = os.path.realpath(options.output or "")
    if any(os.path.realpath(path) == output for path in result.analysis.context.store.read_set()):
        raise CommandFault(f'"{options.output}" is a source of this plan', help="name another file with -o")
    from akmc_passes.bundle import classify

    located = classify(Path(output))
    if located is not None:
        message = (
            f'"{options.output}" lies where the sources of a bundle do: it would be read as one of {located.family}'
        )
        raise CommandFault(message, help='name a file outside of its folders with -o, such as "plans/x.json"')


def _write(options: CompileOptions, data: bytes) -> None:
    if options.output in (None, STDIN):
        out_bytes(data)
    else:
        assert options.output is not None
        write_atomically(Path(options.output), data)


def _check(options: CompileOptions, result: PlanResult) -> int:
    """Compare the plan on disk with what the sources give now; 1 and the reason when they differ."""
    status, plan = needed_plan(result)
    if plan is None:
        return status
    assert options.output is not None
    from akmc.staleness import staleness

    stale = staleness(options.output, plan)
    if stale is None:
        return OK
    err(f"akmc: {visible(options.output)} is stale: {visible(stale.reason)}")
    for cause in stale.causes:
        err(f"  {visible(cause)}")
    err(f"  help: akmc compile {visible(options.source)} -o {visible(options.output)}")
    return FOUND
