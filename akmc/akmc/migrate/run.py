"""What ``akmc migrate`` does: read each file, turn it over, check the result, write it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from akmc.console import err, out, read_stdin
from akmc.faults import FOUND, OK, USAGE, CommandFault
from akmc.files import create_exclusively, made, write_atomically
from akmc.migrate.classic import ClassicReader
from akmc.migrate.comments import keep_comments
from akmc.migrate.engine_map import EngineMap, read_engine_map
from akmc.migrate.model import Notes, Remark
from akmc.migrate.program import ProgramReader
from akmc.migrate.program_schema import check_program
from akmc.migrate.recognise import Program, recognise
from akmc.migrate.repair import repaired
from akmc.migrate.surroundings import Surroundings
from akmc.render.concise import finding_line
from akmc.render.escape import visible
from akmc.render.finding import Finding
from akmc.session.resolving import Resolver, in_order
from akmc.session.store import read_regular
from akmc_grammar.diagnostics import Sink
from akmc_grammar.source import SourceText

STDIN = "-"
STDIN_NAME = "stdin"


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrateOptions:
    """The options of ``akmc migrate`` as written; without ``output`` the one file goes to standard output."""

    files: tuple[str, ...]
    output: Path | None = None
    engines: Path | None = None
    force: bool = False


@dataclass(frozen=True)
class Migrated:
    """The outcome for one file: the new text, ``None`` when there is none; remarks on the old file; errors.

    ``errors`` are of the old file when it could not be read, of the new document (``fault`` says so) when that does
    not check clean.
    """

    text: str | None
    remarks: tuple[Remark, ...] = ()
    errors: tuple[Finding, ...] = ()
    fault: str = "mend the old file first"


def migrate_source(source: SourceText, around: Surroundings) -> Migrated:
    """Turn one superseded file over.

    Raises:
        NotSuperseded: when the file is of neither superseded format.
    """
    sink, notes = Sink(), Notes()
    old = recognise(source, sink)
    if isinstance(old, Program):
        check_program(old.root, source.name, sink)
    if old is None or sink.has_errors:
        resolver = Resolver({}, {source.name: source})
        return Migrated(None, errors=in_order(resolver.finding(item) for item in sink.found))
    keep_comments(old.comments, notes)
    stem = stem_of(source.name)
    if isinstance(old, Program):
        draft = ProgramReader(old.root, source.lines, stem, around, notes).draft()
    else:
        draft = ClassicReader(old, stem, notes).draft()
    text, checked = repaired(draft, f"{stem}.md", notes)
    remarks = tuple(sorted(set(notes.remarks)))
    fault = f'the new "{stem}.md" would not check clean'
    return Migrated(None if checked.errors else text, remarks, checked.findings(), fault)


def stem_of(name: str) -> str:
    """A file's name without folder and extension."""
    return Path(name).stem


def run_migrate(options: MigrateOptions) -> int:
    """Migrate every file and return the exit status: 2 for a path that makes no sense, 1 when a file failed."""
    if options.output is None and len(options.files) > 1:
        raise CommandFault("standard output takes one file", help="name a folder for the new files with -o DIR")
    if options.output is not None and options.output.exists() and not options.output.is_dir():
        raise CommandFault(f'-o: "{options.output}" is no folder', help="name the folder for the new files")
    engines = read_engine_map(options.engines)
    written: dict[Path, str] = {}
    statuses = [_one(name, options, engines, written) for name in options.files]
    return max(statuses, default=OK)


def _one(name: str, options: MigrateOptions, engines: EngineMap, written: dict[Path, str]) -> int:
    """Migrate one file, saying what there is to say; its exit status."""
    try:
        source = _read(name)
    except OSError as error:
        err(f'akmc: cannot read "{visible(name)}": {error.strerror or error}')
        return USAGE
    except CommandFault as fault:
        err(f"akmc: {visible(fault.message)}")
        return fault.status
    try:
        folder = options.output or Path(name).parent
        migrated = migrate_source(source, Surroundings(engines, folder))
        for remark in migrated.remarks:
            place = f"{visible(source.name)}:{remark.span.line}:{remark.span.column}"
            err(f"{place}: warning: {visible(remark.message)}")
        for finding in migrated.errors:
            err(finding_line(finding))
        if migrated.text is None:
            raise CommandFault(f'"{source.name}" is not migrated: {migrated.fault}', help="nothing was written for it")
        _write(migrated.text, stem_of(source.name), name, options, written)
    except CommandFault as fault:
        err(f"akmc: {visible(fault.message)}")
        if fault.help:
            err(f"  help: {visible(fault.help)}")
        return FOUND
    return OK


def _read(name: str) -> SourceText:
    if name == STDIN:
        return SourceText.of(STDIN_NAME, read_stdin())
    return SourceText.of(name, read_regular(Path(name)))


def _write(text: str, stem: str, name: str, options: MigrateOptions, written: dict[Path, str]) -> None:
    data = text.encode("utf-8", "surrogatepass")
    if options.output is None:
        out(text)
        return
    path = options.output / f"{stem}.md"
    if path in written:
        message = f'"{path}" was just written from "{written[path]}", and "{name}" would go there too'
        raise CommandFault(message, help="rename one of the two, or give them folders of their own")
    if not options.force and os.path.lexists(path):
        raise CommandFault(f'"{path}" is there already', help="choose another folder, or overwrite with --force")
    try:
        if not options.force:
            create_exclusively(path, data)
        else:
            with made(path.parent):
                write_atomically(path, data)
    except OSError as error:
        raise CommandFault(f'cannot write "{path}": {error.strerror or error}') from error
    written[path] = name
    out(f"{path}\n")
