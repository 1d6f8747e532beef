"""Legal, unique step ids and param names for old ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count

from akm_schemas.bounds import PARAM_NAME
from akm_schemas.keys import NAME, STEP_ID


def new_step_ids(wanted: Sequence[str], titles: Sequence[str] = ()) -> list[str]:
    """One id per step, in order. A legal id stays with the first step that has it; no new id takes one that is wanted.

    A step that wants none (``""``) gets an id made of its entry in ``titles``.

    Blanks, dots and other foreign characters become dashes, a leading digit gets ``step-`` before it, a clash a number
    behind it.
    """
    named = [word or titles[index] for index, word in enumerate(wanted)]
    return _assigned(wanted, [_legal(word, STEP_ID, "-", "step-") for word in named], "-")


def new_param_names(wanted: Sequence[str]) -> list[str]:
    """One name per param, in order, by the same rules with underscores; names beyond the bound are cut."""
    room = PARAM_NAME.high - 8  # for the number of a clash
    legal = [_legal(word, NAME, "_", "p_") for word in wanted]
    return _assigned(wanted, [name if len(name) <= PARAM_NAME.high else name[:room] for name in legal], "_")


def _legal(word: str, pattern: str, filler: str, prefix: str) -> str:
    if re.fullmatch(pattern, word):
        return word
    foreign = r"[^A-Za-z0-9_-]+" if filler == "-" else r"[^A-Za-z0-9_]+"
    name = re.sub(foreign, filler, word).strip(filler)
    return name if re.fullmatch(pattern, name) else f"{prefix}{name}".rstrip(filler)


def _assigned(wanted: Sequence[str], legal: Sequence[str], joint: str) -> list[str]:
    reserved = {name for word, name in zip(wanted, legal, strict=True) if word == name}
    taken: set[str] = set()
    result: list[str] = []
    for word, name in zip(wanted, legal, strict=True):
        candidates = (f"{name}{joint}{number}" for number in count(2))
        if name in taken or (word != name and name in reserved):
            new = next(candidate for candidate in candidates if candidate not in taken | reserved)
        else:
            new = name
        taken.add(new)
        result.append(new)
    return result
