"""The two sides of ``akmc diff``: a plan file, a source, or ``REV:PATH`` of a git repository."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from akm_schemas.plan import Plan
from akmc.diff.captured import captured
from akmc.diff.places import Sources
from akmc.diff.revision_view import write_view
from akmc.diff.revisions import Revision, find_revision
from akmc.faults import CommandFault
from akmc.session.freezing import STDIN, PlanResult, intact_ahead, is_source, plan_of
from akmc_passes.config import FILE, MODELS, project_config

if TYPE_CHECKING:
    from akmc.session.ahead import Ahead


class Side(Struct, frozen=True):
    """``label`` is what the person wrote; ``result`` a plan, or the findings that stand in its way, ``sources`` what
    it was made from as far as that is at hand."""

    label: str
    result: PlanResult
    sources: Sources

    @property
    def plan(self) -> Plan | None:
        """The plan, ``None`` when the source did not freeze."""
        return self.result.plan


def read_sides(labels: Sequence[str], names: Sequence[str], *, config: Path | None, bundle: Path | None) -> list[Side]:
    """Read both sides, the second of two large plans in part on another core; ``names`` are those for people.

    Raises:
        CommandFault: as ``read_side`` does.
    """
    ahead = intact_ahead(labels[1]) if all(map(_is_plan_file, labels)) else None
    try:
        return [
            read_side(label, config=config, bundle=bundle, shown=name, ahead=ahead if index else None)
            for index, (label, name) in enumerate(zip(labels, names, strict=True))
        ]
    finally:
        if ahead is not None:
            ahead.close()


def _is_plan_file(label: str) -> bool:
    return label != STDIN and not is_source(label) and Path(label).is_file()


def read_side(
    label: str,
    *,
    config: Path | None = None,
    bundle: Path | None = None,
    shown: str | None = None,
    ahead: Ahead | None = None,
) -> Side:
    """Read one side. What exists as a file is a file, whatever colons its name has; ``shown`` is its name for people.

    ``ahead`` is a helper that looks at a plan file already.

    Raises:
        CommandFault: as ``plan_of`` does, and for a revision or path that git does not have.
    """
    if label == STDIN or ":" not in label or os.path.lexists(label):
        name = label if shown is None else shown
        try:
            result = plan_of(label, config=config, bundle=bundle, ahead=ahead)
        except CommandFault as fault:
            message = fault.message.replace(f'"{label}"', f'"{name}"')
            raise CommandFault(message, status=fault.status, help=fault.help) from fault
        return Side(name, result, captured(result, label, bundle))
    revision = find_revision(label)
    with tempfile.TemporaryDirectory(prefix="akmc-diff-") as name:
        folder = Path(name).resolve()
        write_view(revision, folder)
        return read_in_view(revision, folder, config=config, bundle=bundle)


def read_in_view(revision: Revision, folder: Path, *, config: Path | None, bundle: Path | None) -> Side:
    """Read the side that ``revision`` names, whose assets were written below ``folder``.

    Raises:
        CommandFault: as ``plan_of`` does.
    """
    label, named = revision.label, folder / revision.path
    chosen = config if config is not None else _config(revision, folder)
    try:
        result = plan_of(str(named), config=chosen, bundle=_bundle(revision, folder, bundle))
    except CommandFault as fault:
        message = fault.message.replace(f"{folder}/", _prefix(label))
        raise CommandFault(message, status=fault.status, help=fault.help) from fault
    sources = captured(result, str(named), None, lambda file: _in_working_tree(file, revision, folder))
    return Side(label, _as_named(result, label, folder), sources)


def _in_working_tree(file: Path, revision: Revision, folder: Path) -> str:
    """Where a file of the view lies in the working tree, from the working directory."""
    place = revision.root / file.relative_to(folder) if file.is_relative_to(folder) else file
    return os.path.relpath(place, Path.cwd().resolve()).replace(os.sep, "/")


def _prefix(label: str) -> str:
    return label.partition(":")[0] + ":"


def _config(revision: Revision, folder: Path) -> Path | None:
    """The revision's own config where it has one; else a copy of the working tree's, which is often not committed.

    A copy, so that relative ``bundles`` lead into the revision too.
    """
    committed = project_config((folder / revision.path).parent)
    if committed is not None and committed.is_relative_to(folder):
        return None
    working = project_config((revision.root / revision.path).parent)
    if working is None or not working.is_relative_to(revision.root):
        return working
    copy = folder / working.relative_to(revision.root)
    copy.parent.mkdir(parents=True, exist_ok=True)
    for file in (FILE, MODELS):
        if (working.parent / file).is_file():
            shutil.copyfile(working.parent / file, copy.parent / file)
    return None


def _bundle(revision: Revision, folder: Path, bundle: Path | None) -> Path | None:
    """``--bundle`` of the working tree, in the revision."""
    if bundle is None:
        return None
    absolute = bundle.resolve()
    return folder / absolute.relative_to(revision.root) if absolute.is_relative_to(revision.root) else bundle


def _as_named(result: PlanResult, label: str, folder: Path) -> PlanResult:
    """The findings under the revision's name: the directory of the view is gone when they are read."""
    places = (f"{folder}/", os.path.relpath(folder).replace(os.sep, "/") + "/")

    def shown(text: str) -> str:
        for place in places:
            text = text.replace(place, _prefix(label))
        return text

    findings = tuple(
        replace(
            finding,
            path=shown(finding.path),
            message=shown(finding.message),
            notes=tuple(
                replace(note, message=shown(note.message), path=None if note.path is None else shown(note.path))
                for note in finding.notes
            ),
        )
        for finding in result.findings
    )
    return replace(result, findings=findings)
