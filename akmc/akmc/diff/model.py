"""What a comparison of two plans finds.

The Structs are the JSON that ``akmc diff --format json`` prints (camelCase names, absent fields left out).
"""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from akm_schemas.json_types import Json

ChangeClass: TypeAlias = Literal["breaking", "security", "behaviour", "provenance"]
Reuse: TypeAlias = Literal["reused", "depends", "again"]

WorkflowStatus: TypeAlias = Literal["added", "deleted", "changed", "same", "broken", "untouched", "unknown"]

CLASSES: Final[tuple[ChangeClass, ...]] = ("breaking", "security", "behaviour", "provenance")


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"):
    """Shared options of every part."""


class SourcePlace(_Part, frozen=True, kw_only=True):
    """Where a change is said in a source; line and column count from 1. ``side`` says which of the two sources."""

    side: Literal["old", "new"]
    file: str
    line: int
    column: int


class ProseLine(_Part, frozen=True, kw_only=True):
    """One line of a text comparison.

    ``op`` is ``=`` (in both), ``-`` (old), ``+`` (new) or ``~`` (equal lines left out, ``text`` says how many).
    ``marks`` are the changed words as ``[start, end)`` code points of ``text``; empty: the whole line is new or gone.
    """

    op: Literal["=", "-", "+", "~"]
    text: str
    marks: list[tuple[int, int]] = []


class Change(_Part, frozen=True, kw_only=True):
    """One difference. ``path`` walks the plan with step ids for indexes: ``steps.build.unit.target.command``.

    ``code`` are the argument vectors in ``message`` as ``[start, end)`` code points, backticks around them included.
    ``place`` is where the new source says it, in the old source for what is gone; ``old_place`` is its place in the old
    source when the new one has it too.
    """

    class_: ChangeClass = msgspec.field(name="class")
    path: str
    message: str
    code: list[tuple[int, int]] | UnsetType = UNSET
    old: Json | UnsetType = UNSET
    new: Json | UnsetType = UNSET
    prose: list[ProseLine] | UnsetType = UNSET
    place: SourcePlace | UnsetType = UNSET
    old_place: SourcePlace | UnsetType = UNSET


class StepReuse(_Part, frozen=True, kw_only=True):
    """Whether ``akm-run --reuse`` takes over finished units of a run of the old plan for this step of the new one."""

    id: str
    reuse: Reuse
    why: str


class Summary(_Part, frozen=True, kw_only=True):
    """Number of changes per class."""

    breaking: int = 0
    security: int = 0
    behaviour: int = 0
    provenance: int = 0


class PlanDiff(_Part, frozen=True, kw_only=True):
    """The whole comparison; ``equal`` is equality of ``planHash``. ``changes`` are sorted by class, then plan order."""

    equal: bool
    changes: list[Change]
    steps: list[StepReuse]
    summary: Summary

    def has(self, classes: tuple[ChangeClass, ...]) -> bool:
        """Whether any change is of one of ``classes``."""
        return any(change.class_ in classes for change in self.changes)


class WorkflowFinding(_Part, frozen=True, kw_only=True):
    """Why a workflow does not freeze: one error, as ``akmc check --format json`` says it."""

    code: str
    rule: str
    severity: str
    path: str
    line: int
    column: int
    message: str
    help: str | UnsetType = UNSET


class WorkflowDiff(_Part, frozen=True, kw_only=True):
    """One workflow of a bundle, by its path from the repository's root.

    ``broken``: it does not freeze now. ``untouched``: nor did it at the base, and none of its files changed.
    ``unknown``: it does, but did not at the base. Where it does not freeze, ``findings`` stand in place of ``diff``.
    """

    path: str
    status: WorkflowStatus
    diff: PlanDiff | UnsetType = UNSET
    findings: list[WorkflowFinding] | UnsetType = UNSET


class BundleDiff(_Part, frozen=True, kw_only=True):
    """All workflows of a bundle against a commit, sorted by path; ``summary`` adds theirs up."""

    base: str
    equal: bool
    workflows: list[WorkflowDiff]
    summary: Summary

    def has(self, classes: tuple[ChangeClass, ...]) -> bool:
        """Whether any change of any workflow is of one of ``classes``."""
        return any(row.diff is not UNSET and row.diff.has(classes) for row in self.workflows)
