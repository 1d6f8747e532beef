"""``platform: command``: any command line that reads a prompt on stdin and prints the answer. It passes nothing on."""

from __future__ import annotations

from typing import Final

from akm_run.dispatch.platforms.contract import CannotRun, CommandLine, Reader
from akm_schemas.plan import AgentEngine

PROGRAM: Final[str | None] = None
READ: Final[Reader | None] = None


def command_line(engine: AgentEngine, model: str | None) -> CommandLine:
    """The configured arguments and no more: a program of any kind has no common way to name a model."""
    del model
    if not isinstance(engine.bin, str) or not engine.bin:
        raise CannotRun(f"engine {engine.name!r} names no program; set its `bin` and compile again")
    return CommandLine(tuple(engine.args) if isinstance(engine.args, list) else ())
