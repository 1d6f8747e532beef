"""``akm-run PLAN`` and ``akm-run RUN_ID``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from akm_run.commands.common import WholeNumber, color_option, colors, db_option, example, json_option
from akm_run.console import Color
from akm_run.faults import UsageFault
from akm_run.scope import current_directory

if TYPE_CHECKING:
    from akm_run.commands.invocation import RunOptions


HOST_CONCURRENCY = (
    "How many units may run at once on this machine; default: its cores less 2, at least 1, at most 16. A map takes the"
    " least of this, its own, its engine's and the run's width (workflow.maxConcurrency when compiled)."
)
REUSE = (
    "Take over what that run has finished with equal inputs. All params together are an input of every unit: a changed or"
    " added one re-runs everything."
)


class SplitArguments(Struct, frozen=True):
    """``options`` are click's, ``tokens`` belong to params."""

    plan: str | None
    options: list[str]
    tokens: list[str]


def split_arguments(arguments: Sequence[str], command: click.Command) -> SplitArguments:
    """Tell the command's own options from the flags of params, which are known only once the plan was read."""
    takes_value = {
        name: not (parameter.is_flag or parameter.count)
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for name in parameter.opts
    } | {"-h": False, "--help": False}
    plan: str | None = None
    options: list[str] = []
    tokens: list[str] = []
    remaining = list(reversed(arguments))
    while remaining:
        token = remaining.pop()
        name, equals, _ = token.partition("=")
        if token == "--" and plan is None and not tokens and remaining:  # what follows is no option: -p.json, say
            plan = remaining.pop()
        elif name in takes_value:
            options.append(token)
            if takes_value[name] and not equals and remaining:
                options.append(remaining.pop())
        elif plan is None and not tokens and (token == "-" or not token.startswith("-")):
            plan = token
        else:
            tokens.append(token)
    return SplitArguments(plan, options, tokens)


class RunCommand(click.Command):
    """Parses with click what click knows, and hands the rest to the params of the plan."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Split first; ``PLAN --help`` is answered by the plan."""
        split = split_arguments(args, self)
        wants_help = any(option in ("-h", "--help") for option in split.options)
        if wants_help and split.plan is not None:
            ctx.obj = split.plan
            split.options[:] = [option for option in split.options if option not in ("-h", "--help")]
        elif split.plan is None and not wants_help:
            raise UsageFault("name a plan file or a run id", "akm-run PLAN, or akm-run list for the runs of this scope")
        rest = super().parse_args(ctx, split.options)
        ctx.params["target"] = split.plan or ""
        ctx.params["tokens"] = tuple(split.tokens)
        return rest


@click.command(
    "run",
    cls=RunCommand,
    context_settings={"help_option_names": ["-h", "--help"]},
    options_metavar="PLAN|RUN_ID [--PARAM VALUE]... [OPTIONS]",
    help=example(
        "Run a frozen plan (a file, - for stdin), or go on with a run.",
        "akm-run plan.json --topic rust --tag a --tag b",
        "akm-run 20260301-101500-1f2e3d4c --json",
        "akm-run plan.json --help",
    ),
)
@db_option
@json_option
@color_option
@click.option("--params-file", metavar="FILE", help="Params as one JSON object; flags win. - for stdin.")
@click.option("--max-steps", type=WholeNumber(min=1), help="Stop after so many finished steps.")
@click.option("--max-retries", type=WholeNumber(0, 100), help="Cap every retry.max.")
@click.option("--timeout", metavar="DURATION", help="Abort running units after this long, for example 90s or 10m.")
@click.option("--workspace", metavar="DIR", help="Directory that units start in; default: the current one.")
@click.option("--host-concurrency", type=WholeNumber(min=1), help=HOST_CONCURRENCY)
@click.option("--executor", metavar="local", default="local", help="Where units run; this version knows local.")
@click.option("--expect", metavar="HASH", help="Refuse a plan with another contentHash or planHash.")
@click.option("--reuse", metavar="RUN_ID", help=REUSE)
@click.option("--dry-run", is_flag=True, help="Decide everything that can be decided now, dispatch nothing.")
@click.option("--record", metavar="FILE", help="Append every answer of an llm, agent or judge to FILE, redacted.")
@click.option("--replay", metavar="FILE", help="Take the answers from FILE and ask nobody.")
@click.option(
    "--events",
    "events_file",
    metavar="FILE",
    help="Write the events as JSON Lines while the run goes on. - for stdout.",
)
@click.pass_context
def command(ctx: click.Context, /, **values: Any) -> int:
    """Run a plan or go on with a run."""
    from akm_run.commands.invocation import RunOptions, carry_out, flags_of, plan_help

    if ctx.obj is not None:
        return plan_help(ctx, str(ctx.obj))
    return carry_out(run_options(values, RunOptions, flags_of(ctx.command)))


def run_options(values: dict[str, Any], options: type[RunOptions], flags: frozenset[str]) -> RunOptions:
    """click's values as one typed record."""
    if values["executor"] != "local":
        raise UsageFault(f'unknown executor "{values["executor"]}"', 'this version runs units locally: "local"')
    workspace = _workspace(values["workspace"])
    color: Color = values["color"]
    return options(
        target=values["target"],
        tokens=values["tokens"],
        flags=flags,
        db=values["db"],
        json=values["as_json_"],
        color=colors(color),
        params_file=values["params_file"],
        max_steps=values["max_steps"],
        max_retries=values["max_retries"],
        timeout=values["timeout"],
        workspace=workspace,
        host_concurrency=values["host_concurrency"],
        expect=values["expect"],
        events_file=values["events_file"],
        reuse=values["reuse"],
        record=values["record"],
        replay=values["replay"],
        dry_run=values["dry_run"],
    )


def _workspace(named: str | None) -> Path:
    """The directory that units start in, absolute; raises UsageFault where there is none."""
    workspace = Path(named or "")
    if not workspace.is_absolute():
        workspace = current_directory() / workspace
    try:
        there = workspace.is_dir()
    except OSError as error:
        raise UsageFault(f'--workspace: "{workspace}" cannot be looked at: {error.strerror or error}') from error
    if not there:
        raise UsageFault(f'--workspace: "{workspace}" is no directory')
    return workspace
