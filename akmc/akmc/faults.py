"""Exit statuses, and the faults that a command ends with on purpose.

Kept free of imports: the console script loads this module before it knows which command was asked for.
"""

from __future__ import annotations

OK = 0
FOUND = 1  # findings, a stale plan, a plan that does not verify, a difference that was asked about
USAGE = 2  # a call that makes no sense; also a source at fault where a plan was asked for
INTERNAL = 70  # sysexits.h EX_SOFTWARE: a bug of ours
CONFIG = 78  # sysexits.h EX_CONFIG
INTERRUPTED = 130  # 128 + SIGINT


class CommandFault(Exception):
    """Ends a command with a message for a person and an exit ``status``; ``help`` says what to do about it."""

    def __init__(self, message: str, *, status: int = USAGE, help: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.help = help
