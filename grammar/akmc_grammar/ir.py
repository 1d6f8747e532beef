"""Source IR, version 1: what both front ends produce.

Every value is already of the right shape; what a front end could not read is ``UNSET`` and its path stands in
``Document.poisoned``, so that no pass reports a consequence of it (``None`` inside a list of texts). References and
asset refs are still text.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from akm_schemas.json_types import JsonObject

SOURCE_IR_VERSION = 1

Timeout: TypeAlias = int | Literal["none"]
OnError: TypeAlias = Literal["fail", "continue"]


class _Node(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Shared options of every IR node."""


class Defaults(_Node, frozen=True, kw_only=True):
    """Document-level dispatch defaults; ``timeout`` in milliseconds."""

    engine: str | UnsetType = UNSET
    model: str | UnsetType = UNSET
    llm: JsonObject | UnsetType = UNSET
    timeout: Timeout | UnsetType = UNSET
    on_error: OnError | UnsetType = UNSET


class Budget(_Node, frozen=True, kw_only=True):
    """Run-lifetime ceilings."""

    max_units: int | UnsetType = UNSET
    max_tokens: int | UnsetType = UNSET


class Output(_Node, frozen=True, kw_only=True):
    """A run-level export; ``from_`` is reference text."""

    from_: str | UnsetType = msgspec.field(name="from", default=UNSET)
    schema: JsonObject | UnsetType = UNSET


class Exec(_Node, frozen=True, kw_only=True):
    """An argv with its working directory (relative) and pass-through names."""

    command: list[str]
    cwd: str | UnsetType = UNSET
    pass_env: list[str] = []


class Uses(_Node, frozen=True, kw_only=True):
    """A composed asset (YAML sources): ``ref`` is canonical, ``with_`` the authored bindings."""

    ref: str
    with_: JsonObject | UnsetType = msgspec.field(name="with", default=UNSET)


class Retry(_Node, frozen=True, kw_only=True):
    """``max`` extra attempts for the reasons in ``on``."""

    max: int
    on: list[str]


class Unit(_Node, frozen=True, kw_only=True):
    """The dispatch bag of a unit or map step: at most one of ``exec`` and ``uses``; neither: an engine reads the prose.

    ``env_refs`` are env asset refs (Markdown); ``env_literals`` name -> text (YAML), ``UNSET``
    without an ``env``: an empty one is refused where nothing could consume it.
    """

    exec: Exec | UnsetType = UNSET
    uses: Uses | UnsetType = UNSET
    engine: str | UnsetType = UNSET
    model: str | UnsetType = UNSET
    llm: JsonObject | UnsetType = UNSET
    timeout: Timeout | UnsetType = UNSET
    retry: Retry | UnsetType = UNSET
    on_error: OnError | UnsetType = UNSET
    output: JsonObject | UnsetType = UNSET
    env_refs: list[str | None] = []
    env_literals: dict[str, str] | UnsetType = UNSET
    isolation: Literal["none", "worktree"] | UnsetType = UNSET


class Map(_Node, frozen=True, kw_only=True):
    """Fan-out; ``over`` is reference text."""

    over: str | UnsetType = UNSET
    concurrency: int | UnsetType = UNSET
    reducer: Literal["collect", "vote"] | UnsetType = UNSET


class Branch(_Node, frozen=True, kw_only=True):
    """One ``when`` entry; ``match`` or ``step`` is ``UNSET`` when it could not be read."""

    match: str | int | float | bool | UnsetType = UNSET
    step: str | UnsetType = UNSET


class Route(_Node, frozen=True, kw_only=True):
    """Forward selection; ``input`` is reference text."""

    input: str | UnsetType = UNSET
    when: list[Branch] = []
    default: str | UnsetType = UNSET


class Step(_Node, frozen=True, kw_only=True):
    """One entry of the spine. ``id`` is ``UNSET`` when it is missing or malformed.

    ``instructions`` and ``rubric`` are the section's text, without blank lines at either end; ``rubric`` is ``UNSET``
    without a gate heading or when it is blank. ``max_loops`` is the authored ``gate.max_loops``.
    """

    id: str | UnsetType = UNSET
    kind: Literal["unit", "map", "route"]
    inputs: list[str | None] = []
    output: JsonObject | UnsetType = UNSET
    unit: Unit | UnsetType = UNSET
    map: Map | UnsetType = UNSET
    route: Route | UnsetType = UNSET
    max_loops: int | UnsetType = UNSET
    instructions: str = ""
    rubric: str | UnsetType = UNSET


class SourceIR(_Node, frozen=True, kw_only=True):
    """One workflow source. ``title`` is the H1 or the YAML ``name``; ``schedule`` cron lines; ``spans`` for provenance."""

    source_ir_version: int = SOURCE_IR_VERSION
    source_format: Literal["markdown", "github-yaml"]
    title: str = ""
    description: str = ""
    params: dict[str, JsonObject] = {}
    defaults: Defaults = Defaults()
    budget: Budget = Budget()
    outputs: dict[str, Output] = {}
    steps: list[Step] = []
    schedule: list[str] = []
    preamble: str = ""
    spans: dict[str, list[int]] = {}
