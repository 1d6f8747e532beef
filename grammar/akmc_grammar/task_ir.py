"""A task as its front end leaves it: every value of the right shape, refs and schemas unchecked."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from akm_schemas.json_types import JsonObject
from akmc_grammar.document import Allow, Locator
from akmc_grammar.ir import Unit
from akmc_grammar.places import Path
from akmc_grammar.source import SourceText

TaskKind = Literal["run", "prompt", "command", "script", "workflow"]


class _Node(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Shared options of every node."""


class TaskInput(_Node, frozen=True, kw_only=True):
    """What a composing step can bind. ``schema`` keeps its ``default``, the flag ``required: true`` is taken out."""

    schema: JsonObject
    required: bool = False


class TaskSchedule(_Node, frozen=True, kw_only=True):
    """One schedule: five cron fields and the values of inputs."""

    cron: str
    inputs: JsonObject = {}


class TaskIR(_Node, frozen=True, kw_only=True):
    """One task. ``unit`` holds its target (``exec`` or ``uses``), literals of ``env``, ``engine``, ``model``,
    ``llm`` (``inference``), ``output`` and ``timeout`` in milliseconds. ``kind`` is what the target is."""

    kind: TaskKind
    unit: Unit
    inputs: dict[str, TaskInput] = {}
    schedule: list[TaskSchedule] = []
    tools: list[str] = []
    redact: list[str] = []
    agent: str | UnsetType = UNSET
    max_steps: int | UnsetType = UNSET
    max_retries: int | UnsetType = UNSET


class TaskDocument(Struct, frozen=True):
    """A task after its front end; see ``document.Document`` for the fields. ``ir`` is ``None`` when its target could
    not be told."""

    source: SourceText
    ref: str
    ir: TaskIR | None
    poisoned: frozenset[Path]
    locator: Locator
    allows: tuple[Allow, ...]

    def is_poisoned(self, path: Path) -> bool:
        """Whether ``path`` or anything above it could not be read."""
        return any(path[:size] in self.poisoned for size in range(len(path) + 1))
