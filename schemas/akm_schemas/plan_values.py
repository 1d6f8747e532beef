"""Small checks of a plan's values that several parts share; each raises PlanError (``bounds``) with the place."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from akm_schemas.bounds import Bound
from akm_schemas.contained_paths import path_fault
from akm_schemas.json_paths import quoted
from akm_schemas.json_types import JsonObject
from akm_schemas.plan_error import PlanPath, plan_error
from akm_schemas.subset_check import check_schema

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


def require(holds: bool, path: PlanPath, message: str) -> None:
    """Raise unless ``holds``."""
    if not holds:
        raise plan_error("bounds", path, message)


def within(bound: Bound, value: int | UnsetType | None, path: PlanPath) -> None:
    """A number that is there has to lie in ``bound``."""
    if isinstance(value, int) and not bound.holds(value):
        raise plan_error("bounds", path, f"{value} is out of range, expected {bound.says()}")


def sized(bound: Bound, size: int, path: PlanPath) -> None:
    """So many bytes, items or characters have to lie in ``bound``."""
    if not bound.holds(size):
        raise plan_error("bounds", path, f"found {size}, expected {bound.says()}")


def not_empty(value: object, path: PlanPath) -> None:
    """An optional member that is there has to say something; where it would be empty it is left out."""
    if value is not UNSET and not value:
        raise plan_error("malformed", path, "an empty value here is written by leaving it out")


def schema_holds(schema: JsonObject | UnsetType, path: PlanPath) -> None:
    """A schema that is there has to be one of the enforced subset."""
    if isinstance(schema, UnsetType):
        return
    digest = sha256(msgspec.json.encode(schema)).digest()
    if digest in _HELD:
        return
    faults = check_schema(schema)
    if faults:
        first = faults[0]
        raise plan_error("bounds", (*path, *first.pointer), first.message)
    if len(_HELD) >= _HELD_ROOM:
        _HELD.clear()
    _HELD.add(digest)


# Schemas that hold, by their JSON as it was read: steps share them, and a plan writes its names in one order.
_HELD: Final[set[bytes]] = set()
_HELD_ROOM: Final = 4096


def digest(text: str, path: PlanPath) -> None:
    """A SHA-256 in lower-case hexadecimal."""
    require(_DIGEST.fullmatch(text) is not None, path, "expected a SHA-256 of 64 lower-case hexadecimal digits")


def relative_path(text: str, path: PlanPath, *, found: bool = False) -> None:
    """A relative path that stays below where it starts, with forward slashes.

    ``found``: it is the path of a file, so that ``~`` is a character like any other and no segment is empty.
    """
    fault = path_fault(text, found=found)
    require(fault is None, path, f"{quoted(text)} {fault}: expected a relative path with forward slashes and no ..")
