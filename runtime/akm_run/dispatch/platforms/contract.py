"""The seam between agent units and the programs that perform them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

from msgspec import Struct, field

from akm_schemas.plan import AgentEngine


class Reading(Struct, frozen=True):
    """What a program's stdout says.

    ``text`` is the agent's answer. ``error`` is the failure that the program reports itself. ``tokens`` are prompt and
    completion together, ``None`` when unreported. Nothing in it is redacted yet.
    """

    text: str = ""
    error: str | None = None
    tokens: int | None = None


class UnreadableOutput(Exception):
    """A stdout that is not what the program documents; the message quotes nothing of it."""


Reader: TypeAlias = Callable[[str], Reading]


class CommandLine(Struct, frozen=True):
    """How to start a program: the words after its name, and variables that are set for it.

    ``credentials`` and ``settings`` are the engine's pass-through names: variables that the program takes from our own
    environment. Values of the former are scrubbed from all that is stored. Keys that open more than a model (a cloud
    account's, a code host's) are in no table: what an agent can read, its model can.
    """

    arguments: tuple[str, ...]
    credentials: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)


class CannotRun(Exception):
    """An engine that lacks something that its platform needs; the message says what to configure."""


class Platform(Protocol):
    """A module for one program. The prompt always goes to its stdin.

    ``PROGRAM`` is started where an engine has no ``bin``; ``None`` where it must have one. ``READ`` makes a reading of
    its stdout; ``None`` where stdout is the answer itself.
    """

    @property
    def PROGRAM(self) -> str | None:
        """The default program."""

    @property
    def READ(self) -> Reader | None:
        """How its stdout is read."""

    def command_line(self, engine: AgentEngine, model: str | None) -> CommandLine:
        """The command line for ``engine``; raises CannotRun."""
