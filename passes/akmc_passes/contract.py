"""The pass contract: what a pass is, what it gets and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct, field

from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import (
    ChildTarget,
    Engine,
    EnvRefBinding,
    ExecTarget,
    InputBinding,
    LlmTuning,
    Plan,
    ScriptTarget,
    SourceFile,
)
from akm_schemas.references import Reference
from akmc_grammar.diagnostics import Sink
from akmc_grammar.document import Allow, Document, Locator
from akmc_grammar.ir import Timeout
from akmc_grammar.places import Path, Place
from akmc_grammar.source import SourceText

if TYPE_CHECKING:
    from akmc_passes.artifacts import Artifacts
    from akmc_passes.bundle import Bundle
    from akmc_passes.config import Config
    from akmc_passes.library import Library


class Asset(Struct, frozen=True):
    """A ref that names a file: ``path`` is relative to its bundle's root (forward slashes), ``file`` where it lies."""

    ref: str
    family: str
    path: str
    file: FilePath
    bundle: Bundle


class ComposedCommand(Struct, frozen=True):
    """A prompt that a step composes: what ``CommandTarget`` needs besides its engine.

    ``model`` is the command asset's own model, which ranks below the document's default.
    """

    prompt: str
    template: Literal["none", "arguments"] = "none"
    ref: str | None = None
    model: str | None = None
    options: JsonObject | None = None


class Surface(Struct, frozen=True):
    """What the ``with`` of a step can bind: the inputs of a task, or the params of a child workflow.

    ``preset`` holds the values that count where ``with`` says nothing (a task's defaults); ``required`` says for each
    name that has to be bound why.
    """

    kind: Literal["input", "param"]
    ref: str
    schemas: Mapping[str, JsonObject]
    preset: Mapping[str, Json] = field(default_factory=dict)
    required: Mapping[str, str] = field(default_factory=dict)


class Composed(Struct, frozen=True):
    """What the ``uses`` of a step came to: a command for an engine, or a target that needs none.

    ``engine``, ``model``, ``llm`` and ``timeout`` (milliseconds) are those of a composed task; they rank as the
    unit's own, and come into play where the unit has none. ``redact`` names variables that are handed on and scrubbed.
    ``surface`` is what ``with`` binds, ``None`` where it binds nothing; ``bindings`` turns it into the bindings of the
    target, or of the command (``input_bindings``).
    """

    target: ExecTarget | ScriptTarget | ChildTarget | ComposedCommand
    input_bindings: tuple[InputBinding, ...] = ()
    env_literals: Mapping[str, str] = field(default_factory=dict)
    output: JsonObject | None = None
    engine: str | None = None
    model: str | None = None
    llm: JsonObject | None = None
    timeout: Timeout | None = None
    redact: tuple[str, ...] = ()
    surface: Surface | None = None


class Sizes(Struct, frozen=True):
    """Bytes of canonical JSON: a plan's own without what it embeds, and the own bytes of all that it embeds, added up;
    each with engines left open and as frozen (equal while engines are open)."""

    own_open: int = 0
    own: int = 0
    embedded_open: int = 0
    embedded: int = 0


class Choice(Struct, frozen=True):
    """The runner of a command target as configured: frozen engine, model, merged tuning and the engine's width.

    ``timeout_ms`` is the engine's own timeout, ``None`` when it has none.
    """

    engine: Engine
    model: str | None
    llm: LlmTuning | None
    concurrency: int | None
    timeout_ms: int | None


class Program(Struct, frozen=True):
    """One document on its way to a plan. Frozen: a pass returns a new one (``msgspec.structs.replace``).

    ``assets`` maps the IR path of each resolved asset ref to its file (``resolve``); ``env_files`` that of each env ref
    to its binding (``environment``); ``references`` that of each well-formed reference to its parsed form
    (``references``). ``composed`` and ``exports`` belong to the composition passes: what the ``uses`` at
    ``("steps", i)`` came to, and per step id the schema of a child's exports. ``choices`` maps ``("steps", i)`` to the
    runner of that step's unit and ``judge`` is the runner of every gate (``engines``). ``plan`` is there after
    ``lower`` (hashes empty) and sealed after ``seal``; it is ``open`` while engines have not been chosen. ``sizes`` are
    filled by ``composition`` (embedded) and ``lower`` (own). ``artifacts`` is what ``types`` worked out of the values
    that references name.
    """

    document: Document
    assets: Mapping[Path, Asset] = field(default_factory=dict)
    references: Mapping[Path, Reference] = field(default_factory=dict)
    env_files: Mapping[Path, EnvRefBinding] = field(default_factory=dict)
    composed: Mapping[Path, Composed] = field(default_factory=dict)
    exports: Mapping[str, JsonObject] = field(default_factory=dict)
    choices: Mapping[Path, Choice] = field(default_factory=dict)
    artifacts: Artifacts | None = None
    judge: Choice | None = None
    plan: Plan | None = None
    open: bool = False
    sizes: Sizes = Sizes()

    def place(self, *path: str | int, part: str = "value") -> Place:
        """A place in this document."""
        return Place(self.document.source.name, path, "key" if part == "key" else "value")


class PassCrash(Struct, frozen=True):
    """A pass that raised, a bug: which one, on which file, the error in one line, and the traceback for a report."""

    name: str
    file: str
    summary: str
    traceback: str


class Readable(Protocol):
    """A file that a front end has read: enough of it to show findings and to obey its allow comments."""

    @property
    def source(self) -> SourceText:
        """The file."""

    @property
    def ir(self) -> object | None:
        """What was read, ``None`` when nothing could be."""

    @property
    def poisoned(self) -> frozenset[Path]:
        """Paths that could not be read."""

    @property
    def locator(self) -> Locator:
        """Turns places into spans."""

    @property
    def allows(self) -> tuple[Allow, ...]:
        """Its allow comments."""


class SourceStore(Protocol):
    """Reads and hashes each file once."""

    def read(self, path: FilePath) -> SourceText:
        """The file's text; raises ``OSError`` as ``Path.read_bytes`` does. The same object for the same path."""

    def exists(self, path: FilePath) -> bool:
        """Whether a regular file is there."""

    def read_set(self) -> Mapping[FilePath, SourceText]:
        """Every file read so far."""


class Context(Struct):
    """What a pass may use besides its program.

    ``config`` is ``None`` when none was found; ``freeze`` whether the freeze rules run (engines, judge, models, env).
    ``bundle`` is ``None`` for a file outside every bundle. ``read_set`` collects what entered this program, keyed by
    bundle-relative path (``bundle//path`` for another bundle's); ``origins`` says under the same keys where each file
    lies. ``crashes`` are passes that raised: the caller shows every finding, writes a report and exits 70.
    ``library`` remembers the assets of a session; without one, ``composition`` makes its own. ``home`` is the bundle of
    the file that was asked for, ``None`` when it is this one. ``documents`` are the files besides this one that findings
    or notes point into, by the name that people see. ``absent`` are files that were looked for in vain: were one of them
    there, the answer would be another.
    """

    sink: Sink
    store: SourceStore
    bundle: Bundle | None
    config: Config | None = None
    freeze: bool = False
    read_set: dict[str, SourceFile] = field(default_factory=dict)
    origins: dict[str, FilePath] = field(default_factory=dict)
    crashes: list[PassCrash] = field(default_factory=list)
    library: Library | None = None
    home: Bundle | None = None
    documents: dict[str, Readable] = field(default_factory=dict)
    absent: set[FilePath] = field(default_factory=set)

    @property
    def leaves_engines_open(self) -> bool:
        """Whether engine, model, judge and env rules stay silent: no config was found and nothing is frozen."""
        return self.config is None and not self.freeze


class Pass(Protocol):
    """A module that is a pass. ``AFTER`` names the passes it relies on, ``EMITS`` the rules it reports."""

    NAME: str
    AFTER: tuple[str, ...]
    EMITS: tuple[str, ...]

    def run(self, program: Program, context: Context) -> Program:
        """The program after this pass; a module's function of that name and signature."""
