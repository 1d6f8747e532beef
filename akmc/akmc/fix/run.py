"""``--fix``: mend, read again, until nothing more can be mended; then write each changed file once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from akmc.faults import CommandFault
from akmc.files import write_atomically
from akmc.fix.edits import mend
from akmc.render.finding import Finding
from akmc.session.links import Links
from akmc.session.selection import Selection
from akmc.session.session import Session
from akmc.session.store import FileStore, is_taken, read_regular
from akmc.session.targets import Problem, Target, Targets

ROUNDS = 1000  # a fix can uncover another, invalid YAML one at a time; such a file is mended further by the next call
AGAIN = 64  # so often may one rule be mended on one line: a fix that does not settle has mended nothing


@dataclass(frozen=True, slots=True)
class Fixed:
    """The targets after fixing (a renamed file has another path), and how many fixes were applied."""

    targets: Targets
    applied: int


def fix_targets(session: Session, targets: Targets, selection: Selection) -> Fixed:
    """Apply the safe fixes of every finding that ``selection`` keeps and no comment allows."""
    mended: list[Target] = []
    problems = list(targets.problems)
    applied = 0
    for target in targets.targets:
        try:
            after, count = _fix(session, target, selection)
        except CommandFault as fault:
            after, count = target, 0
            problems.append(Problem(fault.message))
        mended.append(after)
        applied += count
    return Fixed(replace(targets, targets=tuple(mended), problems=tuple(problems)), applied)


def _fix(session: Session, target: Target, selection: Selection) -> tuple[Target, int]:
    store = session.store
    applied = 0
    if Links().escape(target):  # not read, and nothing outside the bundle is written
        return target, 0
    if not target.recognised:
        target, applied = _rename(store, target, _fixable(session, target, selection))
    try:
        original = store.read(target.path)
    except OSError:  # the check that follows says so
        return target, applied
    settled = 0
    mended = Counter[tuple[str, int]]()
    for _ in range(ROUNDS):
        source = store.read(target.path)
        findings = _fixable(session, target, selection)
        result = mend(source, [finding.fix for finding in findings if finding.fix is not None])
        if result.applied == 0:
            break
        mended.update({(finding.rule.name, finding.span.line) for finding in findings})
        if max(mended.values()) > AGAIN:
            store.put(target.path, original.raw)
            return target, applied
        settled += result.applied
        store.put(target.path, result.raw)
    if settled:
        _write(store, target, original.raw)
    return target, applied + settled


def _fixable(session: Session, target: Target, selection: Selection) -> Sequence[Finding]:
    analysis = session.analyse(target)
    name = session.store.name(target.path)
    found = session.resolve(analysis)
    kept = [finding for finding in found if finding.path == name and finding.fixable and selection.keeps(finding)]
    return sorted(kept, key=lambda finding: finding.sort_key)


def _rename(store: FileStore, target: Target, findings: Sequence[Finding]) -> tuple[Target, int]:
    """Give an unrecognised file the name that its finding proposes."""
    new_name = next((finding.fix.rename for finding in findings if finding.fix and finding.fix.rename), None)
    if new_name is None:
        return target, 0
    new_path = target.path.with_name(Path(new_name).name)
    if is_taken(new_path, by_other_than=target.path):
        raise CommandFault(f'cannot rename "{store.name(target.path)}": "{new_name}" is there already')
    try:
        target.path.rename(new_path)
    except OSError as error:
        raise CommandFault(f'cannot rename "{store.name(target.path)}": {error.strerror or error}') from error
    store.announce(new_path, new_name)
    return replace(target, path=new_path, recognised=True), 1


def _write(store: FileStore, target: Target, original: bytes) -> None:
    """Write the mended text, unless somebody else wrote the file meanwhile; on failure the old text counts again."""
    raw = store.read(target.path).raw
    try:
        if read_regular(target.path) != original:
            raise CommandFault(f'"{store.name(target.path)}" changed while it was mended; run the fix again')
        write_atomically(target.path, raw)
    except OSError as error:
        store.put(target.path, original)
        raise CommandFault(f'cannot read "{store.name(target.path)}": {error.strerror or error}') from error
    except CommandFault:
        store.put(target.path, original)
        raise
