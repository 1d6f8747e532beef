"""The seam between the driver and the dispatchers: one request in, one result out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct, field
from msgspec.structs import force_setattr

from akm_run.values import as_tokens
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import Binding, Target

if TYPE_CHECKING:
    from akm_run.ambient import Ambient


class UnitContext(Struct, frozen=True):
    """What is attached to a unit. ``item_index`` is ``None`` outside maps, ``inputs`` and ``task_inputs`` where a step
    has none (an empty mapping never occurs). ``inputs`` goes from reference text to value."""

    params: JsonObject
    item: Json = None
    item_index: int | None = None
    inputs: JsonObject | None = None
    task_inputs: JsonObject | None = None
    gate_feedback: str | None = None
    correction: tuple[str, ...] = ()


class UnitRequest(Struct, frozen=True):
    """One dispatch. ``schema`` is the schema of this unit's result; ``timeout_s`` seconds or ``None``.

    ``workspace`` is the absolute directory that units start in; ``bundle`` the directory that env files are relative to.
    ``commit`` is the git commit recorded when the run was published, for isolated units; ``None`` is HEAD.
    ``conceals`` are bindings that the unit does not get and whose values are scrubbed all the same.
    ``ambient`` is the environment that units are given a part of, ``None`` for the interpreter's at the time of dispatch.
    ``log`` is told what the unit's process prints while it runs, redacted, and may raise OSError; ``None``: nobody is.
    """

    run_id: str
    step_id: str
    unit_id: str
    attempt: int
    target: Target
    instructions: str
    env: tuple[Binding, ...]
    schema: JsonObject | None
    timeout_s: float | None
    context: UnitContext
    workspace: Path
    bundle: Path
    isolation: Literal["none", "worktree"] = "none"
    commit: str | None = None
    log: Callable[[str], None] | None = None
    conceals: tuple[Binding, ...] = ()
    ambient: Ambient | None = None


class UnitResult(Struct, frozen=True):
    """What came of a dispatch.

    ``value`` is the JSON value (schema units) or the text (``None`` for empty text). ``failure_reason`` is set exactly
    when the unit failed. ``diagnostic`` is redacted and at most 2000 characters. ``tokens`` is reported usage,
    ``None`` where none is, or a count that nobody can have used: an odd report must not cost an answer.
    ``errors`` are the schema misses of a ``validation_error``. ``retry_after_s`` is how long a server asked to wait.
    """

    value: Json = None
    failure_reason: str | None = None
    diagnostic: str | None = None
    notices: tuple[str, ...] = ()
    tokens: int | None = None
    errors: tuple[str, ...] = field(default=())
    retry_after_s: float | None = None

    def __post_init__(self) -> None:
        """Whatever an engine reports goes through here on its way to the journal, the budget and a recording."""
        force_setattr(self, "tokens", as_tokens(self.tokens))

    @property
    def completed(self) -> bool:
        """Whether the unit succeeded."""
        return self.failure_reason is None


class Cancel(Protocol):
    """Cancellation seen by a dispatcher; set once for all running units of a driver."""

    def is_set(self) -> bool:
        """Whether the unit should stop."""

    def fileno(self) -> int:
        """A descriptor that is readable once cancellation was asked for, to select on."""


class Dispatcher(Protocol):
    """Performs one unit, blocking the calling thread. Raises nothing for anything a unit can do."""

    def __call__(self, request: UnitRequest, cancel: Cancel) -> UnitResult:
        """Perform ``request``."""
