"""Every workflow of a bundle against the commit where a branch began: ``akmc diff --merge-base``."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from akm_schemas.plan import Plan
from akmc.diff.compare import compare_plans
from akmc.diff.engines import reachable
from akmc.diff.model import BundleDiff, PlanDiff, Summary, WorkflowDiff, WorkflowStatus
from akmc.diff.revisions import Revision, merge_base, write_view
from akmc.diff.sides import Side, read_in_view, read_side
from akmc.diff.whole import added_workflow, deleted_workflow
from akmc.faults import OK, CommandFault
from akmc.session.store import FileStore
from akmc.session.targets import Collector, bundle_option

Shown = Callable[[Side], None]


@dataclass(frozen=True, slots=True)
class _Pair:
    """One workflow on both sides, ``None`` where it has no file."""

    path: str
    old: Side | None
    new: Side | None


def compare_bundle(
    rev: str, paths: Sequence[str], *, bundle: Path | None, config: Path | None, broken: Shown
) -> tuple[BundleDiff, int]:
    """The workflows below ``paths`` (of the bundle, or of those below the working directory, without any) in the working
    tree, against the merge base of HEAD and ``rev``; and the worst exit status of those that do not freeze now.

    ``broken`` is called with every side that does not freeze.

    Raises:
        CommandFault: no repository, no such revision, a path that no workflow lies at, a faulty config.
    """
    root, base = merge_base(rev)
    with tempfile.TemporaryDirectory(prefix="akmc-diff-") as name:
        view = Path(name).resolve()
        write_view(Revision(root, base, "", rev), view)
        pairs = list(_pairs(Revision(root, base, "", rev), view, paths, bundle, config))
    for pair in pairs:
        for side in (pair.old, pair.new):
            if side is not None and _plan(side) is None:
                broken(side)
    status = max((pair.new.result.status for pair in pairs if pair.new is not None), default=OK)
    return _compared(rev, pairs), status


def _pairs(
    base: Revision, view: Path, paths: Sequence[str], bundle: Path | None, config: Path | None
) -> Iterator[_Pair]:
    """Both sides of every workflow; ``view`` holds those of ``base``."""
    root, here = base.root, Path.cwd().resolve()
    there = view / here.relative_to(root)
    there.mkdir(parents=True, exist_ok=True)
    inside = None if bundle is None else bundle.resolve()
    olds = _workflows(there, view, None if inside is None else view / os.path.relpath(inside, root))
    news = _workflows(here, root, inside)
    # one side may have a bundle where the other has none, or several further down
    olds |= {path for path in news if (view / path).is_file()}
    olds -= {path for path in olds - news if (root / path).is_file()}
    rewritten = _rewritten(olds, news)
    for path in _chosen({*olds, *news} - set(rewritten.values()), paths, here, root):
        was = rewritten.get(path, path if path in olds else None)
        old = new = None
        if was is not None:
            revision = Revision(root, base.tree, was, f"{base.label}:{was}")
            old = read_in_view(revision, view, config=config, bundle=bundle)
        if path in news:
            new = read_side(os.path.relpath(root / path), config=config, bundle=bundle)
        yield _Pair(path, old, new)


def _workflows(here: Path, root: Path, bundle: Path | None) -> set[str]:
    """The workflows of the bundle around ``here``, else of the bundles below it, by their paths from ``root``."""
    if bundle is not None and not bundle.is_dir():
        return set()
    targets = Collector(FileStore(here), bundle_option(bundle)).collect([]).targets
    files = [target.path for target in targets if target.family == "workflows" and target.recognised]
    return {file.relative_to(root).as_posix() for file in files if file.is_relative_to(root)}


def _rewritten(olds: set[str], news: set[str]) -> dict[str, str]:
    """New path to old path of workflows that changed their language and kept their ref: ``a.yml`` became ``a.md``."""
    gone = {path.rpartition(".")[0]: path for path in olds - news}
    came = {path: path.rpartition(".")[0] for path in sorted(news - olds)}
    return {path: gone[stem] for path, stem in came.items() if stem in gone}


def _chosen(found: Iterable[str], paths: Sequence[str], here: Path, root: Path) -> list[str]:
    known = sorted(set(found))
    if not paths:
        return known
    chosen: set[str] = set()
    for path in paths:
        wanted = Path(os.path.normpath(here / path))
        below = [name for name in known if wanted in (root / name, *(root / name).parents)]
        if not below:
            help = "name workflows or folders of them, without any for all of the bundle"
            raise CommandFault(f'no workflow lies at "{path}", now or at the base', help=help)
        chosen.update(below)
    return sorted(chosen)


def _plan(side: Side | None) -> Plan | None:
    return side.plan if side is not None and side.result.status == OK else None


def _compared(rev: str, pairs: list[_Pair]) -> BundleDiff:
    known = reachable(plan for pair in pairs if (plan := _plan(pair.old)) is not None)
    gone = {plan.content_hash: pair.path for pair in pairs if pair.new is None and (plan := _plan(pair.old))}
    came = {plan.content_hash: pair.path for pair in pairs if pair.old is None and (plan := _plan(pair.new))}
    rows = [
        WorkflowDiff(path=pair.path, status=status, **({} if diff is None else {"diff": diff}))
        for pair in pairs
        for status, diff in _rows(pair, known, gone, came)
    ]
    return BundleDiff(base=rev, equal=all(row.status == "same" for row in rows), workflows=rows, summary=_sum(rows))


def _rows(
    pair: _Pair, known: frozenset[str], gone: dict[str, str], came: dict[str, str]
) -> Iterator[tuple[WorkflowStatus, PlanDiff | None]]:
    old, new = _plan(pair.old), _plan(pair.new)
    if pair.new is None:
        yield "deleted", deleted_workflow(None if old is None else came.get(old.content_hash))
    elif new is None:
        yield "broken", None
    elif old is None:
        status: WorkflowStatus = "added" if pair.old is None else "unknown"
        yield status, added_workflow(new, pair.new.sources, known, gone.get(new.content_hash), status)
    else:
        assert pair.old is not None
        diff = compare_plans(old, new, (pair.old.sources, pair.new.sources))
        yield ("same" if diff.equal else "changed"), diff


def _sum(rows: list[WorkflowDiff]) -> Summary:
    summaries = [row.diff.summary for row in rows if isinstance(row.diff, PlanDiff)]
    return Summary(
        breaking=sum(each.breaking for each in summaries),
        security=sum(each.security for each in summaries),
        behaviour=sum(each.behaviour for each in summaries),
        provenance=sum(each.provenance for each in summaries),
    )
