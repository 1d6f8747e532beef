"""Workflows of a branch that do not freeze: why, and whether that is the branch's doing."""

from __future__ import annotations

from pathlib import Path

from msgspec import UNSET

from akmc.diff.model import WorkflowFinding
from akmc.diff.sides import Side
from akmc.render.finding import Finding
from akmc.session.store import FileStore


def findings_of(side: Side) -> list[WorkflowFinding]:
    """The errors in the side's way, in the order in which they are shown; warnings stand in nobody's way."""
    return [_said(finding) for finding in side.result.findings if finding.rule.severity == "error"]


def untouched(old: Side, new: Side, view: Path, root: Path) -> bool:
    """Whether two sides that do not freeze are made of the same bytes and have the same faults; ``view`` and ``root``
    hold the files of the old and of the new one."""
    if old.result.crashes or new.result.crashes:
        return False
    before, after = _faults(old), _faults(new)
    files = _bytes_read(old, view)
    return before == after and files == _bytes_read(new, root) and bool(files)


def _said(finding: Finding) -> WorkflowFinding:
    return WorkflowFinding(
        code=finding.rule.code,
        rule=finding.rule.name,
        severity=finding.rule.severity,
        path=finding.path,
        line=finding.span.line,
        column=finding.span.column,
        message=finding.message,
        help=finding.help or UNSET,
    )


def _faults(side: Side) -> list[tuple[str, int, int]]:
    return sorted((found.rule, found.line, found.column) for found in findings_of(side))


def _bytes_read(side: Side, folder: Path) -> dict[str, str]:
    """The hash of every file that was read, by its path from ``folder``."""
    analysis = side.result.analysis
    if analysis is None:
        return {}
    store = analysis.context.store
    assert isinstance(store, FileStore)
    return {
        (file.relative_to(folder) if file.is_relative_to(folder) else file).as_posix(): source.sha256
        for file, source in store.read_set().items()
    }
