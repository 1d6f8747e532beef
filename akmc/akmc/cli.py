"""The console script ``akmc``: which command was asked for, and how every command ends.

Commands are modules of ``akmc.commands`` that are imported when they run; the list of ``akmc --help`` comes from the
table below, so that help and completion load none of them. Of what a check of one file takes, most is imports: a call
that is nothing but ``check`` and paths has no options to read, so it does not load what reads options.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from akm_schemas.whole_streams import whole_streams
from akmc.console import err, leave
from akmc.faults import INTERNAL, INTERRUPTED, USAGE, CommandFault

if TYPE_CHECKING:
    from collections.abc import Sequence

# name -> (module with a click command named ``command``, one line for the list)
COMMANDS: dict[str, tuple[str, str]] = {
    "check": ("akmc.commands.check", "Check workflows and tasks, and say what is wrong with them."),
    "compile": ("akmc.commands.compile", "Freeze a workflow into a plan."),
    "config": ("akmc.commands.config", "Read and change settings."),
    "diff": ("akmc.commands.diff", "Compare two plans by what they mean."),
    "explain": ("akmc.commands.explain", "Show the page of a rule, or list all rules."),
    "graph": ("akmc.commands.graph", "Draw a workflow, or what differs between two."),
    "migrate": ("akmc.commands.migrate", "Turn workflows of the superseded formats into Markdown."),
    "new": ("akmc.commands.new", "Write a starter workflow."),
    "schema": ("akmc.commands.schema", "Print a published JSON Schema, or list all of them."),
    "show": ("akmc.commands.show", "Show a plan or a source as readable text."),
    "surface": ("akmc.commands.surface", "List all that a plan can touch."),
    "verify": ("akmc.commands.verify", "Check that a plan is intact."),
}


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run ``akmc`` and end the process. No traceback reaches a person.

    Start and end are most of what a check of one file takes. So the collector leaves the young objects of imports
    alone for longer, and nothing is taken apart that the system frees anyway (mypy ends in the same way); nothing in
    ``akmc`` registers an exit handler.
    """
    gc.set_threshold(500_000, 20, 20)
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does, and leaves nothing behind
    whole_streams()
    leave(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run ``akmc`` with ``arguments`` (the process's own by default) and return its exit status."""
    try:
        words = list(sys.argv[1:] if arguments is None else arguments)
        if is_plain_check(words):
            from akmc.checking import CheckOptions, run_check

            return run_check(CheckOptions(paths=tuple(words[1:])))
        from akmc.group import run_group

        return run_group(words)
    except CommandFault as fault:
        return _say_fault(fault)
    except KeyboardInterrupt:
        err("akmc: interrupted")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the one place where a bug becomes a report instead of a traceback
        return _say_bug(error)


def is_plain_check(words: Sequence[str], platform: str = os.name) -> bool:
    """Whether a call is ``check`` and paths alone, so that reading it as options would change nothing.

    Not where click has something to do before it reads options: shell completion, and wildcards on Windows.
    """
    plain = bool(words) and words[0] == "check" and not any(word.startswith("-") for word in words)
    return plain and platform != "nt" and "_AKMC_COMPLETE" not in os.environ


def _say_fault(fault: CommandFault) -> int:
    from akmc.render.escape import visible

    err(f"akmc: {visible(fault.message)}")
    if fault.help:
        err(f"  help: {visible(fault.help)}")
    return fault.status


def _say_bug(error: Exception) -> int:
    try:
        from akmc.crash import is_place_gone, say_internal_error

        if isinstance(error, OSError) and is_place_gone():
            err("akmc: the current directory cannot be used: it was removed or moved")
            err("  help: change to a directory that is there")
            return USAGE
        say_internal_error(error)
    except Exception:  # noqa: BLE001 - no memory left, say: a line that needs nothing that is not loaded yet
        with suppress(OSError, ValueError, AttributeError):  # a stream that is full, closed or not there
            sys.stderr.write(f"akmc: internal error ({type(error).__name__}), and no report of it could be made\n")
    return INTERNAL
