"""The source files of a side, read while they are at hand: a revision's view is gone when places are asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

from msgspec import UNSET

from akm_schemas.plan import ChildTarget, Plan
from akmc.diff.places import Sources
from akmc.session.freezing import SOURCE_SUFFIXES, STDIN, PlanResult
from akmc.session.store import FileStore, read_regular

Named = Callable[[Path], str]


def captured(result: PlanResult, spec: str, bundle: Path | None, named: Named | None = None) -> Sources:
    """The sources of ``result``: those that were compiled, else the files that a plan names and that still hold the
    bytes it was made from, below ``bundle``, the plan's folder, the working directory, or a folder around them.

    ``named`` says how a file is shown; without it as in findings, from the working directory.
    """
    if result.plan is None:
        return Sources()
    if result.analysis is not None:
        context = result.analysis.context
        files = {key: context.store.read(file) for key, file in context.origins.items()}
        assert isinstance(context.store, FileStore)
        shown = named or context.store.name
        compiled = {
            (entry.path, entry.sha256): shown(context.origins[key])
            for key, entry in context.read_set.items()
            if key in context.origins
        }
        return Sources({source.sha256: source.raw for source in files.values()}, compiled)
    wanted = {item.sha256: item.path for plan in _plans(result.plan) for item in plan.provenance.source_read_set}
    folders = list(_folders(spec, bundle))
    found: dict[str, bytes] = {}
    names: dict[tuple[str, str], str] = {}
    for digest, path in wanted.items():
        intact = _intact(path, digest, folders) if path.endswith(SOURCE_SUFFIXES) else None
        if intact is not None:
            names[path, digest] = os.path.relpath(intact[0]).replace(os.sep, "/")
            found[digest] = intact[1]
    return Sources(found, names)


def _plans(plan: Plan) -> Iterator[Plan]:
    yield plan
    for step in plan.steps:
        if step.unit is not UNSET and isinstance(step.unit.target, ChildTarget):
            yield from _plans(step.unit.target.frozen_plan)


def _folders(spec: str, bundle: Path | None) -> Iterator[Path]:
    if bundle is not None:
        yield bundle
        return
    here = Path.cwd()
    starts = [here] if spec == STDIN else [Path(spec).absolute().parent, here]
    yield from dict.fromkeys(folder for start in starts for folder in (start, *start.parents))


def _intact(path: str, digest: str, folders: list[Path]) -> tuple[Path, bytes] | None:
    for folder in folders:
        try:
            raw = read_regular(folder / path)
        except (OSError, ValueError):  # not there, or no path that the system takes: the plan's own spans are enough
            continue
        if sha256(raw).hexdigest() == digest:
            return folder / path, raw
    return None
