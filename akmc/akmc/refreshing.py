"""``akmc compile --refresh``: plans kept in git, compiled again from the sources that they name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from akm_schemas.bounds import CHILD_BYTES, PLAN_BYTES
from akm_schemas.plan import Plan
from akm_schemas.plan_error import PlanError
from akm_schemas.regular_files import read_regular
from akmc.console import err
from akmc.faults import FOUND, OK, CommandFault
from akmc.reading_git import read_git
from akmc.render.escape import visible

_MARKS: Final = (b'"irVersion"', b'"planHash"', b'"contentHash"')  # also in a plan with conflict markers
_LARGEST: Final = 4 * (PLAN_BYTES.high + CHILD_BYTES.high)


@dataclass(frozen=True, slots=True)
class Kept:
    """A plan kept in a repository, and whether its file was indented."""

    path: Path
    plan: Plan
    pretty: bool


def run_refresh(plans: Sequence[str], *, bundle: Path | None, config: Path | None) -> int:
    """Compile again every plan of ``plans``, or every plan that git tracks below the working directory.

    Writes those that the sources no longer give; says which. The exit status is the worst of all plans.
    """
    worst = OK
    for path in [Path(text) for text in plans] or list(tracked_json()):
        try:
            kept = _kept(path, named=bool(plans))
            status = OK if kept is None else _refresh(kept, bundle, config)
        except CommandFault as fault:
            err(f"akmc: {visible(str(path))}: {visible(fault.message)}")
            if fault.help:
                err(f"  help: {visible(fault.help)}")
            status = fault.status
        worst = max(worst, status)
    return worst


def tracked_json() -> Iterator[Path]:
    """JSON files that git tracks below the working directory, unmerged ones included, sorted."""
    names = _listed("*.json")
    if names is None:
        raise CommandFault("--refresh without PLAN needs a git repository", help="name the plans")
    yield from names


def _kept(path: Path, *, named: bool) -> Kept | None:
    """The plan at ``path``; ``None`` for a file that is none (or gone), unless it was asked for by name."""
    from akm_schemas.decode import decode_plan

    try:
        data = read_regular(path) if named or path.stat().st_size <= _LARGEST else b""
    except OSError as error:
        if named or not isinstance(error, FileNotFoundError):
            raise CommandFault(f"cannot be read: {error.strerror or error}", help="check its place and mode") from error
        return None
    if not named and not all(mark in data for mark in _MARKS):
        return None
    try:
        return Kept(path, decode_plan(data), data.count(b"\n") > 1)
    except PlanError as error:
        help = f"compile its source: akmc compile SOURCE -o {path}"
        raise CommandFault(f"it cannot be read as a plan ({error})", status=FOUND, help=help) from error


def _refresh(kept: Kept, bundle: Path | None, config: Path | None) -> int:
    from akmc.compiling import CompileOptions, publish
    from akmc.planning import needed_plan
    from akmc.session.freezing import compile_source

    source = _source(kept, bundle)
    result = compile_source(str(source), config=config, bundle=bundle)
    if result.plan is not None and result.plan.plan_hash == kept.plan.plan_hash:
        return OK
    status, plan = needed_plan(result)
    if plan is not None:
        return publish(CompileOptions(source=str(source), output=str(kept.path), pretty=kept.pretty), result)
    return status


def _source(kept: Kept, bundle: Path | None) -> Path:
    """The source that a plan was made from: below ``bundle``, else below the nearest folder around the plan that has
    it, else the only one in the repository."""
    provenance = kept.plan.provenance
    own = next((file.path for file in provenance.source_read_set if file.ref == provenance.ref), None)
    if own is None:
        raise CommandFault("it does not name its source", help=f"akmc compile SOURCE -o {kept.path}")
    folders = [bundle] if bundle is not None else [*kept.path.absolute().parents]
    for folder in folders:
        if (folder / own).is_file():
            return Path(os.path.relpath(folder / own))
    found = [] if bundle is not None else _tracked(own)
    if len(found) == 1:
        return found[0]
    many = f"{len(found)} files are called so: {', '.join(map(str, found))}" if found else "there is no such file"
    help = f"akmc compile SOURCE -o {kept.path}, or delete the plan"
    raise CommandFault(f'its source "{own}" was not found: {many}', status=FOUND, help=help)


def _tracked(path: str) -> list[Path]:
    """Files of the repository, from its root, whose path ends with ``path``."""
    return [path for path in _listed(f":(top,glob)**/{path}") or () if path.is_file()]


def _listed(pattern: str) -> list[Path] | None:
    """What git tracks and ``pattern`` matches, each once and sorted; ``None`` without git or outside a repository."""
    try:
        done = read_git(["ls-files", "-z", "--cached", "--", pattern])
    except OSError:
        return None
    names = sorted(set(filter(None, done.stdout.split(b"\0"))))
    return [Path(os.fsdecode(name)) for name in names] if done.returncode == 0 else None
