"""Every workflow of a bundle against the commit where a branch began: ``akmc diff --merge-base``."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from akm_schemas.plan import Plan
from akmc.diff.broken import findings_of, untouched
from akmc.diff.compare import compare_plans
from akmc.diff.engines import reachable
from akmc.diff.model import BundleDiff, PlanDiff, Summary, WorkflowDiff
from akmc.diff.moves import moved
from akmc.diff.revision_view import write_view
from akmc.diff.revisions import Revision, merge_base
from akmc.diff.sides import Side, read_in_view, read_side
from akmc.diff.whole import Twin, added_workflow, deleted_workflow, moved_workflow
from akmc.faults import OK, CommandFault
from akmc.session.store import FileStore
from akmc.session.targets import Collector, Problem, bundle_option

Shown = Callable[[Sequence[Side]], None]


class _Pair(Struct, frozen=True):
    """One workflow on both sides, ``None`` where it has no file; ``chosen``: asked for, not only looked at for a move."""

    path: str
    old: Side | None
    new: Side | None
    chosen: bool
    untouched: bool


def compare_bundle(
    rev: str, paths: Sequence[str], *, bundle: Path | None, config: Path | None, broken: Shown
) -> tuple[BundleDiff, int]:
    """The workflows below ``paths`` (of the bundle, or of those below the working directory, without any) in the working
    tree, against the merge base of HEAD and ``rev``; and the worst exit status of those that do not freeze now, unless
    nothing of them changed.

    ``broken`` is called with all sides that do not freeze, but for workflows of which nothing changed.

    Raises:
        CommandFault: no repository, no such revision, no bundle, a path that no workflow lies at, a faulty config.
    """
    root, base = merge_base(rev)
    with tempfile.TemporaryDirectory(prefix="akmc-diff-") as name:
        view = Path(name).resolve()
        write_view(Revision(root, base, "", rev), view)
        everything = list(_pairs(Revision(root, base, "", rev), view, paths, bundle, config))
    pairs = [pair for pair in everything if pair.chosen]
    faulty = [
        side
        for pair in pairs
        for side in (pair.old, pair.new)
        if side is not None and _plan(side) is None and not pair.untouched
    ]
    broken(faulty)
    status = max((pair.new.result.status for pair in pairs if pair.new is not None and not pair.untouched), default=OK)
    return _compared(rev, pairs, everything), status


def _pairs(
    base: Revision, view: Path, paths: Sequence[str], bundle: Path | None, config: Path | None
) -> Iterator[_Pair]:
    """Both sides of every workflow; ``view`` holds those of ``base``."""
    root, here = base.root, Path.cwd().resolve()
    olds, news = _both(root, view, _starts(paths, here, root), bundle)
    rewritten = _rewritten(olds, news)
    known = {*olds, *news} - set(rewritten.values())
    chosen = set(_chosen(known, paths, here, root))
    one_sided = {path for path in known if path not in rewritten and (path in olds) != (path in news)}
    for path in sorted(chosen | one_sided if chosen & one_sided else chosen):
        was = rewritten.get(path, path if path in olds else None)
        old = new = None
        if was is not None:
            revision = Revision(root, base.tree, was, f"{base.label}:{was}")
            old = read_in_view(revision, view, config=config, bundle=bundle)
        if path in news:
            new = read_side(os.path.relpath(root / path), config=config, bundle=bundle)
        same = False
        if old is not None and new is not None and _plan(old) is None and _plan(new) is None:
            same = untouched(old, new, view, root)
        yield _Pair(path, old, new, path in chosen, same)


def _starts(paths: Sequence[str], here: Path, root: Path) -> list[Path]:
    """The folders whose bundles are looked at: this one, and those of paths that may lie in other bundles."""
    named = (Path(os.path.normpath(here / path)) for path in paths)
    return [here, *dict.fromkeys(path for path in named if path.is_relative_to(root) and path != here)]


def _both(root: Path, view: Path, starts: Sequence[Path], bundle: Path | None) -> tuple[set[str], set[str]]:
    """The paths of the workflows on the old and on the new side; the first of ``starts`` is the working directory."""
    inside = None if bundle is None else bundle.resolve()
    if inside is not None and not inside.is_relative_to(root):
        raise CommandFault(f'--bundle: "{bundle}" lies outside the repository', help="name a bundle of the repository")
    (view / starts[0].relative_to(root)).mkdir(parents=True, exist_ok=True)
    olds, news, problems = set[str](), set[str](), list[Problem]()
    for start in starts:
        before = _workflows(view / start.relative_to(root), view, _moved_bundle(inside, root, view))
        after = _workflows(start, root, inside)
        olds |= before[0]
        news |= after[0]
        problems += after[1] if before[1] else ()
    if problems and not olds | news:
        raise CommandFault(problems[0].message)
    # one side may have a bundle where the other has none, or several further down
    olds |= {path for path in news if (view / path).is_file()}
    olds -= {path for path in olds - news if (root / path).is_file()}
    return olds, news


def _moved_bundle(bundle: Path | None, root: Path, view: Path) -> Path | None:
    return None if bundle is None else view / os.path.relpath(bundle, root)


def _workflows(start: Path, root: Path, bundle: Path | None) -> tuple[set[str], tuple[Problem, ...]]:
    """The workflows of the bundle around ``start``, else of the bundles below it, by their paths from ``root``, and what
    is wrong with asking for them."""
    if bundle is not None and not bundle.is_dir():
        return set(), (Problem(f'--bundle: there is no folder "{bundle.name}", now or at the base'),)
    there = next(folder for folder in (start, *start.parents) if folder.is_dir())
    found = Collector(FileStore(there), bundle_option(bundle)).collect([])
    files = [target.path for target in found.targets if target.family == "workflows" and target.recognised]
    return {file.relative_to(root).as_posix() for file in files if file.is_relative_to(root)}, found.problems


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


def _compared(rev: str, pairs: Sequence[_Pair], everything: Sequence[_Pair]) -> BundleDiff:
    """``everything`` holds the workflows too that a moved one among ``pairs`` may be."""
    known = reachable(plan for pair in pairs if (plan := _plan(pair.old)) is not None)
    gone = {
        pair.path: Twin(pair.path, pair.old, plan)
        for pair in everything
        if pair.new is None and pair.old and (plan := _plan(pair.old))
    }
    came = {
        pair.path: Twin(pair.path, pair.new, plan)
        for pair in everything
        if pair.old is None and pair.new and (plan := _plan(pair.new))
    }
    found = moved(*({path: twin.plan for path, twin in twins.items()} for twins in (gone, came)))
    twins = {new: gone[old] for new, old in found.items()} | {old: came[new] for new, old in found.items()}
    rows = [_row(pair, known, twins.get(pair.path)) for pair in pairs]
    equal = all(row.status in ("same", "untouched") for row in rows)
    return BundleDiff(base=rev, equal=equal, workflows=rows, summary=_sum(rows))


def _row(pair: _Pair, known: frozenset[str], twin: Twin | None) -> WorkflowDiff:
    old, new = _plan(pair.old), _plan(pair.new)
    if pair.new is None:
        return WorkflowDiff(path=pair.path, status="deleted", diff=deleted_workflow(old, twin))
    if new is None:
        findings = findings_of(pair.new)
        return WorkflowDiff(path=pair.path, status="untouched" if pair.untouched else "broken", findings=findings)
    if old is not None and pair.old is not None:
        diff = compare_plans(old, new, (pair.old.sources, pair.new.sources))
        return WorkflowDiff(path=pair.path, status="same" if diff.equal else "changed", diff=diff)
    if twin is not None:
        return WorkflowDiff(path=pair.path, status="added", diff=moved_workflow(twin, new, pair.new.sources))
    came = pair.old is None
    diff = added_workflow(new, pair.new.sources, known, came=came)
    return WorkflowDiff(path=pair.path, status="added" if came else "unknown", diff=diff)


def _sum(rows: list[WorkflowDiff]) -> Summary:
    summaries = [row.diff.summary for row in rows if isinstance(row.diff, PlanDiff)]
    return Summary(
        breaking=sum(each.breaking for each in summaries),
        security=sum(each.security for each in summaries),
        behaviour=sum(each.behaviour for each in summaries),
        provenance=sum(each.provenance for each in summaries),
    )
