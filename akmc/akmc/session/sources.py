"""A plan against the files it was frozen from: which differ, are missing, or were never in its read set."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from akm_schemas.hashing import sha256_hex
from akm_schemas.plan import ChildTarget, CommandTarget, EnvRefBinding, Plan, ScriptTarget, SourceFile
from akmc.faults import CONFIG, CommandFault
from akmc.session.store import read_regular
from akmc.session.targets import bundle_option
from akmc_passes.bundle import Bundle, Found, find_asset, find_bundle
from akmc_passes.config import ConfigError, load_config


def compare_sources(plan: Plan, *, bundle: Path | None, config: Path | None) -> tuple[str, ...]:
    """One line per file that is not as the plan says, sorted; empty when everything is.

    Paths of the read set start at the bundle: ``bundle`` when given, else the one around the working directory.
    """
    here = Path.cwd()
    root = bundle_option(bundle) or find_bundle(here) or Bundle(here)
    try:
        settings = load_config(root.root, config)
    except ConfigError as error:
        raise CommandFault(str(error), status=CONFIG) from error
    others = {} if settings is None else {name: Bundle(path, name) for name, path in settings.bundles.items()}
    found: set[str] = set()
    read_set = plan.provenance.source_read_set
    for file in read_set:
        found.update(_compare(file, root, others))
    known = {file.ref for file in read_set}
    found.update(f"never in the read set: {ref}" for ref in _used_refs(plan) if ref not in known)
    return tuple(sorted(found))


def _home(ref: str, root: Bundle, others: dict[str, Bundle]) -> tuple[Bundle | None, str]:
    """The bundle that ``ref`` belongs to (``None``: one that no config names), and the ref without its name."""
    name, separator, local = ref.partition("//")
    return (others.get(name), local) if separator else (root, ref)


def _compare(file: SourceFile, root: Bundle, others: dict[str, Bundle]) -> Iterator[str]:
    bundle, local_ref = _home(file.ref, root, others)
    path = file.path.rpartition("//")[2]
    if bundle is None:
        yield f"missing: {file.path} (no config names its bundle)"
        return
    try:
        raw = read_regular(bundle.root / path)
    except FileNotFoundError:
        yield f"missing: {file.path}"
    except OSError as error:
        yield f"missing: {file.path} ({error.strerror or error})"
    else:
        if sha256_hex(raw) != file.sha256:
            yield f"differs: {file.path}"
    family, _, name = local_ref.partition("/")
    asset = find_asset(bundle, family, name) if family in ("workflows", "tasks", "commands", "scripts", "env") else None
    if isinstance(asset, Found) and asset.path != path:
        yield f"never in the read set: {asset.path} (it now answers to {file.ref} instead of {Path(path).name})"


def _used_refs(plan: Plan) -> Iterator[str]:
    """Every ref that the plan itself names, its descendants' included."""
    if plan.provenance.ref:
        yield plan.provenance.ref
    for step in plan.steps:
        if not step.unit:
            continue
        for binding in step.unit.env:
            if isinstance(binding, EnvRefBinding):
                yield binding.ref
        target = step.unit.target
        if isinstance(target, ScriptTarget | ChildTarget | CommandTarget) and target.ref:
            yield target.ref
        if isinstance(target, ChildTarget):
            yield from [target.task_ref] if target.task_ref else []
            yield from _used_refs(target.frozen_plan)
