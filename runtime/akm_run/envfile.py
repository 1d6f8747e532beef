"""Dotenv files and the secrets they mention (spec 3, section 5).

``KEY=VALUE`` lines, ``#`` comments, an optional ``export``; a value is bare (to the end of the line or to a blank and
``#``), ``'literal'``, or ``"..."`` with ``\\n \\t \\" \\\\`` and line breaks. ``${secret:name}`` is replaced in bare
and double-quoted values; any other dollar sign is text. The last of several lines for one key wins.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from akm_schemas.bounds import ENV_FILE_BYTES, SECRET_BYTES, Bound
from akm_schemas.dotenv import ASSIGNMENT, BARE, BLANK, COMMENT, DOUBLE, SECRET, SECRET_NAME, SINGLE
from akm_schemas.regular_files import read_regular

_ESCAPE: Final = re.compile(r"\\([nt\"\\])")
_ESCAPED: Final = {"n": "\n", "t": "\t", '"': '"', "\\": "\\"}


class EnvFileError(Exception):
    """An env file or secret that cannot be used; the message names file, line and remedy, never a value."""


class Entry(Struct, frozen=True):
    """One assignment: the value as written, whether secrets are replaced in it, and its line counted from 1."""

    name: str
    raw: str
    expands: bool
    line: int


class EnvFile(Struct, frozen=True):
    """Variables by name with secrets put in, and the values of the secrets themselves."""

    variables: Mapping[str, str]
    secrets: tuple[str, ...]


def read_env_file(
    path: Path, shown: str, *, keys: list[str], secret_names: list[str], ambient: Mapping[str, str]
) -> EnvFile:
    """The variables ``keys`` of the file; ``shown`` is its name for messages, ``ambient`` the interpreter's environment.

    Keys and secret names were frozen into the plan, where people review them: a file that has lost a key or mentions
    another secret is refused, a key that came later is not handed to the unit. Raises EnvFileError.
    """
    entries = {entry.name: entry for entry in parse(_text_of(path, shown), shown)}
    missing = sorted(set(keys) - set(entries))
    if missing:
        raise EnvFileError(f"{shown} no longer sets {', '.join(missing)}; put it back or compile the workflow again")
    secrets: dict[str, str] = {}
    variables: dict[str, str] = {}
    for name in keys:
        entry = entries[name]
        for secret in secrets_in(entry, shown):
            if secret not in secret_names:
                raise EnvFileError(
                    f"{shown}:{entry.line}: {name} mentions the secret {secret!r}, which the plan does not list; "
                    "compile the workflow again"
                )
            if secret not in secrets:
                secrets[secret] = _secret(secret, f"{shown}:{entry.line}: {name}", ambient)
        variables[name] = SECRET.sub(lambda match: secrets[match[1]], entry.raw) if entry.expands else entry.raw
    return EnvFile(variables, tuple(secrets.values()))


def parse(text: str, shown: str) -> list[Entry]:
    """The assignments of an env file in order. Raises EnvFileError at the first line that is none."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    entries: list[Entry] = []
    at, line = 0, 1
    while at < len(text):
        blank = BLANK.match(text, at)
        if blank is not None:
            end = blank.end()
        else:
            assignment = ASSIGNMENT.match(text, at)
            if assignment is None:
                raise EnvFileError(f"{shown}:{line}: expected KEY=VALUE, a # comment or an empty line")
            raw, expands, end = _value(text, assignment.end(), f"{shown}:{line}: {assignment[1]}")
            entries.append(Entry(assignment[1], raw, expands, line))
        line += text.count("\n", at, end)
        at = end
    return entries


def secrets_in(entry: Entry, shown: str) -> Iterator[str]:
    """The names of the secrets that an entry mentions, in order. Raises EnvFileError for a malformed mention."""
    for match in SECRET.finditer(entry.raw) if entry.expands else ():
        if not match[2]:
            raise EnvFileError(f"{shown}:{entry.line}: {entry.name}: ${{secret:...}} lacks its closing brace")
        if not SECRET_NAME.fullmatch(match[1]):
            raise EnvFileError(
                f"{shown}:{entry.line}: {entry.name}: {match[1]!r} is no secret name (letters, digits, '_', '-', '.')"
            )
        yield match[1]


def config_folder(ambient: Mapping[str, str]) -> Path:
    """``$AKM_CONFIG_DIR``, else the platform's folder for the configuration of ``akm``."""
    if own := ambient.get("AKM_CONFIG_DIR"):
        return Path(own)
    home = Path(ambient.get("HOME") or "~").expanduser()
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "akm"
    return Path(ambient.get("XDG_CONFIG_HOME") or home / ".config") / "akm"


def secret_variable(name: str) -> str:
    """The environment variable that a secret is looked for in: ``db-password`` is in ``AKM_SECRET_DB_PASSWORD``."""
    return "AKM_SECRET_" + re.sub(r"[-.]", "_", name).upper()


def _value(text: str, at: int, where: str) -> tuple[str, bool, int]:
    """The value that begins at ``at``, whether secrets are replaced in it, and where the next line begins."""
    quote = text[at : at + 1]
    if quote not in ("'", '"'):
        bare = BARE.match(text, at)
        assert bare is not None
        return COMMENT.sub("", bare.group()).strip(" \t\r"), True, bare.end() + 1
    match = (SINGLE if quote == "'" else DOUBLE).match(text, at)
    if match is None:
        raise EnvFileError(f"{where}: the value opened by {quote} is not closed")
    rest = BLANK.match(text, match.end())
    if rest is None:
        raise EnvFileError(f"{where}: there is text after the closing {quote}")
    if quote == "'":
        return match[1], False, rest.end()
    return _ESCAPE.sub(lambda escape: _ESCAPED[escape[1]], match[1]), True, rest.end()


def _text_of(path: Path, shown: str) -> str:
    try:
        return _read(path, ENV_FILE_BYTES, f"the env file {shown}")
    except FileNotFoundError:
        raise EnvFileError(f"the env file {shown} is missing (looked for as {str(path)!r})") from None


def _secret(name: str, where: str, ambient: Mapping[str, str]) -> str:
    variable = secret_variable(name)
    if variable in ambient:
        return ambient[variable]
    path = config_folder(ambient) / "secrets" / name
    try:
        text = _read(path, SECRET_BYTES, f"{where}: the secret file {str(path)!r}")
    except FileNotFoundError:
        raise EnvFileError(
            f"{where}: there is no secret {name!r}; set {variable} or write it to {str(path)!r}"
        ) from None
    return text.removesuffix("\n").removesuffix("\r")


def _read(path: Path, bound: Bound, what: str) -> str:
    """The text of a regular file, which messages call ``what``. Raises EnvFileError and FileNotFoundError."""
    try:
        data = read_regular(path, bound.high + 1)
        if not bound.holds(len(data)):
            raise EnvFileError(f"{what} is longer than {bound.high} bytes")
        return data.decode("utf-8")
    except FileNotFoundError:
        raise
    except UnicodeDecodeError as error:
        raise EnvFileError(f"{what} is not UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise EnvFileError(f"{what} cannot be read: {(error.strerror or str(error)).lower()}") from None
