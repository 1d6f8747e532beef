r"""Regular expressions of the published schemas.

Each one means the same in ECMA-262 (what JSON Schema prescribes, with the ``u`` flag as editors set it) and in Python
(what validators like jsonschema use): ASCII classes only, no needless escapes, and an end that no trailing line break
slips past (Python's ``$`` stands before one, so that ``(?!\n)`` follows it).
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from akm_schemas.bounds import ARGV_WORD_BYTES, ARGV_WORDS, TIMEOUT_MS
from akm_schemas.keys import NAME, STEP_ID


class Pattern(Struct, frozen=True):
    """``body`` is matched in full; ``hint`` says in words what is expected."""

    body: str
    hint: str | None = None

    @property
    def anchored(self) -> str:
        """As ``pattern`` of a schema, which searches."""
        return rf"^(?:{self.body})$(?!\n)"


def at_most(high: int) -> str:
    """Decimal numbers 1 to ``high``, leading zeros allowed."""
    digits = str(high)
    shorter = rf"[1-9][0-9]{{0,{len(digits) - 2}}}" if len(digits) > 1 else ""
    branches = [shorter] if shorter else []
    for index, digit in enumerate(digits):
        low = 1 if index == 0 else 0
        if int(digit) > low:
            rest = len(digits) - index - 1
            below = f"[{low}-{int(digit) - 1}]" if int(digit) - 1 > low else str(low)
            branches.append(f"{digits[:index]}{below}{f'[0-9]{{{rest}}}' if rest else ''}")
    branches.append(digits)
    return f"0*(?:{'|'.join(branches)})"


def _durations() -> str:
    units = (("(?:ms)?", 1), ("s", 1000), ("m", 60_000))
    return "|".join(["none", *(at_most(TIMEOUT_MS.high // scale) + unit for unit, scale in units)])


def without_case(word: str) -> str:
    """``word`` in any case with anything but letters and digits between: what lower-casing and dropping leaves of a name.

    Two letters outside ASCII become ASCII when they are lower-cased: the Kelvin sign and the dotted capital I.
    """
    special = {"k": "\\u212a", "i": "\\u0130"}
    return "[^A-Za-z0-9\\u0130\\u212a]*".join(
        ["", *(f"[{letter}{letter.upper()}{special.get(letter, '')}]" for letter in word), ""]
    )


def names_like(words: tuple[str, ...]) -> str:
    """A body for names that come to one of ``words``."""
    return "|".join(without_case(word) for word in words)


_PATH: Final = rf"(?:\.{STEP_ID}|\[(?:0|[1-9][0-9]{{0,9}})\])*"
_STEP: Final = rf"steps\.{STEP_ID}\.output{_PATH}"
_CONTAINED: Final = r"(?![A-Za-z]:)(?!/)(?!(?:[^/]*/)*\.\.(?:/|$))"
_CWD_CHARACTER: Final = r"[^\\~\u0000-\u001f\u007f]"
_SEGMENT: Final = "[A-Za-z0-9_][A-Za-z0-9._-]*"
_WORD: Final = rf"[A-Za-z0-9_@%+=:,./^-]{{1,{ARGV_WORD_BYTES.high}}}"

TIMEOUT: Final = Pattern(_durations(), 'digits and one of ms, s, m, digits alone for milliseconds, or "none"')
REFERENCE: Final = Pattern(rf"params\.{NAME}|{_STEP}", 'a reference such as "steps.<id>.output" or "params.<name>"')
STEP_REFERENCE: Final = Pattern(_STEP, 'a reference such as "steps.<id>.output"')
CWD: Final = Pattern(
    rf"{_CONTAINED}{_CWD_CHARACTER}*", "a directory inside the tree, relative and with forward slashes"
)
WORKING_DIRECTORY: Final = Pattern(
    rf"{_CONTAINED}(?!(?:[^/]*/)*(?:/|$)){_CWD_CHARACTER}*", "a directory inside the tree, relative, no empty segment"
)
PLAIN_WORD: Final = Pattern(r"[^\u0000]*", "a word without NUL characters")
ENV_NAME: Final = Pattern(rf"(?!AKM_){NAME}", "a variable name; AKM_* belongs to the interpreter")
RUN_LINE: Final = Pattern(
    rf"(?![ \t]*[A-Za-z_][A-Za-z0-9_]*=)[ \t]*{_WORD}(?:[ \t]+{_WORD}){{0,{ARGV_WORDS.high - 1}}}[ \t]*\n?",
    "plain words separated by blanks: no quotes, variables, globs or operators, and no NAME=value in front",
)
CRON: Final = Pattern(
    r"[ \t]*[^@ \t\n][^ \t\n]*(?:[ \t]+[^ \t\n]+){4}[ \t\n]*", "five fields: minute hour day month weekday"
)
EXPRESSION: Final = r"\$\{\{"  # GitHub's, refused anywhere in YAML sources


def asset_ref(families: tuple[str, ...]) -> str:
    """The body of refs of the families (spec 1, section 1)."""
    return rf"(?:{_SEGMENT}//)?(?:{'|'.join(families)})/{_SEGMENT}(?:/{_SEGMENT})*"
