"""JSON values as YAML text in every style that says the same: key order, quoting, flow or block, comments, blank lines."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any, Final

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9 ./_-]*[A-Za-z0-9]|[A-Za-z]")
_WORDS: Final = frozenset({"true", "false", "null", "y", "n", "yes", "no", "on", "off"})
COMMENTS: Final = ("# a note", "#", "#note: [x", "# ä ${x}")


def scalar(value: Any, chance: random.Random) -> str:
    """A scalar; a text is plain where that is the same text, else quoted in one of the two ways."""
    if not isinstance(value, str):
        return json.dumps(value)
    ways = [json.dumps(value, ensure_ascii=False)]
    if "\n" not in value and value.isprintable():
        ways.append("'" + value.replace("'", "''") + "'")
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        ways.append(value)
    return chance.choice(ways)


def flow(value: Any, chance: random.Random) -> str:
    """A value on one line."""
    blank = chance.choice(("", " "))
    if isinstance(value, dict):
        inside = ", ".join(f"{scalar(key, chance)}: {flow(value[key], chance)}" for key in shuffled(value, chance))
        return f"{{{blank}{inside}{blank}}}"
    if isinstance(value, list):
        return f"[{blank}{', '.join(flow(item, chance) for item in value)}{blank}]"
    return scalar(value, chance)


def shuffled(value: dict[str, Any], chance: random.Random) -> list[str]:
    """The keys of a mapping in another order."""
    return chance.sample(list(value), len(value))


def block(value: dict[str, Any], chance: random.Random, indent: int = 0) -> Iterator[str]:
    """The lines of a mapping in block style, its values in whichever."""
    margin = " " * indent
    for key in shuffled(value, chance):
        yield from _noise(chance, margin)
        yield from _member(f"{margin}{scalar(key, chance)}:", value[key], chance, indent)


def _member(head: str, inner: Any, chance: random.Random, indent: int) -> Iterator[str]:
    nested = isinstance(inner, dict | list) and bool(inner)
    if not nested or chance.random() < 0.4:
        tail = chance.choice(("", "", "   ", f"  {chance.choice(COMMENTS)}"))
        yield f"{head} {flow(inner, chance)}{tail}"
        return
    deeper = indent + chance.choice((2, 3, 4))
    yield head
    if isinstance(inner, dict):
        yield from block(inner, chance, deeper)
        return
    for item in inner:
        yield from _noise(chance, " " * deeper)
        if isinstance(item, dict) and item and chance.random() < 0.7:
            first, *rest = block(item, random.Random(chance.random()), deeper + 2)
            while not first.strip() or first.lstrip().startswith("#"):
                first, *rest = rest
            yield " " * deeper + "- " + first.lstrip()
            yield from rest
        else:
            yield " " * deeper + "- " + flow(item, chance)


def _noise(chance: random.Random, margin: str) -> Iterator[str]:
    if chance.random() < 0.15:
        yield chance.choice(("", "   ", margin + chance.choice(COMMENTS)))
