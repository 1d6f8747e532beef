"""Why a file is no plan that we run."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

from akm_schemas.json_paths import dotted

PlanErrorKind: TypeAlias = Literal["malformed", "version", "integrity", "bounds"]
PlanPath: TypeAlias = tuple[str | int, ...]

_NO_PLAN: Final = "is it a plan that akmc compile wrote?"
ADVICE: Final = MappingProxyType[PlanErrorKind, str](
    {
        "malformed": _NO_PLAN,
        "version": "compile the source again with this version, or upgrade akmc",
        "integrity": "the plan was changed after it was frozen; compile its source again",
        "bounds": _NO_PLAN,
    }
)
"""What a person can do about a plan file that is refused."""


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
