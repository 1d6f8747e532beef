"""A comparison as one self-contained HTML page: no script, no network."""

from __future__ import annotations

from html import escape
from typing import Final

from msgspec import UNSET

from akmc.diff.model import CLASSES, Change, PlanDiff, ProseLine
from akmc.diff.text_format import summary_line
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


def html_format(diff: PlanDiff, old: str, new: str) -> str:
    """The page; every piece of user text is escaped."""
    title = f"{_text(old)} → {_text(new)}"
    body = [f"<h1>Plan diff: {title}</h1>", f"<p>{_text(summary_line(diff))}</p>"]
    for name in CLASSES:
        changes = [change for change in diff.changes if change.class_ == name]
        if changes:
            body += [f'<h2 class="{name}">{name}</h2>', "<ul>", *map(_change, changes), "</ul>"]
    if diff.changes and diff.steps:
        body += ["<h2>Reuse of an old run's units</h2>", "<table>", "<tr><th>Step<th><code>--reuse</code><th>Why"]
        body += [f"<tr><td><code>{_text(step.id)}</code><td>{step.reuse}<td>{_text(step.why)}" for step in diff.steps]
        body.append("</table>")
    head = f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Plan diff: {title}</title>\n'
    return head + f"<style>\n{_STYLE}</style>\n" + "\n".join(body) + "\n</html>\n"


def _change(change: Change) -> str:
    text = f"<li><code>{_text(change.path)}</code>: {_text(change.message)}"
    if change.place is not UNSET:
        text += f' <span class="place">({_text(change.place.file)}:{change.place.line}, {change.place.side})</span>'
    if change.prose is not UNSET:
        text += "<pre>" + "\n".join(map(_prose_line, change.prose)) + "</pre>"
    return text


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
