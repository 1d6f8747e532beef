"""The YAML parser's complaints in an author's words: a place, a message and a help line that helps.

Both parsers word their problems alike enough to be told apart by a piece of the text.
"""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from akmc_grammar.body_lines import MERGE_MARKS
from akmc_grammar.yaml_events import Fault, Mark
from akmc_grammar.yaml_misread import DEEP_BLANK, LONE_DASH, ODD_ANCHOR, STUCK_COMMENT, STUCK_QUESTION

_SHOWN: Final = 60
_BLANKS: Final = " \t\r"  # of YAML: to Python a form feed is one too, and may be what the fault is about
_COMPARED: Final = 400
_MATCHED: Final = 1000
_KEY_VALUE: Final = re.compile(r"(?P<lead>[ ]*(?:- +)*(?P<key>[^\s:#'\"{}\[\],][^:#]*?): +)(?P<value>\S.*)")
_WORD_BEFORE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*$")
_INDEXES: Final = re.compile(r"(?:\[[0-9]+\]|\.[A-Za-z_][A-Za-z0-9_-]*)+")


class Explanation(Struct, frozen=True):
    """What to report: ``mark`` and ``width`` (code points) of the place, the words, and what to do.

    ``opened`` is where the quoted text right before the place begins, lines above.
    """

    mark: Mark
    width: int
    message: str
    help: str
    rule: str = "invalid-yaml"
    quote: bool = False  # whether quotes around the place mend it
    opened: Mark | None = None


def explain(fault: Fault, text: str) -> Explanation:
    """The report for ``fault`` in ``text``."""
    lines = text.split("\n")
    if (merge := _unresolved_merge(lines)) is not None:
        return merge
    context = None if fault.context_mark is None else _inside(fault.context_mark, lines)
    fault = replace(fault, mark=_inside(fault.mark, lines), context_mark=context)
    return replace(_said(fault, lines), opened=fault.opened)


def _said(fault: Fault, lines: list[str]) -> Explanation:
    """The words for ``fault``, whose marks lie inside ``lines``."""
    problem, mark = fault.problem, fault.mark
    here = _at(lines, mark)
    if problem == "control character":
        code = f"U+{ord(here):04X}"
        return Explanation(mark, 1, f"the control character {code} cannot stand in YAML", _control_help(here))
    if "undefined tag handle" in problem:
        words = "a tag is refused: values are plain JSON"
        return Explanation(mark, 1, words, "remove the tag, or quote the value if it is text", "yaml-custom-tag")
    if "mapping values are not allowed" in problem:
        return _stray_colon(lines, mark)
    if "cannot start any token" in problem:
        return _bad_start(mark, here)
    if "could not find expected ':'" in problem:
        return _no_colon(lines, fault)
    if "unexpected end of stream" in problem and fault.context_mark is not None:
        quote = _at(lines, fault.context_mark)
        return Explanation(
            fault.context_mark, 1, "this quote is never closed", f"close the text with {quote or 'a quote'}"
        )
    if fault.context_mark is not None and ("',' or ']'" in problem or "',' or '}'" in problem):
        return _unclosed_flow(fault, lines)
    return _by_table(fault, here)


def _unresolved_merge(lines: list[str]) -> Explanation | None:
    """The first line of a merge that nobody resolved, where all its marks are there."""
    marks = [(number, line) for number, line in enumerate(lines) if line.startswith(MERGE_MARKS)]
    if len({line[0] for _, line in marks}) < 3:
        return None
    number, line = next((number, line) for number, line in marks if line[0] == "<")
    offset = sum(len(above) + 1 for above in lines[:number])
    message = f'found "{line.rstrip()[:_SHOWN]}": this is an unresolved merge'
    help_line = "keep one of the two versions, and delete the lines that begin with <<<<<<<, ======= and >>>>>>>"
    return Explanation(Mark(number, 0, offset), len(line.rstrip()), message, help_line)


def _inside(mark: Mark, lines: list[str]) -> Mark:
    """``mark``, or the end of the last line with text for one behind it (libyaml closes the text with a line end)."""
    if mark.line < len(lines) and any(line.strip(_BLANKS) for line in lines[mark.line :]):
        return replace(mark, column=min(mark.column, len(lines[mark.line])))
    last = max((number for number, line in enumerate(lines) if line.strip(_BLANKS)), default=0)
    return Mark(last, len(lines[last].rstrip(_BLANKS)), mark.offset)


def _control_help(character: str) -> str:
    return (
        f'remove it, or write it escaped in double quotes ("\\x{ord(character):02x}")'
        if ord(character) < 256
        else "remove it"
    )


def _at(lines: list[str], mark: Mark) -> str:
    return lines[mark.line][mark.column : mark.column + 1]


def _stray_colon(lines: list[str], mark: Mark) -> Explanation:
    """``key: some text: more``, or a key that is indented deeper than what it follows."""
    line = lines[mark.line]
    match = _KEY_VALUE.match(line[:_MATCHED])
    if match is not None and match.end("lead") <= mark.column:
        key, value = match["key"], match["value"].rstrip()
        quoted = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        fix = f"quote the value: {key}: {quoted}" if len(line) <= 2 * _SHOWN else "quote the value"
        return Explanation(mark, 1, 'a value that is not quoted cannot contain ": "', fix)
    return Explanation(
        mark,
        1,
        'found ":" where no key can stand: the line belongs to the value above it',
        "give the keys of one mapping the same indentation, or quote a text that contains a colon",
    )


def _bad_start(mark: Mark, here: str) -> Explanation:
    if here == "\t":
        return Explanation(mark, 1, "found a tab where YAML indents with spaces", "replace the tab by spaces")
    return Explanation(mark, 1, f'a value cannot begin with "{here}" unless it is quoted', "put the value in quotes")


def _no_colon(lines: list[str], fault: Fault) -> Explanation:
    """A line that should have been ``key: value``; the parser notices only behind it."""
    mark = fault.context_mark or fault.mark
    word = lines[mark.line][mark.column :].strip()
    shown = word if len(word) <= _SHOWN else word[: _SHOWN - 3] + "..."
    return Explanation(
        mark, max(len(word), 1), f'found "{shown}", expected "key: value"', 'write ":" and a blank behind the key'
    )


def _unclosed_flow(fault: Fault, lines: list[str]) -> Explanation:
    """``[1, 2`` or ``{a: 1``: reported where it opens when the text ends or goes on below without the bracket."""
    indexed = _indexed(lines, fault.mark)
    if indexed is not None:
        return indexed
    opener = fault.context_mark or fault.mark
    closer = "]" if "']'" in fault.problem else "}"
    if fault.mark.line != opener.line or not _at(lines, fault.mark):
        name = "list" if closer == "]" else "mapping"
        return Explanation(opener, 1, f'this {name} is not closed: no "{closer}" follows', f'close it with "{closer}"')
    found = f'found "{_at(lines, fault.mark)}", expected "," or "{closer}"'
    return Explanation(fault.mark, 1, found, f'separate entries by ",", close with "{closer}"')


def _indexed(lines: list[str], mark: Mark) -> Explanation | None:
    """``[steps.scan.output.rows[12].kind]``: in a flow list or mapping a bracket ends what is not quoted."""
    line = lines[mark.line]
    # No reference is longer, and a search over a whole line of one word takes time in its square.
    window = max(mark.column - _COMPARED, 0)
    head, tail = _WORD_BEFORE.search(line, window, mark.column), _INDEXES.match(line, mark.column)
    if head is None or tail is None:
        return None
    word = head[0] + tail[0]
    message = f'"{word}" is not quoted, so its "[" is read as the beginning of a list'
    if not _begins_entry(lines, mark.line, head.start()):
        help = "put the whole text in quotes, from its first word on"
        return Explanation(replace(mark, column=head.start()), len(word), message, help)
    what = "the reference" if word.startswith(("params.", "steps.")) else "it"
    return Explanation(
        replace(mark, column=head.start()), len(word), message, f'put {what} in quotes: "{word}"', quote=True
    )


def _begins_entry(lines: list[str], line: int, column: int) -> bool:
    """Whether what stands there begins an entry of a flow list or mapping, or the value of one: quotes may begin there."""
    prefix = lines[line][:column]
    before = prefix.rstrip()
    apart = before != prefix
    while not before and line > 0:
        line, apart = line - 1, True
        before = lines[line].rstrip()
    return before.endswith(("[", "{", ",")) or (apart and before.endswith(":"))


_TABLE: Final = (
    (STUCK_COMMENT, 'found "#" without a blank before it', 'put a blank before "#" for a comment, or quote the text'),
    (STUCK_QUESTION, 'found "?" without a blank behind it', 'put the text in quotes with its "?"'),
    (ODD_ANCHOR, "found a character that cannot stand in the name of an anchor", "use letters, digits, - and _"),
    (LONE_DASH, 'found "-" as a value in a list or mapping in brackets', 'put it in quotes: "-"'),
    (DEEP_BLANK, "this line is part of the block text, but a blank line above is indented deeper", "empty that line"),
    ("sequence entries are not allowed", 'a list cannot begin here with "-"', "begin the list on a line of its own"),
    (
        "unknown escape",
        "found an unknown escape in a double-quoted text",
        r"write a backslash as \\, or use single quotes",
    ),
    ("ing a tag", "found a faulty tag", "remove the tag, or quote the value if it is text"),
    ("ing an tag", "found a faulty tag", "remove the tag, or quote the value if it is text"),
    (
        "decimal number",
        "found an escape without all its hexadecimal digits in a double-quoted text",
        r"write a backslash as \\, or use single quotes",
    ),
    ("escape", "found a faulty escape in a double-quoted text", r"write a backslash as \\, or use single quotes"),
    ("alphabetic or numeric", "an anchor or alias has no name", "name it, or quote a value that begins with & or *"),
    ("'-' indicator", 'found a line without "-" among the items of a list', "check the indentation of this line"),
    ("expected key", "found what is neither a key nor the end of the mapping", "check the indentation and the quotes"),
    ("<block end>", "found what is neither a key nor the end of the mapping", "check the indentation and the quotes"),
    ("node content", "a value is missing or begins with a stray character", "remove the character, or quote the value"),
    ("document start", "found text behind the end of the document", "keep one document per file"),
    ("directive", "found a faulty directive", "remove the line that begins with %"),
    ("block scalar", "found a faulty block text head", 'write "|" or ">" alone behind the colon'),
    ("indentation", "found a wrong indentation", "indent with spaces, more than the line above the block"),
    ("document indicator", "a quoted text is not closed before the document ends", "close the quote"),
)


def _by_table(fault: Fault, here: str) -> Explanation:
    """The rest, by a piece of the parser's words."""
    if not here and "node content" in fault.problem:
        return Explanation(fault.mark, 0, "the text ends inside a list or mapping", "close every [ and {")
    said = f"{fault.problem} {fault.context}"
    for piece, message, help_line in _TABLE:
        if piece in said:
            return Explanation(fault.mark, 1 if here else 0, message, help_line)
    return Explanation(
        fault.mark, 1 if here else 0, f"not YAML: {fault.problem}", "check the quotes and the indentation"
    )
