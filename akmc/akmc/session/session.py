"""A session: files are read once, documents and configs remembered, findings come out sorted.

It is what every command, and later a language server, stands on. Nothing here prints.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from akm_schemas.spelling import renew_budget
from akmc.render.finding import Finding
from akmc.session.links import Links
from akmc.session.resolving import START, Resolver, in_order
from akmc.session.store import FileStore, is_taken
from akmc.session.suppression import suppress
from akmc.session.targets import Target, Targets
from akmc_grammar.diagnostics import Diagnostic, Fix, Sink
from akmc_grammar.document import Document
from akmc_grammar.places import Place
from akmc_passes.bundle import UNRECOGNISED_EXTENSION, admitted_extension
from akmc_passes.config_places import may_have_config
from akmc_passes.contract import Asset, Context, PassCrash, Program

if TYPE_CHECKING:
    from akmc.session.ahead import Ahead
    from akmc.session.verdicts import Verdicts
    from akmc_passes.config import Config, ConfigError
    from akmc_passes.library import Library
    from akmc_passes.pipeline import Timing


class Analysis(Struct, frozen=True):
    """One target after front end and passes. ``program`` is ``None`` for a task, and when nothing could be read."""

    target: Target
    program: Program | None
    context: Context

    @property
    def document(self) -> Document | None:
        """The workflow's document."""
        return None if self.program is None else self.program.document

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """The findings, those of broken children included."""
        return tuple(self.context.sink.found)


class Checked(Struct, frozen=True):
    """What a check came to.

    ``findings`` are resolved, suppressed and in order; ``paths`` the checked files as shown; ``problems`` what was
    wrong with the call, ``config_errors`` with the config; ``crashes`` are bugs of ours.
    """

    findings: tuple[Finding, ...]
    paths: tuple[str, ...]
    problems: tuple[str, ...] = ()
    config_errors: tuple[str, ...] = ()
    crashes: tuple[PassCrash, ...] = ()


class Session(Struct, dict=True):
    """``config_file`` is ``--config``; ``freeze`` whether the freeze rules run without a config too; ``verdicts`` are
    those of earlier sessions, looked at when they are there."""

    store: FileStore
    config_file: Path | None = None
    freeze: bool = False
    verdicts: Verdicts | None = None
    _configs: dict[Path, Config | ConfigError | None] = field(default_factory=dict)
    _digests: dict[int, str] = field(default_factory=dict)
    _links: Links = field(default_factory=Links)

    @cached_property
    def library(self) -> Library:
        """What the session knows of assets."""
        from akmc_passes.library import Library

        return Library(self.store)

    def check(self, targets: Targets, progress: Callable[[int, int, str], None] | None = None) -> Checked:
        """Check every target; ``progress`` is called with (done, total, path) before each."""
        problems = [problem.message for problem in targets.problems if problem.fatal]
        sink = Sink()
        for unreachable in targets.unreachable:
            self._report_unreadable(sink, unreachable.path, unreachable.reason)
        findings = [Resolver({}, self.store.by_name).finding(diagnostic) for diagnostic in sink.found]
        looked: dict[int, tuple[list[PassCrash], list[Finding]]] = {}
        self._links = Links()
        key_of_place = cache(lambda place: self._verdict_key(targets.targets[place]))
        ahead = self._look_ahead(targets.targets, key_of_place)
        try:
            named = [self.store.name(target.path) for target in targets.targets]
            for place in range(len(named)) if ahead is None else ahead.places(len(named)):
                if progress is not None:
                    progress(place, len(named), named[place])
                key = key_of_place(place)
                if key is not None and self.verdicts is not None and self.verdicts.knows(key):
                    continue
                analysis = self.analyse(targets.targets[place])
                found = self.resolve(analysis)
                looked[place] = analysis.context.crashes, found
                if key is not None and not found:
                    self._remember(key, analysis)
            if ahead is not None and self.verdicts is not None:
                self.verdicts.add(ahead.clean.values())
                for place in ahead.clean:
                    self.config_for(targets.targets[place].path.parent)  # a watch asks which configs there are
        finally:
            if ahead is not None:
                ahead.close()
        crashes: list[PassCrash] = []
        for _, (crashed, found) in sorted(looked.items()):  # whoever looked first, this is the order of the targets
            crashes += [crash for crash in crashed if crash not in crashes]
            findings += found
        return Checked(in_order(findings), tuple(named), tuple(problems), self.config_errors(), tuple(crashes))

    def _look_ahead(self, targets: tuple[Target, ...], key_of_place: Callable[[int], bytes | None]) -> Ahead | None:
        """Let other cores look for clean verdicts, where there is enough to look for."""
        if self.verdicts is None:
            return None
        from akmc.session.ahead import start

        unknown = [place for place, target in enumerate(targets) if _may_be_remembered(target)]
        if not self.verdicts.is_empty:  # else whoever checks a file reads it, and the helpers start at once
            keys = ((place, key_of_place(place)) for place in unknown)
            unknown = [place for place, key in keys if key is not None and not self.verdicts.knows(key)]

        def verdict(place: int) -> bytes | None:
            key = key_of_place(place)
            return key if key is not None and _is_clean(self.analyse(targets[place])) else None

        return start(unknown, verdict)

    def _verdict_key(self, target: Target) -> bytes | None:
        """The key of a target whose verdict may be known, or worth remembering; ``None`` for any other."""
        if self.verdicts is None or not _may_be_remembered(target) or self._links.escape(target):
            return None
        config = self.config_for(target.path.parent)
        if isinstance(config, Exception):
            return None
        try:
            source = self.store.read(target.path)
        except OSError:
            return None
        from akmc.session.verdicts import key_of

        return key_of(target.asset, source.sha256, self._config_digest(config), freeze=self.freeze)

    def _remember(self, key: bytes, analysis: Analysis) -> None:
        """Remember the verdict on a target without findings, if it is clean (nothing hidden either) and follows from
        its key."""
        if self.verdicts is not None and _is_clean(analysis):
            self.verdicts.add([key])

    def _config_digest(self, config: Config | None) -> str:
        """A hash of everything that a config says."""
        if config is None:
            return ""
        if id(config) not in self._digests:  # configs live as long as the session
            from hashlib import sha256

            import msgspec

            text = msgspec.json.encode(config, enc_hook=repr, order="deterministic")
            self._digests[id(config)] = sha256(text).hexdigest()
        return self._digests[id(config)]

    def analyse(
        self,
        target: Target,
        *,
        front_end_only: bool = False,
        stop_after: str | None = None,
        timings: list[Timing] | None = None,
    ) -> Analysis:
        """Read one target and run the passes on it, the last one being ``stop_after`` (none under ``front_end_only``).

        A task is checked whole; the workflow that it targets is frozen with it.
        """
        renew_budget()
        config = self.config_for(target.path.parent)
        faulty = isinstance(config, Exception)  # what depends on the config is not judged without it
        context = Context(
            sink=Sink(),
            store=self.store,
            bundle=target.bundle,
            config=None if isinstance(config, Exception) else config,
            freeze=self.freeze and not faulty,
            library=self.library,
        )
        if not self._is_readable(target, context.sink):
            return Analysis(target, None, context)
        asset = target.asset
        if target.family == "tasks":
            from akmc_passes.task_check import check_task

            return Analysis(target, None, check_task(asset, context, self.library))
        if target.family == "commands":
            return Analysis(target, None, self._command(asset, context))
        if not front_end_only and stop_after is None and timings is None:
            frozen = self.library.frozen(asset, context)
            return Analysis(target, frozen.program, frozen.context)
        return self._partly(target, asset, context, front_end_only, stop_after, timings)

    def _command(self, asset: Asset, context: Context) -> Context:
        """A command through its front end, which is all that there is to check of it."""
        reading = self.library.read(asset)
        context.sink.found.extend(reading.found)
        if reading.crash is not None:
            context.crashes.append(reading.crash)
        if reading.document is not None:
            context.documents[reading.document.source.name] = reading.document
        return context

    def _partly(
        self,
        target: Target,
        asset: Asset,
        context: Context,
        front_end_only: bool,
        stop_after: str | None,
        timings: list[Timing] | None,
    ) -> Analysis:
        """Like ``analyse``, with a say in how far and with a clock; nothing of it is remembered."""
        program = self.library.start(asset, context)
        if program is not None and program.document.ir is not None and not front_end_only:
            from akmc_passes.pipeline import run_pipeline

            program = run_pipeline(program, context, stop_after=stop_after, timings=timings)
        return Analysis(target, program, context)

    def resolve(self, analysis: Analysis) -> list[Finding]:
        """The findings of an analysis with places, those left out that the allow comments of their files hide."""
        documents = analysis.context.documents
        if not analysis.context.sink.found and not any(document.allows for document in documents.values()):
            return []
        resolver = Resolver(documents, self.store.by_name)
        findings = [resolver.finding(diagnostic) for diagnostic in analysis.diagnostics]
        shown = {finding.path for finding in findings} | {self.store.name(analysis.target.path)}
        for name in sorted(shown & documents.keys()):
            findings = suppress(findings, documents[name])
        return findings

    def config_for(self, folder: Path) -> Config | ConfigError | None:
        """The config for sources in ``folder``, or what is wrong with it; read once per folder."""
        key = self.store.key(folder)
        if key not in self._configs:
            config = self._load(key) if self.config_file is not None or may_have_config(key) else None
            # One object per config: the library tells configs apart by identity.
            self._configs[key] = next((known for known in self._configs.values() if known == config), config)
        return self._configs[key]

    def _load(self, folder: Path) -> Config | ConfigError | None:
        from akmc_passes.config import ConfigError, load_config

        try:
            return load_config(folder, self.config_file)
        except ConfigError as error:
            return error
        except OSError as error:
            where = Path(os.fsdecode(error.filename)) if error.filename else folder
            return ConfigError(where, "", f"cannot be read: {error.strerror or error}")

    def bundles(self) -> tuple[Path, ...]:
        """The roots of the bundles that the configs looked at so far name, sorted."""
        configs = [
            config for config in self._configs.values() if config is not None and not isinstance(config, Exception)
        ]
        return tuple(sorted({root for config in configs for root in config.bundles.values()}))

    def config_errors(self) -> tuple[str, ...]:
        """What was wrong with the configs that were looked at, each once, sorted."""
        faulty = [error for error in self._configs.values() if isinstance(error, Exception)]
        return tuple(sorted({each.text for error in faulty for each in error.every}))

    def _is_readable(self, target: Target, sink: Sink) -> bool:
        """Whether the target can be read at all, and may be; reports why not."""
        if self._links.escape(target):
            message = f'the file leads out of its bundle through a link: "{target.bundle.root.name}" does not hold it'
            place = Place(self.store.name(target.path), span=START)
            sink.report("ref-escapes-bundle", place, message, help="copy the file into the bundle")
            return False
        if not target.recognised:
            if not self._is_superseded(target, sink):
                self._report_extension(sink, target)
            return False
        try:
            self.store.read(target.path)
        except OSError as error:
            self._report_unreadable(sink, target.path, error.strerror or str(error))
            return False
        return True

    def _report_unreadable(self, sink: Sink, path: Path, reason: str) -> None:
        name = self.store.name(path)
        help = (
            "mend the link: it leads nowhere"
            if path.is_symlink() and not path.exists()
            else "check what it is and its mode"
        )
        sink.report("unreadable-source", Place(name, span=START), f"cannot be read: {reason}", help=help)

    def _is_superseded(self, target: Target, sink: Sink) -> bool:
        """Whether a ``.yaml`` file is a superseded program, the one format that had such files; reports it then."""
        try:
            source = self.store.read(target.path)
        except OSError:  # what cannot be read is reported for its extension
            return False
        if target.family != "workflows" or target.path.suffix.lower() != UNRECOGNISED_EXTENSION:
            return False
        from akmc_grammar.yaml_workflow import report_program_file

        return report_program_file(source, sink)

    def _report_extension(self, sink: Sink, target: Target) -> None:
        name, found = self.store.name(target.path), target.path.suffix
        expected = admitted_extension(target.family, found)
        assert expected is not None  # else it were no target
        twin = target.path.with_suffix(expected)
        new_name = name.removesuffix(found) + expected
        if is_taken(twin, by_other_than=target.path):
            fix, help = None, f'"{new_name}" is there already: merge the two, and delete this one'
        else:
            fix, help = Fix(f'rename it to "{new_name}"', rename=new_name), f'rename it to "{new_name}"'
        message = f'the extension "{found}" is never recognised; expected "{expected}"'
        sink.report("unrecognised-extension", Place(name, span=START), message, help=help, fix=fix)


def _may_be_remembered(target: Target) -> bool:
    """Whether verdicts on files of this kind are ever remembered."""
    return target.family == "workflows" and target.path.suffix == ".md"


def _is_clean(analysis: Analysis) -> bool:
    """Whether nothing was found, nothing hidden either, and that follows from the target's own bytes."""
    from akmc.session.verdicts import stands_alone

    clean = not analysis.diagnostics and not analysis.context.crashes
    return clean and analysis.program is not None and stands_alone(analysis.program)
