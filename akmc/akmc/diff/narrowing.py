"""The first item, line or key in which two values differ, for the place of a change."""

from __future__ import annotations

from collections.abc import Sequence

from akm_schemas.json_types import Json
from akm_schemas.subset_validate import json_equal
from akmc.diff.places import Within
from akmc.diff.scope import Narrowed


def first_item(old: Sequence[object], new: Sequence[object]) -> Narrowed:
    """The first item that differs; where one list ends, its last one."""
    at = _first(old, new)
    return Narrowed(*(Within((min(at, len(items) - 1),)) if items else Within() for items in (old, new)))


def first_line(old: str, new: str) -> Narrowed:
    """The first line that differs; where one text ends, its last one."""
    before, after = old.split("\n"), new.split("\n")
    at = _first(before, after)
    ends = (min(at, len(before) - 1), min(at, len(after) - 1))
    return Narrowed(Within(line=ends[0], text=before[ends[0]]), Within(line=ends[1], text=after[ends[1]]))


def first_key(old: Json, new: Json, within: tuple[str, ...] = ()) -> Narrowed:
    """The only key, to any depth, under which two mappings differ; what one of them lacks ends the walk. The mappings
    stand at the keys ``within``."""
    keys: list[str | int] = [*within]
    while isinstance(old, dict) and isinstance(new, dict):
        names = sorted({*old, *new})
        differ = [name for name in names if name not in old or name not in new or not json_equal(old[name], new[name])]
        if len(differ) != 1:
            break
        keys.append(differ[0])
        if differ[0] not in old or differ[0] not in new:
            break
        old, new = old[differ[0]], new[differ[0]]
    found = Within(tuple(keys))
    return Narrowed(found, found)


def _first(old: Sequence[object], new: Sequence[object]) -> int:
    shared = min(len(old), len(new))
    return next((index for index in range(shared) if old[index] != new[index]), shared)
