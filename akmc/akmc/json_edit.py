"""Change one member of a JSON text and leave every other byte as it is."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from akm_schemas.json_types import Json

_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()
_INDENT: Final = re.compile(r"\n([ \t]+)\S")
DEFAULT_INDENT: Final = "  "


@dataclass(frozen=True, slots=True)
class Member:
    """Offsets of one member: of its name, and of its value from start to end."""

    name: str
    at: int
    start: int
    end: int


def set_member(text: str, path: Sequence[str], value: Json) -> str:
    """``text`` with ``value`` at ``path``, objects in between made where they are missing.

    ``text`` is one JSON object without repeated names, which the caller has made sure of. A new member comes last in
    its object, indented as the others; a member that is there keeps its place.

    Raises:
        ValueError: when something on the way is no object; its text is the dotted name of that member.
    """
    start = _skip(text, 0)
    for depth, name in enumerate(path):
        if text[start] != "{":
            raise ValueError(".".join(path[:depth]))
        members = members_of(text, start)
        known = next((member for member in members if member.name == name), None)
        if known is None:
            rest: Json = value
            for inner in reversed(path[depth + 1 :]):
                rest = {inner: rest}
            return _insert(text, start, members, name, rest)
        if depth == len(path) - 1:
            return text[: known.start] + _written(value, text, known.at) + text[known.end :]
        start = known.start
    raise ValueError("")


def remove_member(text: str, path: Sequence[str]) -> str:
    """``text`` without the member at ``path``; every other byte but those that joined it to its neighbours stays.

    Raises:
        KeyError: when it is not there.
    """
    start = _skip(text, 0)
    for depth, name in enumerate(path):
        members = members_of(text, start) if text[start] == "{" else []
        index = next((index for index, member in enumerate(members) if member.name == name), None)
        if index is None:
            raise KeyError(".".join(path[: depth + 1]))
        if depth < len(path) - 1:
            start = members[index].start
        elif len(members) == 1:
            return text[: start + 1] + text[_skip(text, members[0].end) :]
        elif index == len(members) - 1:
            return text[: members[index - 1].end] + text[members[index].end :]
        else:
            return text[: members[index].at] + text[members[index + 1].at :]
    raise KeyError("")


def members_of(text: str, start: int) -> list[Member]:
    """The members of the object that begins at ``start``, in order."""
    found: list[Member] = []
    at = _skip(text, start + 1)
    while text[at] != "}":
        name, end = _DECODER.raw_decode(text, at)
        value = _skip(text, _skip(text, end) + 1)  # past the colon
        _, end = _DECODER.raw_decode(text, value)
        found.append(Member(name, at, value, end))
        after = _skip(text, end)
        if text[after] == "}":
            break
        at = _skip(text, after + 1)
    return found


def _skip(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    assert match is not None
    return match.end()


def _insert(text: str, start: int, members: list[Member], name: str, value: Json) -> str:
    """A new last member of the object at ``start``."""
    key = json.dumps(name, ensure_ascii=False)
    if members and "\n" not in text[start : members[0].at]:
        one_line = json.dumps(value, ensure_ascii=False)
        return f"{text[: members[-1].end]}, {key}: {one_line}{text[members[-1].end :]}"
    if members:
        at, before = members[-1].end, f",{_line_end(text)}{_margin(text, members[-1].at)}"
        return text[:at] + before + f"{key}: {_written(value, text, members[-1].at)}" + text[at:]
    margin = _margin(text, start)
    inner = margin + _unit(text)
    body = json.dumps(value, ensure_ascii=False, indent=_unit(text)).replace("\n", "\n" + inner)
    lines = f"{{\n{inner}{key}: {body}\n{margin}}}".replace("\n", _line_end(text))
    end = _skip(text, start + 1) + 1
    return text[:start] + lines + text[end:]


def _written(value: Json, text: str, at: int) -> str:
    """A value in the manner of the line that holds ``at``."""
    whole = json.dumps(value, ensure_ascii=False, indent=_unit(text))
    return whole.replace("\n", _line_end(text) + _margin(text, at))


def _margin(text: str, at: int) -> str:
    """The blanks that the line of ``at`` begins with."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(text: str) -> str:
    """One level of indentation: that of the first indented line."""
    match = _INDENT.search(text)
    return match[1] if match else DEFAULT_INDENT


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
