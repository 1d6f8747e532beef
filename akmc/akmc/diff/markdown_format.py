"""A comparison as Markdown for a pull-request comment."""

from __future__ import annotations

import re
from typing import Final

from msgspec import UNSET

from akmc.diff.model import CLASSES, Change, PlanDiff, ProseLine
from akmc.diff.text_format import marked, summary_line
from akmc.render.escape import visible

_ACTIVE: Final = re.compile(r"([\\`*_{}\[\]<>()#+!|~&@:])")
_MAX_CHARS: Final = 60_000  # GitHub refuses comments above 65 536 characters
_CUT: Final = "\n\n*The rest does not fit into a comment; run `akmc diff` for all of it.*\n"


def markdown_format(diff: PlanDiff, old: str, new: str) -> str:
    """A heading, the changes by class, and a table of what would be reused; cut to fit a comment."""
    blocks = [f"### Plan diff: {_code(old)} → {_code(new)}", f"**{summary_line(diff)}**"]
    for name in CLASSES:
        changes = [change for change in diff.changes if change.class_ == name]
        if changes:
            blocks += [f"#### {name}", *map(_change_block, changes)]
    if diff.changes and diff.steps:
        rows = [f"| {_code(step.id)} | {step.reuse} | {_escaped(step.why)} |" for step in diff.steps]
        blocks.append("\n".join(["| Step | With `--reuse` | Why |", "| --- | --- | --- |", *rows]))
    text = ""
    for block in blocks:
        if len(text) + len(block) > _MAX_CHARS:
            return text.rstrip("\n") + _CUT
        text += block + "\n\n"
    return text.rstrip("\n") + "\n"


def _change_block(change: Change) -> str:
    text = f"- {_code(change.path)}: {_escaped(change.message)}"
    if change.place is not UNSET:
        text += f" ({_code(f'{change.place.file}:{change.place.line}')})"
    if change.prose is UNSET:
        return text
    lines = [_prose_line(line) for line in change.prose]
    fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
    return "\n".join([text, "", f"  {fence}diff", *(f"  {line}" for line in lines), f"  {fence}"])


def _prose_line(line: ProseLine) -> str:
    if line.op == "~":
        return f"@@ {line.text} @@"
    before, after = ("[-", "-]") if line.op == "-" else ("{+", "+}")
    return f"{' ' if line.op == '=' else line.op} {marked(line, before, after)}".rstrip()


def _escaped(text: str) -> str:
    """User text that renders as itself: no markup, mention or link comes of it."""
    return _ACTIVE.sub(_escape, visible(text))


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    # a backslash does not stop autolinks and mentions; an entity does
    return f"&#{ord(char)};" if char in "@:<>&|" else f"\\{char}"


def _code(text: str) -> str:
    """A code span, whatever backticks are inside; pipes would end a table cell."""
    shown = visible(text).replace("|", "\\|")
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{pad}{shown}{pad}{fence}"
