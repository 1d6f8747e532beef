"""``akmc config``: settings read by dotted name, set with the type that the key has, and removed.

A name is words joined by dots; a word with a dot of its own stands in double quotes: ``modelAliases."gpt-4.1".llm``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from akm_schemas.config_keys import names, shape_at
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.keys import AnyMapping, Anything, Boolean, Integer, ListOf, Named, Number, Record, Text
from akm_schemas.strict_json import JsonFault, parse_json
from akmc.faults import CONFIG as CONFIG_STATUS
from akmc.faults import USAGE, CommandFault
from akmc_grammar.suggest import did_you_mean, listed
from akmc_passes.config import (
    ConfigError,
    project_base,
    read_config,
)
from akmc_passes.config_reader import Reader, read_settings

_WORD: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[^."]+')
_PLAIN: Final = re.compile(r"[^.\"\s]+")
_DEPTH: Final = 64


def path_of(name: str) -> tuple[str, ...]:
    """The words of a dotted name; a usage fault for what is none."""
    words: list[str] = []
    at = 0
    while True:
        match = _WORD.match(name, at)
        if match is None:
            raise CommandFault(
                f'"{name}" is no name of a setting', help='join words with dots, as in "defaults.engine"'
            )
        words.append(_unquoted(match[0]))
        at = match.end()
        if at == len(name):
            return tuple(words)
        if name[at] != ".":
            raise CommandFault(f'"{name}" is no name of a setting', help="a dot stands between two words")
        at += 1


def _unquoted(word: str) -> str:
    if not word.startswith('"'):
        return word
    try:
        return str(json.loads(word, strict=False))
    except json.JSONDecodeError as error:
        raise CommandFault(f"{word} is no quoted word", help="write it as a JSON string") from error


def dotted_name(path: Sequence[str]) -> str:
    """The dotted name of a path."""
    return ".".join(word if _PLAIN.fullmatch(word) else json.dumps(word, ensure_ascii=False) for word in path)


def known_path(name: str, document: JsonObject) -> tuple[str, ...]:
    """The path of a name that the config can have; a usage fault names the nearest one."""
    path = path_of(name)
    for depth in range(1, len(path) + 1):
        if shape_at(path[:depth], _kind(document, path)) is None:
            parent = shape_at(path[: depth - 1], _kind(document, path))
            allowed = list(names(parent)) if isinstance(parent, Record) else []
            where = f'"{dotted_name(path[: depth - 1])}" has no key' if depth > 1 else "the config has no key"
            help = did_you_mean(path[depth - 1], allowed) or (
                f"allowed: {listed(allowed)}" if allowed else f'"{dotted_name(path[: depth - 1])}" is one value'
            )
            raise CommandFault(f'{where} "{path[depth - 1]}"', help=help)
    return path


def _kind(document: JsonObject, path: Sequence[str]) -> str | None:
    kind = at_path(document, (*path[:2], "kind")) if len(path) > 1 and path[0] == "engines" else None
    return kind if isinstance(kind, str) else None


def at_path(document: Json, path: Sequence[str]) -> Json:
    """The value at ``path``; ``None`` where there is none (a config holds no null)."""
    for word in path:
        if not isinstance(document, dict) or word not in document:
            return None
        document = document[word]
    return document


def edited(file: Path, pairs: Sequence[tuple[str, str]]) -> str:
    """The text of ``file`` with each named setting at its new value, everything else as it was.

    Raises CommandFault: 78 for a file that cannot be read, 2 for a name or value that the config cannot have.
    """
    from akmc.json_edit import set_member

    reader, document = _read(file)
    text, paths = reader.text, []
    for name, word in pairs:
        if not _is_text(name + word):
            raise CommandFault(f'"{name}" and its value have to be UTF-8', help="nothing was written")
        path = known_path(name, document)
        value = typed(name, word, shape_at(path, _kind(document, path)))
        try:
            text = set_member(text, path, value)
        except ValueError as error:
            raise CommandFault(
                f'{file}: "{error}" is no object', status=CONFIG_STATUS, help="mend the config"
            ) from error
        document = Reader(file, text).document()
        paths.append(path)
    help = "set several keys in one call: akmc config set NAME VALUE NAME VALUE"
    _still_holds(file, text, paths, help)
    return text


def without(file: Path, names: Sequence[str]) -> str | None:
    """The text of ``file`` without the settings named, everything else as it was; ``None`` where one is not set there.

    A key that no config has can be removed too: that is how it is mended.
    Raises CommandFault: 78 for a file that cannot be read, 2 for a name, or for a config that would lack something.
    """
    from akmc.json_edit import remove_member

    reader, document = _read(file)
    text, paths = reader.text, []
    for name in names:
        path = path_of(name)
        if at_path(document, path) is None:
            known_path(name, document)  # a misspelt name is said as such
            return None
        text = remove_member(text, path)
        document = Reader(file, text).document()
        paths.append(path)
    _still_holds(file, text, paths, "name all that goes in one call: akmc config unset NAME NAME")
    return text


def _read(file: Path) -> tuple[Reader, JsonObject]:
    try:
        reader = read_settings(file) or Reader(file, "{}\n")
        return reader, reader.document()
    except ConfigError as error:
        raise CommandFault(str(error), status=CONFIG_STATUS, help="mend the config first") from error


def _still_holds(file: Path, text: str, paths: Sequence[tuple[str, ...]], lacking: str) -> None:
    """Refuse a change after which the config does not hold; ``lacking`` is the help where a key is missing."""
    try:
        read_config(Reader(file, text), project_base(file))
    except ConfigError as found:
        heads = tuple(".".join(path[:2]) for path in paths)
        error = next((each for each in found.every if each.where.startswith(heads)), found)
        ours = error.where.startswith(heads)
        raise CommandFault(
            f"{error.where or file}: {error.message}" if ours else str(error),
            status=USAGE if ours else CONFIG_STATUS,
            help=lacking if "lacks" in error.message else "nothing was written",
        ) from found


def _is_text(words: str) -> bool:
    """Whether words of the command line can be written: bytes that are no UTF-8 arrive as lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in words)


def typed(name: str, word: str, shape: object) -> Json:
    """The value that ``word`` is for a key of ``shape``: a text as it is, anything else as JSON."""
    if isinstance(shape, Text):
        if word == "null":
            raise CommandFault(f'"{name}" takes a text, and null is none', help=f"akmc config unset {name}")
        return word
    try:
        value = parse_json(word, max_depth=_DEPTH)
    except JsonFault as fault:
        if isinstance(shape, Anything):
            return word
        raise CommandFault(f'"{name}" takes {_wanted(shape)}: {fault.message}', help=_example(name, shape)) from fault
    if isinstance(shape, Anything):
        return value if isinstance(value, dict | list) or value is None else word
    fits: dict[type[object], bool] = {
        Integer: isinstance(value, int | float) and not isinstance(value, bool),
        Number: isinstance(value, int | float) and not isinstance(value, bool),
        Boolean: isinstance(value, bool),
        ListOf: isinstance(value, list),
    }
    if not fits.get(type(shape), isinstance(value, dict)):
        raise CommandFault(f'"{name}" takes {_wanted(shape)}, found {word}', help=_example(name, shape))
    return value


def _wanted(shape: object) -> str:
    words: dict[type[object], str] = {
        Integer: "an integer",
        Number: "a number",
        Boolean: "true or false",
        ListOf: "a JSON list",
    }
    return words.get(type(shape), "a JSON object")


def _example(name: str, shape: object) -> str:
    values: dict[type[object], str] = {Integer: "4", Number: "0.5", Boolean: "true", ListOf: """'["-x"]'"""}
    objects = (Named, Record, AnyMapping)
    value = values.get(type(shape), "'{...}'" if isinstance(shape, objects) else "VALUE")
    return f"for example: akmc config set {name} {value}"
