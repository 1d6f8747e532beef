"""Ways in which a command ends without having done what it was asked, each with its exit status (spec 3, section 1)."""

from __future__ import annotations


class CommandFault(Exception):
    """Ends the command with ``code``; ``str(fault)`` is for the person, ``help`` what they can do."""

    code = 1

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.help = help


class OutputFault(CommandFault):
    """What was asked for cannot be written to stdout; what the command has done stays done."""


class UsageFault(CommandFault):
    """The request, or the plan, cannot be carried out as it stands."""

    code = 2


class BusyFault(CommandFault):
    """Another driver holds the run."""

    code = 75

    def __init__(self, run_id: str, message: str) -> None:
        super().__init__(message)
        self.run_id = run_id


class ConfigFault(CommandFault):
    """The environment lacks what the plan needs."""

    code = 78
