"""``akmc check --watch``: check, wait for a change, check again.

What did not change is not read again: the session lives on as long as files are only rewritten, and its library knows
documents and plans by content. A file that came or went, or a config that changed, begins a new one.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Final, Protocol

from akm_schemas.counting import counted
from akmc.console import err, is_terminal, out, reader_left
from akmc.faults import CommandFault
from akmc.session.session import Session
from akmc.session.store import FileStore
from akmc.session.targets import Targets
from akmc.session.watch import Scope, Snapshot, scope_of

INTERVAL_S: Final = 0.3
SETTLE_S: Final = 0.05  # an editor may write a file in several steps
FORMATS: Final = ("text", "concise", "jsonl")
_CLEAR: Final = "\x1b[2J\x1b[H"


class Round(Protocol):
    """One check of ``targets`` in ``session``, printed; returns what the exit status would be."""

    def __call__(self, session: Session, targets: Targets) -> int: ...


def refuse_options(format_name: str, paths: tuple[str, ...], *, fix: bool) -> None:
    """Usage faults of what does not go with ``--watch``."""
    if format_name not in FORMATS:
        help = f"use one of: {', '.join(FORMATS)}"
        raise CommandFault(f"--watch prints again and again, which {format_name} cannot hold", help=help)
    if fix:
        raise CommandFault("--watch does not go with --fix", help="run akmc check --fix once, then watch")
    if "-" in paths:
        raise CommandFault("--watch cannot watch standard input", help="name files or folders")


def watch(
    new_session: Callable[[], Session],
    collect: Callable[[FileStore], Targets],
    check: Round,
) -> int:
    """Check now and after each change, until Ctrl-C (``KeyboardInterrupt``) or until nobody reads the output.

    Returns the status of the last check, for the latter case.
    """
    session = new_session()
    targets = collect(session.store)
    while True:
        if is_terminal(sys.stdout):
            out(_CLEAR)
        scope = scope_of(targets, session.bundles(), session.config_file)
        before = scope.snapshot()  # before the check: what changes meanwhile is seen afterwards
        status = check(session, targets)
        wider = scope_of(targets, session.bundles(), session.config_file)  # configs are read by the check
        before = {**wider.snapshot(), **before} if wider != scope else before
        err(f"watching {counted(len(before), 'file')}; Ctrl-C ends")
        after = _wait(wider, before)
        if after is None:
            return status
        changes = wider.changes(before, after)
        if changes.moved:
            session = new_session()
            targets = collect(session.store)
        else:
            session.store.forget(changes.rewritten)


def _wait(scope: Scope, before: Snapshot) -> Snapshot | None:
    """The snapshot after a change that has settled; ``None`` when standard output has lost its reader."""
    while True:
        time.sleep(INTERVAL_S)
        if reader_left():
            return None
        after = scope.snapshot()
        if scope.changes(before, after):
            while True:
                time.sleep(SETTLE_S)
                settled = scope.snapshot()
                if not scope.changes(after, settled):
                    return settled
                after = settled
