"""What the YAML parsers take for something else than YAML 1.2 says, told from their events and the text.

Both parsers are lenient where the specification is not, and lenient parsers disagree about the value: ``{?a: 1}`` gives
them the key ``a``, ``&an:chor x`` gives libyaml the text ``:chor x``, ``a,#b`` hides ``b``. Such a text is refused at
its place. Source: YAML 1.2.2, sections 6.6, 6.9.2, 7.3.3 and 8.1.1.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from akmc_grammar.yaml_events import Event

STUCK_COMMENT: Final = "a comment without a blank before it"
STUCK_QUESTION: Final = "a question mark without a blank behind it"
ODD_ANCHOR: Final = "an anchor with a stray character"
LONE_DASH: Final = "a lone dash in a flow collection"
DEEP_BLANK: Final = "a blank line that is indented deeper than the comment that follows"
_BLANKS: Final = " \t\n"
# Each begins with one character, which the engine finds without trying anything else, and none runs twice over a text.
_SUSPECT: Final = (
    ("#", re.compile(r"#(?<=[^\s#]#)|\n *\n +#")),
    ("?", re.compile(r"\?(?<=[\[{,\s]\?)\S")),
    ("-", re.compile(r"-\s*[,\]}]")),
)


def suspicious(text: str) -> bool:
    """Whether ``misread`` has to be asked about ``text``; ``True`` for many texts that are sound, anchors left out."""
    if any(character in text and pattern.search(text) is not None for character, pattern in _SUSPECT):
        return True
    return ends_in_blanks(text)


def ends_in_blanks(text: str) -> bool:
    """Whether the last line has blanks only and no line end; both parsers cut it off from a block text."""
    return text.endswith(" ") and not text[text.rfind("\n") + 1 :].strip(" ")


def misread(events: Sequence[Event], text: str) -> tuple[str, int] | None:
    """The first thing that was misread, and its offset in ``text``; ``None`` when the events say what is written."""
    end = 0
    inside: list[int] = []  # the columns of open block collections; -1 for flow ones
    for event in events:
        start = event.end.offset if event.kind == "document" else event.start.offset  # directives stand inside it
        found = (
            _comment(text, end, start)
            or (_anchor(event, text) if event.anchor else None)
            or (_flow(event, text, end) if inside and inside[-1] < 0 else None)
            or (_block_text(event, text, inside[-1] if inside else -1) if event.style in ("|", ">") else None)
        )
        if found is not None:
            return found
        if event.kind in ("sequence", "mapping"):
            inside.append(-1 if event.flow or (inside and inside[-1] < 0) else event.start.column)
        elif event.kind == "end":
            inside.pop()
        end = max(end, event.end.offset)
    return _comment(text, end, len(text))


def _comment(text: str, start: int, end: int) -> tuple[str, int] | None:
    """A ``#`` between two events that follows something else than a blank."""
    at = text.find("#", start, end)
    while at >= 0:
        if at and text[at - 1] not in _BLANKS:
            return STUCK_COMMENT, at
        line_end = text.find("\n", at, end)
        at = -1 if line_end < 0 else text.find("#", line_end, end)
    return None


def _anchor(event: Event, text: str) -> tuple[str, int] | None:
    """A name that goes on where libyaml ended it."""
    name = event.anchor or ""
    start = event.start.offset + 1
    end = start + len(name)
    if text.startswith(name, start) and text[end : end + 1] in tuple(":?%@`"):
        return ODD_ANCHOR, start - 1
    return None


def _flow(event: Event, text: str, end: int) -> tuple[str, int] | None:
    """``?`` and ``-`` begin a text where no blank follows, and are none by themselves."""
    start = event.start.offset
    begins_entry = event.kind == "mapping" and text[start : start + 1] == "?"  # of a list, without braces
    mark = start if begins_entry else start - 1
    if mark >= end and text[mark] == "?" and text[mark + 1 : mark + 2] not in tuple(_BLANKS):
        return STUCK_QUESTION, mark
    if event.kind == "scalar" and event.value == "-" and not event.style:
        return LONE_DASH, start
    return None


def _block_text(event: Event, text: str, parent: int) -> tuple[str, int] | None:
    """A head with a comment that sticks to it; blank lines that set an indentation which the first line lacks."""
    start = event.start.offset
    line_end = text.find("\n", start)
    if line_end < 0:
        return None
    stuck = _comment(text, start, line_end)
    if stuck is not None or event.value.strip("\n") or text[start + 1 : start + 3].strip("+- \n"):
        return stuck
    widest = 0
    while line_end >= 0:
        begin, line_end = line_end + 1, text.find("\n", line_end + 1)
        line = text[begin:] if line_end < 0 else text[begin:line_end]
        width = len(line) - len(line.lstrip(" "))
        if width < len(line):
            return (DEEP_BLANK, begin + width) if parent < width < widest and line[width] == "#" else None
        widest = max(widest, width)
    return None
