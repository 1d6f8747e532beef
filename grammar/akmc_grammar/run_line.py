"""The ``run`` line of a YAML step: words, or the first token that a shell would read.

A regular expression over the terminals of ``run.lark`` accepts; what it refuses is given to the generated LALR parser,
which knows where the line stops being plain.
"""

from __future__ import annotations

import re
from typing import Any, Final

from msgspec import Struct

_WORD: Final = r"[A-Za-z0-9_@%+=:,./^-]+"
_LINE: Final = re.compile(rf"[ \t]*{_WORD}(?:[ \t]+{_WORD})*[ \t]*")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_SHELL_FORMS: Final[dict[str, list[str]]] = {
    "bash": ["bash", "-c"],
    "sh": ["sh", "-c"],
    "zsh": ["zsh", "-c"],
    "pwsh": ["pwsh", "-Command"],
    "powershell": ["powershell", "-Command"],
    "cmd": ["cmd", "/d", "/s", "/c"],
}
_WHY: Final = {
    "|": "is a pipe",
    "&": "joins or backgrounds commands",
    ";": "separates commands",
    "$": "expands variables",
    "`": "substitutes a command",
    ">": "redirects output",
    "<": "redirects input",
    "*": "is a glob",
    "?": "is a glob",
    "[": "is a glob",
    "]": "is a glob",
    "~": "expands to a home directory",
    "#": "starts a comment",
    "!": "negates or recalls history",
    "{": "expands braces",
    "}": "expands braces",
    "(": "opens a subshell",
    ")": "closes a subshell",
    "\\": "escapes the next character",
    "'": "quotes",
    '"': "quotes",
    "\n": "ends the line: a run is one line",
}


class UnsafeToken(Struct, frozen=True):
    """What a shell would read: ``offset`` and ``length`` in code points of the run text."""

    offset: int
    length: int
    message: str


def read_run(text: str) -> list[str] | UnsafeToken:
    """The words of a run line, or the first unsafe token."""
    if not _LINE.fullmatch(text):
        return explain(text)
    words = text.split()
    if _ASSIGNMENT.match(words[0]):
        message = f'"{words[0]}" sets a variable for one command, which only a shell does; use "env"'
        return UnsafeToken(text.index(words[0]), len(words[0]), message)
    return words


def explain(line: str) -> UnsafeToken:
    """The first token that is not plain; asks the generated parser where."""
    from akmc_grammar._generated import run_parser

    generated: Any = run_parser  # generated code has no types
    try:
        generated.Lark_StandAlone().parse(line)
    except generated.UnexpectedCharacters as fault:
        at = int(fault.pos_in_stream)
        character = line[at]
        start = max(line.rfind(" ", 0, at), line.rfind("\t", 0, at)) + 1
        token = re.match(r"\S*", line[start:])
        word = token.group() if token and token.group() else character
        why = _WHY.get(character, "is not a plain character")
        shown = f"U+{ord(character):04X}" if not character.isprintable() else f'"{character}"'
        return UnsafeToken(start, len(word), f"{shown} {why}; a run holds plain words only, no shell reads it")
    except generated.UnexpectedInput:
        return UnsafeToken(0, max(len(line), 1), "a run needs at least one word")
    raise AssertionError(f"the run grammar accepts what its terminals refuse: {line!r}")


def shell_argv(shell: str, text: str) -> list[str]:
    """The argv of a host shell that reads ``text``."""
    return [*_SHELL_FORMS[shell], text]
