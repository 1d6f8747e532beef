"""Writing to people and to pipes: colour, control characters, closed pipes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import Final, Literal, TextIO, TypeAlias

Color: TypeAlias = Literal["auto", "always", "never"]
_CODES: Final = {
    "completed": "32",
    "failed": "31",
    "blocked": "33",
    "skipped": "2",
    "pending": "2",
    "active": "36",
    "running": "36",
    "bold": "1",
}
# control characters (tab and newline aside), and those that reorder what is shown around them
_UNSAFE: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def wants_color(choice: Color, stream: TextIO, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether to colour: what was asked for, else a terminal without ``NO_COLOR`` and ``TERM=dumb``."""
    if choice != "auto":
        return choice == "always"
    return not environment.get("NO_COLOR") and environment.get("TERM") != "dumb" and stream.isatty()


def visible(text: str) -> str:
    """``text`` with control and direction characters escaped, so that a program's output cannot command a terminal."""
    return _UNSAFE.sub(lambda match: f"\\u{{{ord(match[0]):x}}}", text)


def paint(text: str, style: str, *, color: bool) -> str:
    """``text`` in the colour of a status or style, where colours are wanted."""
    code = _CODES.get(style)
    return f"\x1b[{code}m{text}\x1b[0m" if color and code else text


def out(data: bytes | str) -> None:
    """Write to stdout, whole; a reader that has gone ends the output quietly and lets the exit status stand."""
    if isinstance(data, str):
        data = data.encode("utf-8", "backslashreplace")
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        mute(sys.stdout)


def say(text: str) -> None:
    """Write a line for people to stderr."""
    try:
        sys.stderr.buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
        sys.stderr.buffer.flush()
    except BrokenPipeError:
        mute(sys.stderr)


def mute(stream: TextIO) -> None:
    """Send what is still buffered nowhere, so that the interpreter's shutdown does not report the closed pipe again."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
