"""Why a plan on disk is not what the sources give now: what changed, and which input changed it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from akm_schemas.counting import counted
from akm_schemas.json_types import Json
from akm_schemas.plan import ChildTarget, CommandTarget, Plan, SourceFile
from akm_schemas.plan_error import PlanError
from akmc.session.freezing import plan_bytes

_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Stale:
    """``reason`` in one line, and the inputs that differ, one a line; there are none where the file is no plan."""

    reason: str
    causes: tuple[str, ...] = ()


def staleness(path: str, plan: Plan) -> Stale | None:
    """Why the plan file at ``path`` is not ``plan``; ``None`` when it is (an indented twin is the same plan)."""
    from akm_schemas.decode import decode_plan

    if not Path(path).exists():
        return Stale("there is no such file")
    try:
        found = decode_plan(plan_bytes(path))
    except PlanError as error:
        word = "it is of another format" if error.kind == "version" else "it cannot be read as a plan"
        return Stale(f"{word} ({error})")
    if found.plan_hash == plan.plan_hash:
        return None
    same = found.content_hash == plan.content_hash
    reason = "only its provenance has changed (planHash)" if same else "what it does has changed (contentHash)"
    return Stale(reason, tuple(_causes(found, plan)))


def _causes(old: Plan, new: Plan) -> Iterator[str]:
    """The inputs that differ; what no file accounts for came from the config."""
    before, after = old.provenance, new.provenance
    if before.toolchain.lowering != after.toolchain.lowering:
        yield f"lowering: it was lowered by version {before.toolchain.lowering}, this is {after.toolchain.lowering}"
    if before.toolchain.name != after.toolchain.name:
        yield f"compiler: it was written by {before.toolchain.name}, this is {after.toolchain.name}"
    if before.ref != after.ref:
        yield f"source: it was made from {before.ref or 'a file outside every bundle'}"
    files = [*_files(before.source_read_set, after.source_read_set)]
    yield from files[:_SHOWN]
    if len(files) > _SHOWN:
        yield f"and {counted(len(files) - _SHOWN, 'more file')}"
    settings = [*_settings(old, new)]
    yield from settings
    if not files and not settings and before.ref == after.ref and before.toolchain == after.toolchain:
        place = _first_difference(msgspec.to_builtins(old), msgspec.to_builtins(new), "")
        yield f"config: it gives another {place}"


def _files(old: list[SourceFile], new: list[SourceFile]) -> Iterator[str]:
    before = {(file.ref, file.path): file.sha256 for file in old}
    after = {(file.ref, file.path): file.sha256 for file in new}
    for key in sorted(before.keys() | after.keys()):
        if before.get(key) == after.get(key):
            continue
        word = "added" if key not in before else "gone" if key not in after else "changed"
        yield f"{word}: {key[1]}"


def _settings(old: Plan, new: Plan) -> Iterator[str]:
    """What only the config can say: the width of a run, the judge, what an engine of the same name is."""
    if old.execution != new.execution:
        widths = old.execution.max_concurrency, new.execution.max_concurrency
        yield f"config: workflow.maxConcurrency was {_said(widths[0])}, is {_said(widths[1])}"
    before, after = _engines(old), _engines(new)
    for name in sorted(before.keys() & after.keys()):
        if before[name] != after[name]:
            yield f'config: the engine "{name}" has another {_first_difference(before[name], after[name], "")}'
    judges = _judges(old), _judges(new)
    if judges[0] and judges[1] and judges[0] != judges[1]:
        yield f"config: workflow.judgeEngine was {_quoted(judges[0])}, is {_quoted(judges[1])}"


def _said(width: int | None) -> str:
    return "not set" if width is None else str(width)


def _quoted(names: set[str]) -> str:
    return ", ".join(f'"{name}"' for name in sorted(names))


def _engines(plan: Plan) -> Mapping[str, Json]:
    return {
        target.engine.name: {
            **msgspec.to_builtins(target.engine),
            "concurrency": msgspec.to_builtins(target.concurrency),
        }
        if isinstance(target.concurrency, int)
        else msgspec.to_builtins(target.engine)
        for target in _commands(plan)
    }


def _judges(plan: Plan) -> set[str]:
    own = {step.gate.judge.engine.name for step in plan.steps if step.gate}
    return own.union(*(_judges(child) for child in _children(plan)))


def _commands(plan: Plan) -> Iterator[CommandTarget]:
    """Every command target, judges and those of children included."""
    for step in plan.steps:
        if step.unit and isinstance(step.unit.target, CommandTarget):
            yield step.unit.target
        if step.gate:
            yield step.gate.judge
    for child in _children(plan):
        yield from _commands(child)


def _children(plan: Plan) -> Iterator[Plan]:
    for step in plan.steps:
        if step.unit and isinstance(step.unit.target, ChildTarget):
            yield step.unit.target.frozen_plan


def _first_difference(old: Json, new: Json, path: str) -> str:
    """The dotted path of the first member that differs, hashes and provenance aside."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name in sorted(old.keys() | new.keys()):
            if name in ("contentHash", "planHash", "provenance") or old.get(name) == new.get(name):
                continue
            return _first_difference(old.get(name), new.get(name), f"{path}.{name}" if path else name)
    if isinstance(old, list) and isinstance(new, list):
        for index, (left, right) in enumerate(zip(old, new, strict=False)):
            if left != right:
                return _first_difference(left, right, f"{path}[{index}]")
    return path or "provenance"
