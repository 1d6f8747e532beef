"""A comparison as Markdown for a pull-request comment: the headline first, the most dangerous first, details folded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from akmc.diff.entries import Entry, Subject, entries
from akmc.diff.markdown_text import code, escaped, fenced
from akmc.diff.model import PlanDiff, StepReuse
from akmc.diff.text_format import place_text, reuse_counts, summary_line

MAX_UNITS: Final = 60_000  # GitHub refuses comments above 65 536 characters; the rest is for what stands around it
_MESSAGE: Final = 600
_REUSE: Final = {"again": "dispatched again", "depends": "depends", "reused": "taken over"}
CUT: Final = "*Shortened to fit into a comment; `akmc diff` says the rest.*"


@dataclass(frozen=True, slots=True)
class Detail:
    """How much to say: whether texts are shown line by line, and how many entries of a class and rows of the table."""

    texts: bool
    rows: int | None


_DETAILS: Final = tuple(Detail(texts, rows) for texts, rows in ((True, None), (False, None), (False, 40), (False, 8)))
LEAST: Final = Detail(False, 0)


def markdown_format(diff: PlanDiff, old: str, new: str) -> str:
    """A headline, the changes by class, and what would be reused; less of it where all would not fit a comment."""
    head = [f"### Plan diff: {summary_line(diff)}", f"{code(old)} → {code(new)}"]
    return fitting(lambda detail: "\n\n".join([*head, *body_blocks(diff, detail)]))


def fitting(text: Callable[[Detail], str]) -> str:
    """The fullest text that fits into a comment, ended by a newline."""
    shown = ""
    for detail in (*_DETAILS, LEAST):
        shown = text(detail)
        if detail != _DETAILS[0]:
            shown += f"\n\n{CUT}"
        if units(shown) <= MAX_UNITS:
            break
    return shown + "\n"


def units(text: str) -> int:
    """The length as GitHub counts: in UTF-16 code units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def body_blocks(diff: PlanDiff, detail: Detail) -> Iterator[str]:
    """Everything below the headline, as blocks of Markdown; each closes what it opens."""
    for position, (name, rows) in enumerate(entries(diff.changes).items()):
        shown = rows if detail.rows is None else rows[: detail.rows]
        listed = [_entry_block(row, detail) for row in shown]
        if len(shown) < len(rows):
            listed.append(f"- … and {len(rows) - len(shown)} more")
        yield _class_block(
            f"{len(rows)} {name}",
            "\n".join(listed).rstrip(),
            opened=position == 0 or name == "security",
        )
    if diff.changes and diff.steps:
        yield from _reuse_blocks(diff.steps, detail)


def _class_block(title: str, listed: str, *, opened: bool) -> str:
    attribute = " open" if opened else ""
    return f"<details{attribute}><summary><b>{title}</b></summary>\n\n{listed}\n\n</details>"


def _reuse_blocks(steps: list[StepReuse], detail: Detail) -> Iterator[str]:
    if all(step.reuse == "reused" for step in steps):
        yield "With `--reuse` of an old run, the finished units of every step are taken over."
        return
    shown = steps if detail.rows is None else steps[: detail.rows]
    rows = [f"| {code(step.id, cell=True)} | {_REUSE[step.reuse]} | {escaped(step.why)} |" for step in shown]
    table = "\n".join(["| Step | Finished units | Why |", "| --- | --- | --- |", *rows])
    rest = f"\n\n… and {len(steps) - len(shown)} more" if len(shown) < len(steps) else ""
    title = f"With <code>--reuse</code> of an old run: {reuse_counts(steps)}"
    yield f"<details><summary>{title}</summary>\n\n{table}{rest}\n\n</details>"


def _entry_block(entry: Entry, detail: Detail) -> str:
    change = entry.change
    message = change.message if len(change.message) <= _MESSAGE else change.message[: _MESSAGE - 1] + "…"
    vectors = [] if change.code is UNSET else [(start, end) for start, end in change.code if end < len(message) + 1]
    about = ", ".join(map(_subject, entry.shown)) + (f" {entry.left_out}" if entry.left_out else "")
    text = f"- {about}: {escaped(message, vectors)}"
    if change.place is not UNSET:
        text += f" ({code(place_text(change))})"
    if change.prose is UNSET or not detail.texts:
        return text
    block = "\n".join(f"  {line}".rstrip() for line in fenced(change.prose).split("\n"))
    return f"{text}\n\n{block}\n"


def _subject(subject: Subject) -> str:
    names = " › ".join(map(code, subject.names))
    parts = (f"**{subject.what}**", names, f"({subject.aspect})" if subject.aspect else "")
    return " ".join(filter(None, parts))
