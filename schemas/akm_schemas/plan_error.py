"""Why a file is no plan that we run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from akm_schemas.json_paths import dotted

PlanErrorKind: TypeAlias = Literal["malformed", "version", "integrity", "bounds"]
PlanPath: TypeAlias = tuple[str | int, ...]


class PlanError(ValueError):
    """A plan that is refused. ``path`` is dotted (``steps[2].unit.target``), empty for the plan as a whole.

    ``malformed``: not JSON, or not of a plan's shape; ``version``: another irVersion; ``integrity``: a hash does not
    match; ``bounds``: the shape is right, but a limit or a cross-reference is not kept.
    """

    def __init__(self, kind: PlanErrorKind, path: str, message: str) -> None:
        super().__init__(f"{path or 'the plan'}: {message}")
        self.kind = kind
        self.path = path
        self.message = message


def plan_error(kind: PlanErrorKind, path: Sequence[str | int], message: str) -> PlanError:
    """A PlanError at a path given by its parts."""
    return PlanError(kind, dotted(path), message)
