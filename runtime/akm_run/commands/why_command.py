"""``akm-run why``."""

from __future__ import annotations

import click
from msgspec import UNSET

from akm_run.commands.common import CONTEXT, db_option, example, json_option, open_run
from akm_run.console import barred, joined, out
from akm_run.explain.rounds import RoundPart
from akm_run.explain.why import PartRow, Why, explain
from akm_run.show.document import as_json
from akm_schemas.visible import visible

_SHOWN = 16


@click.command(
    "why",
    context_settings=CONTEXT,
    help=example(
        "Say why a unit was, or would be, dispatched or reused: the parts of its input hash, and the first that differs.",
        "akm-run why RUN_ID build:solo",
        "akm-run why RUN_ID build:solo --against OTHER_RUN_ID",
    ),
)
@click.argument("run_id")
@click.argument("unit")
@click.option("--against", metavar="RUN_ID", help="Compare with this run; default: the one that --reuse named.")
@db_option
@json_option
def command(run_id: str, unit: str, against: str | None, db: str | None, as_json_: bool) -> int:
    """Explain a unit."""
    opened = open_run(db, run_id)
    other = None if against is None else open_run(db, against).run
    why = explain(opened.journal, opened.run, unit, other)
    out(as_json(why) if as_json_ else _text(why))
    return 0


def _text(why: Why) -> str:
    lines = [f"{why.unit}: {visible(why.verdict)}"]
    if why.input_hash is not UNSET:
        lines.append(f"  input hash  {why.input_hash}")
    width = max((len(part.name) for part in why.parts), default=0)
    lines += [f"  {visible(part.name).ljust(width)}  {_digests(part)}" for part in why.parts]
    if why.rounds is not UNSET:
        lines += ["  rounds of its gate:", *(line for part in why.rounds for line in _round(part))]
    return joined(lines)


def _round(part: RoundPart) -> list[str]:
    lines = [f"    {part.round}  {part.verdict}: {part.led_to}"]
    if part.feedback is not UNSET:
        lines += barred(part.feedback, " " * 9)
    return lines


def _digests(part: PartRow) -> str:
    mine = "(none)" if part.sha256 is None else part.sha256[:_SHOWN]
    if part.other is UNSET:
        return mine
    if part.other == part.sha256:
        return f"{mine}  equal"
    return f"{mine}  differs: {'(none)' if part.other is None else part.other[:_SHOWN]} there"
