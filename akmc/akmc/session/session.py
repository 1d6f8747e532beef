"""A session: files are read once, documents and configs remembered, findings come out sorted.

It is what every command, and later a language server, stands on. Nothing here prints.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from akmc.render.finding import Finding
from akmc.session.front_ends import Unsupported, front_end_of
from akmc.session.resolving import START, Resolver, in_order
from akmc.session.store import FileStore
from akmc.session.suppression import suppress
from akmc.session.targets import Target, Targets
from akmc_grammar.diagnostics import Diagnostic, Fix, Sink
from akmc_grammar.document import Document
from akmc_grammar.places import Place
from akmc_passes.config import Config, ConfigError, load_config
from akmc_passes.contract import Context, PassCrash, Program

if TYPE_CHECKING:
    from akmc_passes.pipeline import Timing


@dataclass(frozen=True)
class Analysis:
    """One target after front end and passes. ``program`` is ``None`` when nothing of it could be read."""

    target: Target
    document: Document | None
    program: Program | None
    context: Context
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True)
class Checked:
    """What a check came to.

    ``findings`` are resolved, suppressed and in order; ``paths`` the checked files as shown; ``problems`` what was
    wrong with the call, ``config_errors`` with the config; ``crashes`` are bugs of ours.
    """

    findings: tuple[Finding, ...]
    paths: tuple[str, ...]
    problems: tuple[str, ...] = ()
    config_errors: tuple[str, ...] = ()
    crashes: tuple[PassCrash, ...] = ()


@dataclass
class Session:
    """``config_file`` is ``--config``; ``freeze`` whether the freeze rules run without a config too."""

    store: FileStore
    config_file: Path | None = None
    freeze: bool = False
    _configs: dict[Path, Config | ConfigError | None] = field(default_factory=dict)

    def check(self, targets: Targets, progress: Callable[[int, int, str], None] | None = None) -> Checked:
        """Check every target; ``progress`` is called with (done, total, path) before each."""
        findings: list[Finding] = []
        problems = [problem.message for problem in targets.problems if problem.fatal]
        crashes: list[PassCrash] = []
        sink = Sink()
        for unreachable in targets.unreachable:
            self._report_unreadable(sink, unreachable.path, unreachable.reason)
        findings += self.resolve(sink.found, None)
        paths: list[str] = []
        for done, target in enumerate(targets.targets):
            name = self.store.name(target.path)
            if progress is not None:
                progress(done, len(targets.targets), name)
            try:
                analysis = self.analyse(target)
            except Unsupported as reason:
                problems.append(f'"{name}": {reason}')
                continue
            paths.append(name)
            crashes += analysis.context.crashes
            findings += self.resolve(analysis.diagnostics, analysis.document)
        return Checked(in_order(findings), tuple(paths), tuple(problems), self.config_errors(), tuple(crashes))

    def analyse(
        self,
        target: Target,
        *,
        front_end_only: bool = False,
        stop_after: str | None = None,
        timings: list[Timing] | None = None,
    ) -> Analysis:
        """Read one target and run the passes on it, the last one being ``stop_after`` (none under ``front_end_only``).

        Raises ``Unsupported`` for a file that no front end reads.
        """
        sink = Sink()
        config = self.config_for(target.path.parent)
        faulty = isinstance(config, ConfigError)  # what depends on the config is not judged without it
        context = Context(
            sink=sink,
            store=self.store,
            bundle=target.bundle,
            config=None if isinstance(config, ConfigError) else config,
            freeze=self.freeze and not faulty,
        )
        document = self._document(target, context)
        program = None if document is None else Program(document)
        if program is not None and program.document.ir is not None and not front_end_only:
            from akmc_passes.pipeline import run_pipeline

            program = run_pipeline(program, context, stop_after=stop_after, timings=timings)
        return Analysis(target, document, program, context, tuple(sink.found))

    def resolve(self, diagnostics: Iterable[Diagnostic], document: Document | None) -> list[Finding]:
        """Findings with places, those that ``document`` allows left out."""
        documents = {} if document is None else {document.source.name: document}
        resolver = Resolver(documents, self.store.by_name)
        findings = [resolver.finding(diagnostic) for diagnostic in diagnostics]
        return findings if document is None else suppress(findings, document)

    def config_for(self, folder: Path) -> Config | ConfigError | None:
        """The config for sources in ``folder``, or what is wrong with it; read once per folder."""
        key = self.store.key(folder)
        if key not in self._configs:
            try:
                self._configs[key] = load_config(key, self.config_file)
            except ConfigError as error:
                self._configs[key] = error
            except OSError as error:
                where = Path(os.fsdecode(error.filename)) if error.filename else key
                self._configs[key] = ConfigError(where, "", f"cannot be read: {error.strerror or error}")
        return self._configs[key]

    def config_errors(self) -> tuple[str, ...]:
        """What was wrong with the configs that were looked at, each once, sorted."""
        return tuple(sorted({str(error) for error in self._configs.values() if isinstance(error, ConfigError)}))

    def _document(self, target: Target, context: Context) -> Document | None:
        """The target's document, or ``None`` after a finding that says why there is none."""
        sink = context.sink
        if not target.recognised:
            self._report_extension(sink, target)
            return None
        front_end = front_end_of(target)
        try:
            source = self.store.read(target.path)
        except OSError as error:
            self._report_unreadable(sink, target.path, error.strerror or str(error))
            return None
        try:
            return front_end(source, target.ref, sink)
        except Exception as error:  # noqa: BLE001 - a bug in a front end must not hide the findings of other files
            from akmc_passes.pipeline import crash_of

            context.crashes.append(crash_of("front end", source.name, error))
            return None

    def _report_unreadable(self, sink: Sink, path: Path, reason: str) -> None:
        name = self.store.name(path)
        help = "the link leads nowhere" if path.is_symlink() and not path.exists() else "check what it is and its mode"
        sink.report("unreadable-source", Place(name, span=START), f"cannot be read: {reason}", help=help)

    def _report_extension(self, sink: Sink, target: Target) -> None:
        name = self.store.name(target.path)
        twin = target.path.with_suffix(".yml")
        new_name = f"{name.removesuffix('.yaml')}.yml"
        if os.path.lexists(twin):
            fix, help = None, f'"{new_name}" is there already: merge the two, and delete this one'
        else:
            fix, help = Fix(f'rename it to "{new_name}"', rename=new_name), f'rename it to "{new_name}"'
        message = 'the extension ".yaml" is never recognised; expected ".yml"'
        sink.report("unrecognised-extension", Place(name, span=START), message, help=help, fix=fix)
