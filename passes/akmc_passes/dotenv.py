"""The names in a dotenv file: its keys and the secrets it mentions (spec 2, section 3; spec 3, section 5).

Values are walked over and never kept.
"""

from __future__ import annotations

from msgspec import Struct

from akm_schemas.dotenv import ASSIGNMENT, BARE, BLANK, COMMENT, DOUBLE, SECRET, SECRET_NAME, SINGLE


class EnvNames(Struct, frozen=True):
    """Key names and secret names, each sorted and once."""

    keys: tuple[str, ...]
    secrets: tuple[str, ...]


class EnvFault(Struct, frozen=True):
    """The line, from 1, that is neither ``KEY=VALUE``, a comment nor blank; its text may be a value and is not kept."""

    line: int
    message: str


def read_env_names(text: str) -> EnvNames | EnvFault:
    """The names in ``text`` (LF line ends)."""
    keys: set[str] = set()
    secrets: set[str] = set()
    at = 0
    while at < len(text):
        if blank := BLANK.match(text, at):
            at = max(blank.end(), at + 1)
            continue
        line = text.count("\n", 0, at) + 1
        key = ASSIGNMENT.match(text, at)
        if key is None:
            return EnvFault(line, "is neither KEY=VALUE, a comment nor blank")
        keys.add(key[1])
        value = _value(text, key.end())
        if isinstance(value, str):
            return EnvFault(line, value)
        mentions, at = value
        for name, closing in mentions:
            if not closing or not SECRET_NAME.fullmatch(name):
                return EnvFault(line, "mentions a secret that is not written ${secret:NAME}")
            secrets.add(name)
    return EnvNames(tuple(sorted(keys)), tuple(sorted(secrets)))


def _value(text: str, at: int) -> tuple[list[tuple[str, str]], int] | str:
    """The mentions of secrets in the value at ``at`` and where the next line begins, or what is wrong with it."""
    opening = text[at : at + 1]
    if opening not in ("'", '"'):
        bare = BARE.match(text, at)
        assert bare is not None
        return SECRET.findall(COMMENT.sub("", bare[0])), bare.end() + 1
    quoted = (SINGLE if opening == "'" else DOUBLE).match(text, at)
    if quoted is None:
        return f"opens a value with {opening} and never closes it"
    rest = BLANK.match(text, quoted.end())
    if rest is None:
        return "goes on after its quoted value"
    return [] if opening == "'" else SECRET.findall(quoted[1]), rest.end()
