"""YAML text to events with exact places: libyaml first, ruamel's own parser where libyaml refuses.

libyaml (through ``ruamel.yaml.clib``) is far faster, but it implements YAML 1.1 lines and refuses some legal flow
forms (``{url: http://x}``). So characters that YAML 1.2 does not count as line ends are swapped for unused
private-use ones while it parses, and what it refuses or misreads is read again by the pure parser, up to
``PURE_RETRY_BYTES``, before it is called invalid. Without the extension the pure parser reads everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final, Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from akm_schemas.bounds import KIB, YAML_NODES, Bound
from akmc_grammar.yaml_misread import ends_in_blanks, misread, suspicious

PURE_RETRY_BYTES: Final = 64 * KIB
"""The pure parser is 10 to 40 times slower: beyond this its second opinion is not asked for."""

Kind: TypeAlias = Literal["scalar", "alias", "sequence", "mapping", "end", "document"]

_KINDS: Final[dict[str, Kind]] = {
    "ScalarEvent": "scalar",
    "AliasEvent": "alias",
    "SequenceStartEvent": "sequence",
    "MappingStartEvent": "mapping",
    "SequenceEndEvent": "end",
    "MappingEndEvent": "end",
    "DocumentStartEvent": "document",
}
# Only LF ends a line here; a byte order mark inside the text is a character like others.
_SWAPPED: Final = "\r\x85\u2028\u2029\ufeff"
# Private use first; a text of 1 MiB cannot use up the planes above the first.
_SPARE_RANGES: Final = ((0xE000, 0xF900), (0xF0000, 0xFFFFE), (0x10000, 0xE0000))
# What YAML 1.2.2 (section 5.1) does not count as printable. Compiling a class of the whole plane takes milliseconds, so
# that one is made for texts beyond ASCII only.
_ASCII_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_UNPRINTABLE: Final = "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]"


class Mark(Struct, frozen=True, order=True):
    """A position in the text, all from 0, in code points."""

    line: int
    column: int
    offset: int


class Event(Struct, frozen=True):
    """One parse event; ``flow`` is for collections, ``value`` for scalars, ``style`` as YAML writes it (plain: "")."""

    kind: Kind
    start: Mark
    end: Mark
    value: str = ""
    style: str = ""
    anchor: str | None = None
    tag: str | None = None
    flow: bool = False


class Fault(Struct, frozen=True):
    """Why the text is not YAML: the parser's words and place, and the place of what it was reading.

    ``opened`` is where a quoted text of several lines begins that ends right before the place: its closing quote may
    have been meant to open another.
    """

    problem: str
    mark: Mark
    context: str = ""
    context_mark: Mark | None = None
    opened: Mark | None = None


class Overflow(Struct, frozen=True):
    """The text is larger than ``bound`` allows; ``mark`` is the first node beyond it."""

    bound: Bound
    mark: Mark


class Scan(Struct, frozen=True):
    """What a text gave: its events, or why there are none."""

    events: tuple[Event, ...]
    stopped: Fault | Overflow | None = None


def scan(text: str, depth: Bound) -> Scan:
    """The events of ``text`` (stream and document ends left out), at most ``YAML_NODES`` nodes and ``depth`` levels.

    Never raises: a text that is not YAML comes back as a ``Fault``.
    """
    unprintable = _unprintable(text)
    if unprintable is not None:
        return Scan((), Fault("control character", mark_at(text, unprintable.start())))
    if ends_in_blanks(text):
        text += "\n"  # yaml-test-suite L24T
    swapped, back = _swap(text)
    fast = _c_parser()
    if fast is None:
        return _collect(_pure_events(swapped), swapped, depth, back)
    first = _collect(_c_events(fast, swapped), swapped, depth, back)
    if not isinstance(first.stopped, Fault) or len(text.encode()) > PURE_RETRY_BYTES:
        return first
    second = _collect(_pure_events(swapped), swapped, depth, back)
    return first if isinstance(second.stopped, Fault) else second


def plain_parser(text: str) -> Any | None:
    """libyaml's parser of ``text``, whose ``get_event`` answers raw events; ``None`` where it is not there, and for a
    text that it must not see as it is."""
    if _unprintable(text) is not None or any(character in text for character in _SWAPPED) or suspicious(text):
        return None
    fast = _c_parser()
    return None if fast is None else fast(text)


def _unprintable(text: str) -> re.Match[str] | None:
    return _ASCII_CONTROL.search(text) if text.isascii() else re.search(_UNPRINTABLE, text)


def mark_at(text: str, index: int) -> Mark:
    """The mark of the code point at ``index``."""
    return Mark(text.count("\n", 0, index), index - text.rfind("\n", 0, index) - 1, index)


def _swap(text: str) -> tuple[str, dict[int, str]]:
    """``text`` with the swapped characters replaced one for one, and the table that puts them back."""
    present = [character for character in _SWAPPED if character in text]
    if not present:
        return text, {}
    used = set(text)
    free = (chr(code) for start, end in _SPARE_RANGES for code in range(start, end))
    spare = [character for character, _ in zip((c for c in free if c not in used), present, strict=False)]
    forth = dict(zip(map(ord, present), spare, strict=False))
    return text.translate(forth), {ord(new): chr(old) for old, new in forth.items()}


def _c_parser() -> Any | None:
    """libyaml's parser class, or ``None`` where the C extension is not installed."""
    try:
        module: Any = import_module("ruamel.yaml.cyaml")
    except ImportError:
        return None
    return module.CParser


def _c_events(parser_class: Any, text: str) -> Iterator[Any]:
    """libyaml's events (it answers ``None`` behind the last one)."""
    return iter(parser_class(text).get_event, None)


def _pure_events(text: str) -> Iterator[Any]:
    """The pure parser's events."""
    from ruamel.yaml import YAML

    yield from YAML(typ="safe", pure=True).parse(text)


def _collect(source: Iterator[Any], text: str, depth: Bound, back: dict[int, str]) -> Scan:
    """Run a parser until it ends, refuses, or passes a bound."""
    from ruamel.yaml.error import YAMLError

    events: list[Event] = []
    nodes = level = 0
    try:
        for raw in source:
            kind = _KINDS.get(type(raw).__name__)
            if kind is None:
                continue
            event = _event(kind, raw, back)
            events.append(event)
            if kind == "end":
                level -= 1
            elif kind != "document":
                nodes += 1
                level += kind in ("sequence", "mapping")
                if level > depth.high:
                    return Scan((), Overflow(depth, event.start))
                if nodes > YAML_NODES.high:
                    return Scan((), Overflow(YAML_NODES, event.start))
    except YAMLError as error:
        fault = _fault(error, text)
        return Scan((), replace(fault, opened=_opened(events, fault.mark, text)))
    except Exception as error:  # noqa: BLE001 (the pure parser leaks others on odd texts, such as ValueError of chr())
        last = events[-1].end if events else Mark(0, 0, 0)
        return Scan((), Fault(str(error) or type(error).__name__, last))
    found = misread(events, text)
    return Scan(tuple(events)) if found is None else Scan((), Fault(found[0], mark_at(text, found[1])))


def _opened(events: list[Event], place: Mark, text: str) -> Mark | None:
    """Where the quoted text of several lines begins that nothing but blanks keeps from ``place``, if there is one."""
    last = events[-1] if events else None
    if last is None or last.kind != "scalar" or last.style not in ('"', "'") or last.start.line == last.end.line:
        return None
    return None if text[last.end.offset : place.offset].strip(" ") or place < last.end else last.start


def _event(kind: Kind, raw: Any, back: dict[int, str]) -> Event:
    start, end = _mark(raw.start_mark), _mark(raw.end_mark)
    if kind in ("end", "document"):
        return Event(kind, start, end)
    if kind == "alias":
        return Event(kind, start, end, anchor=str(raw.anchor))
    tag = None if raw.tag is None else str(raw.tag)
    if kind == "scalar":
        value = raw.value.translate(back) if back else raw.value
        return Event(kind, start, end, value, raw.style or "", raw.anchor, tag)
    return Event(kind, start, end, anchor=raw.anchor, tag=tag, flow=bool(raw.flow_style))


def _mark(raw: Any) -> Mark:
    return Mark(raw.line, raw.column, raw.index)


def _fault(error: Any, text: str) -> Fault:
    """The parser's complaint as data (``MarkedYAMLError`` and ``ReaderError`` have different attributes)."""
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    mark, context_mark = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    place = mark or context_mark
    return Fault(
        str(problem),
        mark_at(text, len(text)) if place is None else _mark(place),
        str(getattr(error, "context", None) or ""),
        None if context_mark is None else _mark(context_mark),
    )
