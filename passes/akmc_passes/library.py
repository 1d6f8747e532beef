"""The assets of a session: each file read once, each workflow frozen once, remembered by content.

A remembered answer counts while every file that went into it still has the bytes that were read. Nothing here reports
to the caller's sink: an answer carries its own findings, and ``adopt`` takes over what a caller wants to show.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Final, TypeAlias

from msgspec import Struct

from akmc_grammar.diagnostics import Diagnostic, Sink
from akmc_grammar.document import Document
from akmc_grammar.places import Place, Span
from akmc_grammar.reference_grammar import parse_asset_ref
from akmc_grammar.source import SourceText
from akmc_passes.bundle import Bundle
from akmc_passes.contract import Asset, Context, PassCrash, Program, Readable, SourceStore
from akmc_passes.read_set import enter_own_source

if TYPE_CHECKING:
    from akmc_grammar.command_asset import CommandDocument
    from akmc_grammar.task_ir import TaskDocument
    from akmc_passes.composition_graph import Hop
    from akmc_passes.tasks import ReadTask

_NAMEABLE: Final = (
    'rename it: a ref has ASCII letters, digits, ".", "_" and "-" between its slashes, a letter, digit or "_" first'
)
_HopsKey: TypeAlias = tuple[int, FilePath | None, int]
_Key: TypeAlias = tuple[str, FilePath, str, FilePath, str, FilePath | None, int, bool]


class Reading(Struct, frozen=True):
    """A file after its front end: the document and what was found.

    ``document`` is ``None`` after a ``crash`` and for a file that is ``unreadable``, which says why.
    """

    document: Readable | None
    found: tuple[Diagnostic, ...]
    crash: PassCrash | None = None
    unreadable: str | None = None


class Frozen(Struct, frozen=True):
    """A workflow after all passes. ``program`` is ``None`` when nothing of it could be read; ``context`` holds its
    findings, its read set and the crashes."""

    program: Program | None
    context: Context

    @property
    def errors(self) -> int:
        """How many errors there are in the workflow and in what it composes."""
        return sum(item.severity == "error" for item in self.context.sink.found)


class Library:
    """What a session knows of its assets. ``store`` reads each file once."""

    def __init__(self, store: SourceStore) -> None:
        self.store = store
        self._readings: dict[tuple[FilePath, str, str], Reading] = {}
        self._frozen: dict[_Key, Frozen] = {}
        self._hops: dict[_HopsKey, tuple[Document, tuple[Hop, ...], tuple[tuple[Asset, Readable | None], ...]]] = {}
        self._tasks: dict[_Key, ReadTask] = {}

    # ---- front ends ----

    def read(self, asset: Asset) -> Reading:
        """The asset's document. Findings carry the file's name as people see it."""
        try:
            source = self.store.read(asset.file)
        except OSError as error:
            return Reading(None, (), unreadable=error.strerror or str(error))
        key = (asset.file, asset.ref, source.sha256)
        if key not in self._readings:
            self._readings[key] = self._read(source, asset)
        return self._readings[key]

    def _read(self, source: SourceText, asset: Asset) -> Reading:
        sink = Sink()
        try:
            document = front_end(asset, source, sink)
        except Exception as error:  # noqa: BLE001 (a bug of a front end must not hide the findings of other files)
            from akmc_passes.pipeline import crash_of

            return Reading(None, tuple(sink.found), crash_of("front end", source.name, error))
        if asset.ref and parse_asset_ref(asset.ref) is None:
            message = f'no ref can name this file: "{asset.ref}" is none'
            place = Place(source.name, span=Span(1, 1, 1, 1))
            sink.report("unnameable-file", place, message, help=_NAMEABLE)
        return Reading(document, tuple(sink.found))

    # ---- workflows ----

    def frozen(self, asset: Asset, context: Context) -> Frozen:
        """A workflow through all passes, under the config and the freeze rules of ``context``."""
        key = _key("workflow", asset, context)
        known = self._frozen.get(key)
        if known is not None and self._stands(known.context):
            return known
        frozen = self._freeze(asset, context)
        if frozen.program is not None:
            self._frozen[key] = frozen
        return frozen

    def _freeze(self, asset: Asset, context: Context) -> Frozen:
        own = self.context_for(asset, context)
        program = self.start(asset, own)
        if program is None or program.document.ir is None:
            return Frozen(program, own)
        from akmc_passes.pipeline import run_pipeline

        return Frozen(run_pipeline(program, own), own)

    def start(self, asset: Asset, own: Context) -> Program | None:
        """The program of a workflow before any pass, its findings so far in its ``own`` context."""
        reading = self.read(asset)
        own.sink.found.extend(reading.found)
        if reading.crash is not None:
            own.crashes.append(reading.crash)
        if not isinstance(reading.document, Document):
            return None
        own.documents[reading.document.source.name] = reading.document
        program = Program(reading.document)
        enter_own_source(program, own)
        return program

    # ---- who composes whom ----

    def hops(self, document: Document, quiet: Context) -> tuple[Hop, ...]:
        """See ``composition_graph.hops_of``; remembered while the tasks in between stay as they are."""
        from akmc_passes.composition_graph import hops_of

        bundle = quiet.bundle
        key = (id(document), None if bundle is None else bundle.root, id(quiet.config))
        if key in self._hops:
            known, hops, tasks = self._hops[key]
            if known is document and all(self.read(task).document is read for task, read in tasks):
                return hops
        hops = hops_of(document, quiet, self)
        tasks = tuple((hop.task, self.read(hop.task).document) for hop in hops if hop.task is not None)
        self._hops[key] = (document, hops, tasks)
        return hops

    # ---- tasks ----

    def task(self, asset: Asset, context: Context) -> ReadTask:
        """A task with everything about it checked, the workflow that it may target aside."""
        from akmc_passes.tasks import read_task_asset

        key = _key("task", asset, context)
        known = self._tasks.get(key)
        if known is not None and self._stands(known.context):
            return known
        task = read_task_asset(asset, context, self)
        if task.document is not None:
            self._tasks[key] = task
        return task

    # ---- contexts ----

    def context_for(self, asset: Asset, context: Context) -> Context:
        """A context for an asset that ``context``'s program composes: the same config, its own sink and read set."""
        return Context(
            sink=Sink(),
            store=self.store,
            bundle=asset.bundle,
            config=context.config,
            freeze=context.freeze,
            library=self,
            home=context.home or context.bundle,
        )

    def context_for_refs(self, context: Context, bundle: Bundle | None = None) -> Context:
        """A context that resolves refs of ``bundle`` (the same one by default) and whose findings nobody sees."""
        return Context(Sink(), self.store, bundle or context.bundle, config=context.config, library=self)

    def _stands(self, context: Context) -> bool:
        """Whether every file of the read set still has the bytes that were read, and no file has turned up."""
        if any(self.store.exists(path) for path in context.absent):
            return False
        for key, entry in context.read_set.items():
            try:
                if self.store.read(context.origins[key]).sha256 != entry.sha256:
                    return False
            except OSError:
                return False
        return True


def front_end(asset: Asset, source: SourceText, sink: Sink) -> Document | TaskDocument | CommandDocument:
    """Read a source with the front end of its family and extension."""
    if asset.family == "commands":
        from akmc_grammar.command_asset import read_command

        return read_command(source, ref=asset.ref, sink=sink)
    if asset.family == "tasks":
        from akmc_grammar.task import read_task

        return read_task(source, ref=asset.ref, sink=sink)
    if asset.file.suffix == ".md":
        from akmc_grammar.markdown import read_markdown

        return read_markdown(source, ref=asset.ref, sink=sink)
    from akmc_grammar.yaml_workflow import read_yaml_workflow

    return read_yaml_workflow(source, ref=asset.ref, sink=sink)


def library_of(context: Context) -> Library:
    """The session's library; a context without one gets its own."""
    if context.library is None:
        context.library = Library(context.store)
    return context.library


def adopt(context: Context, other: Context, *, findings: bool) -> None:
    """Take over what another program read, and its findings where they are to be shown."""
    context.read_set.update(other.read_set)
    context.origins.update(other.origins)
    context.documents.update(other.documents)
    context.absent.update(other.absent)
    context.crashes.extend(crash for crash in other.crashes if crash not in context.crashes)
    if findings:
        adopt_findings(context.sink, other.sink.found)


def adopt_findings(sink: Sink, found: Iterable[Diagnostic]) -> None:
    """Add findings of another file, each once."""
    there = set(map(id, sink.found))
    sink.found.extend(item for item in found if id(item) not in there)


def _key(what: str, asset: Asset, context: Context) -> _Key:
    home: Bundle | None = context.home or context.bundle
    # Paths of env files start at the bundle that was asked for, so a child of another bundle depends on it.
    elsewhere = home.root if asset.bundle.name and home is not None else None
    return (
        what,
        asset.file,
        asset.ref,
        asset.bundle.root,
        asset.bundle.name,
        elsewhere,
        id(context.config),
        context.freeze,
    )
