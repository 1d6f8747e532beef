"""The console script ``akm-run``: which command, and how every way out looks.

A first word that is no command is a plan file or a run id. Nothing but click is imported before a command runs.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from akm_run.console import explain, flush_out, mute, say
from akm_run.faults import CommandFault, OutputFault
from akm_run.interrupts import process_ends_here
from akm_schemas.whole_streams import whole_streams

INTERRUPTED = 130
INTERNAL = 70


def main() -> NoReturn:
    """Run the command line of this process and exit."""
    try:
        if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
            signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C, from the first moment on
        process_ends_here()
        _fill_descriptors()
        whole_streams()
        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while click was imported
        code = INTERRUPTED
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # all is said and done: what comes now must not change the status
    sys.exit(code)


def _fill_descriptors() -> None:
    """Open what the caller has closed of 0, 1 and 2, so that no file of ours gets such a number."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number, that is this one


def run(arguments: Sequence[str]) -> int:
    """Run one command; returns the exit status. No exception leaves it, and no traceback reaches a person."""
    import click

    try:
        code = _command(list(arguments))
        flush_out()
    except CommandFault as fault:
        explain(str(fault), fault.help)
        return fault.code
    except click.ClickException as error:
        explain(error.format_message(), _usage_help(error))
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        mute(sys.stdout)
        return 0
    except Exception as error:  # noqa: BLE001  the last resort: a bug is reported to a file, and the person told where
        return _unexpected(error, arguments)
    return code


def _unexpected(error: Exception, arguments: Sequence[str]) -> int:
    """The exit status of an error that no command foresaw, after telling what it is."""
    try:
        flush_out()  # click prints help by itself: what it could not write is still in the buffer
    except OutputFault as fault:
        explain(str(fault), fault.help)
        return fault.code
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        explain("too many files are open here", "raise ulimit -n; akm-run RUN_ID goes on where a run was")
        return 2
    from akm_run.crash import write_report

    place = write_report(error, arguments)
    say(f"akm-run: internal error ({type(error).__name__}); the report is in {place}")
    return INTERNAL


def _command(arguments: list[str]) -> int:
    from akm_run.commands import COMMANDS, group

    first = arguments[0] if arguments else None
    completing = "_AKM_RUN_COMPLETE" in os.environ
    if first is None and not completing:
        say("akm-run: name a plan file, a run, or a command; akm-run --help shows them")
        return 2
    named = completing or first in COMMANDS or first in ("--help", "-h", "--version")
    try:
        return int(group().main(arguments if named else ["run", *arguments], "akm-run", standalone_mode=False) or 0)
    except SystemExit:  # click's end of a completion, and of help whose reader has gone
        if completing:
            raise
        mute(sys.stdout)
        return 0


def _usage_help(error: Exception) -> str | None:
    context = getattr(error, "ctx", None)
    return None if context is None else f"{context.command_path} --help"
