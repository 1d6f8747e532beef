"""Reading one JSON file of settings strictly, with places for what is wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path as FilePath
from typing import Final, TypeVar

from msgspec import Struct, field

from akm_schemas.bounds import CONFIG_FILE_BYTES, Bound
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.regular_files import read_regular
from akm_schemas.strict_json import JsonFault, parse_json
from akmc_grammar.suggest import did_you_mean, listed
from akmc_passes.words import quoted

_DEPTH: Final = 64
_TOKEN: Final = re.compile(r'''[{}]|(?P<key>"(?:[^"\\]|\\.)*")(?=[ \t\r\n]*:)|"(?:[^"\\]|\\.)*"''')
_T = TypeVar("_T")


class ConfigError(Exception):
    """A config that cannot be used (exit 78).

    ``file`` is the file as found, ``where`` the dotted path of the setting (empty for the whole file), ``line`` and
    ``column`` count from 1 where they are known. ``more`` are further faults of the same file.
    """

    def __init__(
        self, file: FilePath, where: str, message: str, line: int | None = None, column: int | None = None
    ) -> None:
        place = ":".join(str(part) for part in (file, line, column) if part is not None)
        self.text = f"{place}: {where}: {message}" if where else f"{place}: {message}"
        super().__init__(self.text)
        self.file = file
        self.where = where
        self.message = message
        self.line = line
        self.column = column
        self.more: tuple[ConfigError, ...] = ()

    @property
    def every(self) -> tuple[ConfigError, ...]:
        """This fault and the further ones."""
        return (self, *self.more)

    def __str__(self) -> str:
        """All of it in one line."""
        return "; ".join(error.text for error in self.every)


class Faults(Struct):
    """Collects what is wrong with a file, so that all of it is said at once."""

    found: list[ConfigError] = field(default_factory=list)

    def attempt(self, read: Callable[[], _T], instead: _T) -> _T:
        """What ``read`` returns; ``instead`` after a fault."""
        try:
            return read()
        except ConfigError as error:
            self.found.extend(error.every)
            return instead

    def settle(self) -> None:
        """Raise what was collected, if anything, the first fault with the others."""
        if self.found:
            first = self.found[0]
            first.more = tuple(self.found[1:])
            raise first


class Reader(Struct, frozen=True):
    """One settings file: its path and text. Each method returns a value of the right kind or raises ConfigError."""

    file: FilePath
    text: str

    def document(self) -> JsonObject:
        """The file's one JSON object."""
        try:
            value = parse_json(self.text, max_depth=_DEPTH)
        except JsonFault as fault:
            raise self._json_fault(fault) from None
        return self.mapping(value, "")

    def _json_fault(self, fault: JsonFault) -> ConfigError:
        where = fault.path or ""
        if fault.offset is not None:
            line = self.text.encode()[: fault.offset].count(b"\n") + 1
            return ConfigError(self.file, where, fault.message, line)
        if fault.repeated is not None:
            return self._at(_repetition(self.text, fault.repeated), where, fault.message)
        return self.fault(where, fault.message)

    def fault(self, where: str, message: str) -> ConfigError:
        """An error at the setting ``where``; its line is given when the key occurs once in the file."""
        word = json.dumps(where.rpartition(".")[2], ensure_ascii=False)
        at = self.text.find(word) if where else -1
        if at < 0 or self.text.find(word, at + 1) >= 0:
            return ConfigError(self.file, where, message)
        return self._at(at, where, message)

    def _at(self, at: int, where: str, message: str) -> ConfigError:
        """An error at an offset of the text, in code points."""
        line, column = self.text.count("\n", 0, at) + 1, at - self.text.rfind("\n", 0, at)
        return ConfigError(self.file, where, message, line, column)

    def mapping(self, value: Json, where: str) -> JsonObject:
        """A JSON object."""
        if not isinstance(value, dict):
            raise self.fault(where, f"expected an object, found {kind_of(value)}")
        return value

    def closed(self, value: Json, where: str, allowed: Iterable[str]) -> JsonObject:
        """A JSON object with none but the allowed keys."""
        faults = Faults()
        found = self.known(value, where, allowed, faults)
        faults.settle()
        return found

    def known(self, value: Json, where: str, allowed: Iterable[str], faults: Faults) -> JsonObject:
        """The allowed keys of a JSON object; ``faults`` gets every other one."""
        nothing: JsonObject = {}
        found = faults.attempt(lambda: self.mapping(value, where), nothing)
        known = sorted(allowed)
        for key in found:
            if key not in known:
                help = did_you_mean(key, known)
                message = f"unknown key {quoted(key)}; allowed: {listed(known)}" + (f"; {help}" if help else "")
                faults.found.append(self.fault(below(where, key), message))
        return {key: inner for key, inner in found.items() if key in known}

    def text_of(self, value: Json, where: str) -> str:
        """A string that is not empty."""
        if not isinstance(value, str) or not value:
            raise self.fault(where, f"expected a string that is not empty, found {kind_of(value)}")
        return value

    def choice(self, value: Json, where: str, choices: tuple[str, ...]) -> str:
        """One of ``choices``."""
        word = self.text_of(value, where)
        if word not in choices:
            help = did_you_mean(word, choices)
            message = f"{quoted(word)} is not one of {listed(choices)}" + (f"; {help}" if help else "")
            raise self.fault(where, message)
        return word

    def integer(self, value: Json, where: str, bound: Bound) -> int:
        """An integer within ``bound``."""
        number = int(value) if isinstance(value, float) and value.is_integer() else value
        if not isinstance(number, int) or isinstance(number, bool):
            raise self.fault(where, f"expected an integer, found {kind_of(value)}")
        if not bound.holds(number):
            raise self.fault(where, f"takes {bound.says()}, found {number}")
        return number

    def number(self, value: Json, where: str) -> int | float:
        """A JSON number."""
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise self.fault(where, f"expected a number, found {kind_of(value)}")
        return value

    def boolean(self, value: Json, where: str) -> bool:
        """A boolean."""
        if not isinstance(value, bool):
            raise self.fault(where, f"expected true or false, found {kind_of(value)}")
        return value

    def texts(self, value: Json, where: str) -> list[str]:
        """A list of strings, empty ones allowed."""
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.fault(where, "expected a list of strings")
        return [item for item in value if isinstance(item, str)]


def _repetition(text: str, name: str) -> int:
    """Where ``name`` is given a second time in one object of ``text``, which is well-formed JSON; in code points."""
    seen = [False]
    for token in _TOKEN.finditer(text):
        if token[0] == "{":
            seen.append(False)
        elif token[0] == "}":
            seen.pop()
        elif token["key"] is not None and json.loads(token["key"]) == name:
            if seen[-1]:
                return token.start()
            seen[-1] = True
    return 0


def below(where: str, key: str) -> str:
    """The dotted path of ``key`` in the object at ``where``."""
    return f"{where}.{key}" if where else key


def kind_of(value: Json) -> str:
    """What was found, for messages; user text is shown, other values by their kind."""
    if isinstance(value, str):
        return f"the string {quoted(value)}"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int | float):
        return f"the number {value}"
    return "a list" if isinstance(value, list) else "an object"


def read_settings(file: FilePath, *, named: bool = False) -> Reader | None:
    """A reader of ``file``, ``None`` when there is no such file; ConfigError when it cannot be read.

    One that a person has ``named`` may be a pipe, such as a shell's ``<(...)``; any other is a regular file.
    """
    try:
        raw = _named_bytes(file) if named else read_regular(file, CONFIG_FILE_BYTES.high + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(file, "", f"cannot be read: {error.strerror or error}") from None
    if not CONFIG_FILE_BYTES.holds(len(raw)):
        raise ConfigError(file, "", f"is longer than {CONFIG_FILE_BYTES.high} bytes: is it a config?")
    try:
        return Reader(file, raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise ConfigError(file, "", f"is not UTF-8 at byte {error.start}", line) from None


def _named_bytes(file: FilePath) -> bytes:
    with file.open("rb") as stream:  # a device has no end
        return stream.read(CONFIG_FILE_BYTES.high + 1)
