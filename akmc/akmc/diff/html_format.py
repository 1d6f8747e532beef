"""A comparison as one self-contained HTML page: no script, no network."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from msgspec import UNSET

from akmc.diff.entries import Entry, Subject, entries
from akmc.diff.model import PlanDiff, ProseLine
from akmc.diff.text_format import place_text, reuse_counts, summary_line
from akmc.render.escape import visible

_STYLE: Final = """\
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color: #1f2328 }
code, pre { font: 13px/1.5 ui-monospace, monospace }
pre { background: #f6f8fa; padding: .6rem; overflow-x: auto }
li { margin: .5rem 0 }
table { border-collapse: collapse }
td, th { border: 1px solid #d0d7de; padding: .2rem .6rem; text-align: left }
del { background: #ffebe9; text-decoration: none } ins { background: #dafbe1; text-decoration: none }
del b { background: #ff818266 } ins b { background: #4ac26b66 }
.place, .skip { color: #59636e }
.breaking { color: #b3261e } .security { color: #8250df } .behaviour { color: #9a6700 } .provenance { color: #59636e }
"""
_POLICY: Final = (
    '<meta http-equiv="Content-Security-Policy"'
    " content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">"
)


def html_format(diff: PlanDiff, old: str, new: str) -> str:
    """The page; every piece of user text is escaped."""
    title = f"{_text(old)} → {_text(new)}"
    return page(
        f"Plan diff: {summary_line(diff)}",
        [f"<h1>{_text(summary_line(diff))}</h1>", f"<p>{title}</p>", *body_parts(diff)],
    )


def page(title: str, body: list[str]) -> str:
    """A whole document around ``body``."""
    head = f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n{_POLICY}\n<title>{_text(title)}</title>\n'
    return head + f"<style>\n{_STYLE}</style>\n" + "\n".join(body) + "\n</html>\n"


def body_parts(diff: PlanDiff) -> Iterator[str]:
    """Everything below the headline."""
    for name, rows in entries(diff.changes).items():
        yield from (f'<h2 class="{name}">{name}</h2>', "<ul>", *map(_entry, rows), "</ul>")
    if diff.changes and diff.steps:
        yield f"<details><summary>With <code>--reuse</code> of an old run: {reuse_counts(diff.steps)}</summary>"
        yield "<table><tr><th>Step<th>Finished units<th>Why"
        yield from (
            f"<tr><td><code>{_text(step.id)}</code><td>{step.reuse}<td>{_text(step.why)}" for step in diff.steps
        )
        yield "</table></details>"


def _entry(entry: Entry) -> str:
    change = entry.change
    about = ", ".join(map(_subject, entry.shown)) + (f" {entry.left_out}" if entry.left_out else "")
    text = f"<li>{about}: {_text(change.message)}"
    if change.place is not UNSET:
        text += f' <span class="place">{_text(place_text(change))}</span>'
    if change.prose is not UNSET:
        text += (
            "<details open><summary>text</summary><pre>"
            + "\n".join(map(_prose_line, change.prose))
            + "</pre></details>"
        )
    return text


def _subject(subject: Subject) -> str:
    names = " › ".join(f"<code>{_text(name)}</code>" for name in subject.names)
    return " ".join(filter(None, (f"<b>{subject.what}</b>", names, f"({subject.aspect})" if subject.aspect else "")))


def _prose_line(line: ProseLine) -> str:
    if line.op == "~":
        return f'<span class="skip">  ... {_text(line.text)}</span>'
    if line.op == "=":
        return f"  {_text(line.text)}"
    tag = "del" if line.op == "-" else "ins"
    parts: list[str] = []
    end = 0
    for start, stop in line.marks:
        parts += [_text(line.text[end:start]), f"<b>{_text(line.text[start:stop])}</b>"]
        end = stop
    return f"<{tag}>{line.op} {''.join([*parts, _text(line.text[end:])])}</{tag}>"


def _text(text: str) -> str:
    return escape(visible(text))
