"""Carrying out ``akm-run PLAN`` and ``akm-run RUN_ID``."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import click
from msgspec import Struct

from akm_run.bindings import missing_params, with_defaults
from akm_run.commands import COMMANDS
from akm_run.commands.common import OpenRun, UnknownRun, closed_later, current_scope, is_about, open_run, print_busy
from akm_run.commands.durations import seconds
from akm_run.commands.params import described, effective_params
from akm_run.commands.watching import Told, losses_told, open_tape, watching
from akm_run.console import joined, out, read_input, say
from akm_run.driver import Options, Watch
from akm_run.faults import BusyFault, UsageFault
from akm_run.interrupts import Interrupts
from akm_run.journal import Journal
from akm_run.journal.excerpts import one_moment
from akm_run.lease import tidy
from akm_run.plans import LoadedPlan, is_there, looks_like_file, plan_of, read_plan, require_hash
from akm_run.policy import Limits
from akm_run.preflight import require_credentials, require_supported
from akm_run.publishing import Origin, publish
from akm_run.rows import RunRow
from akm_run.running import Invocation, drive
from akm_run.scope import Scope, remember
from akm_run.show.document import as_json, run_document
from akm_run.show.progress import Sink, open_events
from akm_run.show.secrets_warning import secret_warnings
from akm_run.show.text import run_text
from akm_run.tape import ReplayMiss, Tape
from akm_run.underway import Ending
from akm_run.widths import host_width
from akm_schemas.bounds import PARAMS_FILE_BYTES, RETRY_MAX
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import Plan
from akm_schemas.spelling import nearest
from akm_schemas.visible import visible, visible_rows


class RunOptions(Struct, frozen=True):
    """The command line of one run, read. ``flags`` are those of the command itself."""

    target: str
    tokens: tuple[str, ...]
    flags: frozenset[str]
    db: str | None
    json: bool
    color: bool
    params_file: str | None
    max_steps: int | None
    max_retries: int | None
    timeout: str | None
    workspace: Path
    host_concurrency: int | None
    expect: str | None
    events_file: str | None
    reuse: str | None
    dry_run: bool
    record: str | None
    replay: str | None


class Aids(Struct, frozen=True):
    """Files that an invocation reads or writes beside the journal."""

    tape: Tape | None
    events: Sink | None


def carry_out(options: RunOptions) -> int:
    """Run the plan or the run that was named; returns the exit status."""
    if options.timeout is not None:
        seconds(options.timeout, "--timeout")  # refused, like the files, before anything is published
    if options.json and options.events_file == "-":
        raise UsageFault(
            "--json and --events - exclude each other: stdout carries one of them", "name a file for --events"
        )
    scope = current_scope(options.db)
    if options.dry_run:
        return _dry(options, scope)
    with ExitStack() as files, Interrupts() as interrupts:
        aids = _aids(options, files)
        journal, run = _target(options, scope, interrupts)
        interrupts.hold()
        if run.status == "completed":
            tidy(journal.path, [run.run_id])
            return _finish(journal, run.run_id, "settled", options)
        return _driven(options, scope, (journal, run), aids, interrupts)


def _aids(options: RunOptions, files: ExitStack) -> Aids:
    """The files of ``options``, which ``files`` closes; before anything is published."""
    tape = open_tape(options.record, options.replay)
    if tape is not None:
        files.callback(tape.close)
    events = None if options.events_file is None else open_events(options.events_file)
    if events is not None:
        files.callback(events.close)
    return Aids(tape, events)


def _driven(
    options: RunOptions, scope: Scope, target: tuple[Journal, RunRow], aids: Aids, interrupts: Interrupts
) -> int:
    """Drive a run and print it."""
    journal, run = target
    plan = plan_of(run, journal.plan_bytes(run.run_id))
    require_hash(plan, options.expect)
    require_supported(plan)
    if options.replay is None:
        require_credentials(plan)
    told = Told(json=options.json, color=options.color, events=aids.events)
    with losses_told(aids.events, aids.tape):
        try:
            with watching(journal, run.run_id, told) as watch:
                ending = drive(journal, run, plan, _invocation(options, scope, watch, interrupts, aids.tape))
        except BusyFault as busy:
            print_busy(busy, json=options.json)
            raise
        except ReplayMiss:
            _finish(journal, run.run_id, "settled", options)
            raise
        return _finish(journal, run.run_id, ending, options)


def _invocation(
    options: RunOptions, scope: Scope, watch: Watch, interrupts: Interrupts, tape: Tape | None
) -> Invocation:
    timeout_s = None if options.timeout is None else seconds(options.timeout, "--timeout")
    return Invocation(
        limits=Limits(RETRY_MAX.high if options.max_retries is None else options.max_retries, options.max_steps),
        options=Options(options.host_concurrency or host_width(), timeout_s),
        workspace=options.workspace,
        scope=scope.root,
        watch=watch,
        interrupts=interrupts,
        tape=tape,
    )


def _target(options: RunOptions, scope: Scope, interrupts: Interrupts) -> tuple[Journal, RunRow]:
    """The run to drive, published now when a plan was named."""
    if options.target != "-" and not is_there(options.target):
        return _existing(options)
    loaded, params = _new(options)
    if options.replay is None:
        require_credentials(loaded.plan)
    for warning in secret_warnings(params):
        say(f"warning: {visible(warning)}")
    if options.reuse is not None:
        from akm_run.commands.dry_run import past_of

        past_of(scope, options.reuse)
    journal = closed_later(Journal.create_or_open(scope.state_file))
    remember(scope.state_file)
    interrupts.hold()
    origin = Origin(reuses=options.reuse)
    run_id = publish(journal, loaded.plan, loaded.data, params, options.workspace, origin)
    is_about(run_id)
    run = journal.run(run_id)
    assert run is not None
    return journal, run


def _new(options: RunOptions) -> tuple[LoadedPlan, JsonObject]:
    """The plan of a new run and its params."""
    loaded = read_plan(options.target)
    require_hash(loaded.plan, options.expect)
    require_supported(loaded.plan)
    params_file = None if options.params_file is None else _params_file(options.params_file)
    return loaded, effective_params(loaded.plan, options.tokens, params_file, options.flags)


def _dry(options: RunOptions, scope: Scope) -> int:
    """``--dry-run``; needs no credentials, for nobody is asked anything."""
    if options.target != "-" and not is_there(options.target):
        raise UsageFault(
            f'--dry-run needs a plan file, and "{options.target}" is none', "akm-run why RUN_ID UNIT tells about a run"
        )
    from akm_run.commands.dry_run import forecast, past_of, show

    loaded, params = _new(options)
    past = None if options.reuse is None else past_of(scope, options.reuse)
    host = options.host_concurrency or host_width()
    show(forecast(loaded.plan, params, options.workspace, past, host), json=options.json)
    return 0


def _existing(options: RunOptions) -> tuple[Journal, RunRow]:
    opened = _named_run(options.target, options.db)
    require_hash(opened.run, options.expect)
    if options.tokens or options.params_file is not None:
        raise UsageFault(
            f"run {opened.run.run_id} has its params already: they were fixed when it was published",
            "leave the params out, or start a new run from the plan",
        )
    if options.reuse is not None:
        raise UsageFault(f"run {opened.run.run_id} exists already: --reuse is for a new run", "name a plan file")
    if opened.run.status in ("failed", "blocked"):
        plan_of(opened.run, opened.journal.plan_bytes(opened.run.run_id))  # else resume would not help
        raise UsageFault(
            f"run {opened.run.run_id} is {opened.run.status}: nothing was dispatched",
            f"akm-run resume {opened.run.run_id}, then akm-run {opened.run.run_id}",
        )
    return opened.journal, opened.run


def _named_run(name: str, db: str | None) -> OpenRun:
    """The run; raises UsageFault that says what ``name`` could have been."""
    try:
        return open_run(db, name)
    except UnknownRun as fault:
        if looks_like_file(name):
            help = "akmc compile SOURCE -o PLAN makes a plan file; akm-run list shows the runs"
            raise UsageFault(f'"{name}" is neither a plan file nor a run here: there is no such file', help) from fault
        command = nearest(name, COMMANDS)
        advice = fault.help if command is None else f'did you mean "akm-run {command}"?'
        raise UsageFault(f'"{name}" is neither a plan file nor a run here: {fault}', advice) from fault


def _params_file(name: str) -> bytes:
    try:
        data = read_input(name, PARAMS_FILE_BYTES.high + 1)
    except OSError as error:
        raise UsageFault(f'cannot read --params-file "{name}": {error.strerror or error}') from error
    if not PARAMS_FILE_BYTES.holds(len(data)):
        message = f'cannot read --params-file "{name}": it is longer than {PARAMS_FILE_BYTES.high} bytes'
        raise UsageFault(message, "name a JSON file of params")
    return data


def _finish(journal: Journal, run_id: str, ending: Ending, options: RunOptions) -> int:
    run = journal.run(run_id)
    assert run is not None
    with one_moment(journal):
        document = run_document(journal, run)
        if options.json:
            out(as_json(document))
        elif options.events_file == "-":
            say(*run_text(document, color=options.color).removesuffix("\n").split("\n"))
        else:
            out(run_text(document, color=options.color))
    match ending:
        case "interrupted":
            return 130
        case "timeout" | "rejected":
            return 1
    return 1 if run.status in ("failed", "blocked") else 0


def plan_help(ctx: click.Context, name: str) -> int:
    """``akm-run PLAN --help``: the command's help and the params of the plan, or of an existing run's."""
    out(ctx.get_help() + "\n\n")
    plan = read_plan(name).plan if name == "-" or is_there(name) else _plan_of_run(name, ctx.params["db"])
    title = visible(plan.provenance.title or plan.provenance.ref)
    lines = [f"Params of {title}:"]
    ours = flags_of(ctx.command)
    required = {reference.name for reference in missing_params(plan, with_defaults({}, plan.params))}
    for param, schema in plan.params.items():
        default = "" if "default" not in schema else f", default {_default(schema['default'])}"
        default = ", required" if param in required else default
        taken = f"--{param}" in ours
        name_of = f"{param} (through --params-file)" if taken else f"--{param}"
        lines.append(visible(f"  {name_of}  {described(schema)}{default}"))
        if isinstance(description := schema.get("description"), str):
            lines += [f"      {row}".rstrip() for row in visible_rows(description.strip())]
    out(joined(lines if plan.params else [f"{title} has no params."]))
    return 0


def flags_of(command: click.Command) -> frozenset[str]:
    """Every flag that the command itself reads."""
    return frozenset({"--help", *(flag for option in command.params for flag in option.opts)})


def _plan_of_run(name: str, db: str | None) -> Plan:
    opened = _named_run(name, db)
    return plan_of(opened.run, opened.journal.plan_bytes(name))


def _default(value: Json) -> str:
    from akm_schemas.canonical import canonical_text

    return canonical_text(value)
