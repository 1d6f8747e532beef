"""User text in Markdown: it renders as itself, whatever it holds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from akmc.diff.model import ProseLine
from akmc.diff.text_format import marked
from akmc.render.escape import visible

# Where CommonMark, GitHub's autolinks, mentions, references, formulas and short names of emoji could begin.
_ACTIVE: Final = re.compile(r"[@#][\w/@#-]*|[\\`*{}\[\]<>|~&$]|(?<!\w)_|_(?!\w)|:(?=\S)|(?<=ww)w(?=\.)")


def escaped(text: str, vectors: Sequence[tuple[int, int]] = ()) -> str:
    """``text`` without markup of its own: no mention, link, formula or HTML comes of it, and no character is lost.
    ``vectors`` are the argument vectors in it (``Change.code``): code spans, whose backticks they have already."""
    whole, end = "", 0
    for start, stop in vectors:
        # blanks or commas stand between two of them: no backticks become one run
        whole += _ACTIVE.sub(_escape, visible(text[end:start])) + code(text[start + 1 : stop - 1])
        end = stop
    return whole + _ACTIVE.sub(_escape, visible(text[end:]))


def _escape(match: re.Match[str]) -> str:
    found = match.group()
    if found[0] in "@#":
        return code(found)  # GitHub looks for mentions and references after rendering, everywhere but in code
    # a backslash does not stop autolinks and formulas; an entity does
    return f"&#{ord(found)};" if found in ":<>&|$w" else f"\\{found}"


def code(text: str, *, cell: bool = False) -> str:
    """A code span, whatever backticks are inside; a pipe would end a ``cell`` of a table."""
    shown = visible(text).replace("|", "\\|") if cell else visible(text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def fenced(prose: Sequence[ProseLine]) -> str:
    """Changed lines as a ``diff`` block, whatever runs of backticks are inside."""
    lines = [_prose_line(line) for line in prose]
    fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
    return "\n".join([f"{fence}diff", *lines, fence])


def _prose_line(line: ProseLine) -> str:
    if line.op == "~":
        return f"@@ {line.text} @@"
    before, after = ("[-", "-]") if line.op == "-" else ("{+", "+}")
    return f"{' ' if line.op == '=' else line.op} {marked(line, before, after)}".rstrip()
