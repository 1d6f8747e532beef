"""The page: one file, no network, the same for every run. Written part by part, never in memory as a whole.

The browser is told to load nothing and to run our script alone (a content security policy with its hash), so that even
a hole in the escaping would run nothing of a program's output.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Generator, Iterator
from html import escape

from akm_run.journal import Journal
from akm_run.journal.excerpts import one_moment
from akm_run.recovery import exports
from akm_run.report.assets import page_script, page_style
from akm_run.report.drawing import drawing
from akm_run.report.failures import failures, title
from akm_run.report.gates import gates
from akm_run.report.heading import run_facts, run_word, status_line
from akm_run.report.html import block, section, shown_by
from akm_run.report.part import Part, read_part
from akm_run.report.steps import steps
from akm_run.report.texts import Texts
from akm_run.report.timeline import timeline
from akm_run.report.tree import Shown, read_tree, text_room, texts_for
from akm_run.report.units import island, names
from akm_run.report.words import counted, pill, seconds_of, when
from akm_run.rows import RunRow
from akm_schemas.bounds import REPORT_VALUE_BYTES

_DEEPEST_HEADING = 6


def page(journal: Journal, run: RunRow, at: str) -> Generator[str]:
    """The page of a run as pieces of HTML; ``at`` is now, ISO 8601. All of it is of one moment of the journal."""
    with one_moment(journal):
        fresh = journal.run(run.run_id) or run
        root = read_tree(journal, fresh)
        texts = texts_for(root)
        writer = _Writer(journal, texts, seconds_of(at))
        for piece in writer.page(root, at):
            yield f"{piece}\n"


class _Writer:
    """Writes the parts of one tree of runs."""

    def __init__(self, journal: Journal, texts: Texts, now: float) -> None:
        self._journal = journal
        self._texts = texts
        self._now = now

    def page(self, root: Shown, at: str) -> Iterator[str]:
        """Everything."""
        part = self._part(root)
        heading = self._texts.line(root.run.title or root.run.ref)
        yield from _head(heading, run_word(part))
        yield '<body>\n<a class="skip" href="#main">Skip to the run</a>'
        yield f"<header><h1>{heading}</h1>"
        yield status_line(part)
        yield f'<p class="note">Written {when(at)} by <code>akm-run report {self._texts.line(root.run.run_id)}</code>.'
        yield "It shows that moment; the command shows a later one.</p>"
        yield from self._contents(part)
        yield "</header>"
        yield '<main id="main">'
        yield from self._sections(part, 2, units=_units_tool(root))
        yield "</main>"
        yield from self._islands(root)
        yield f"<script>{page_script()}</script>\n</body>\n</html>"

    def _part(self, shown: Shown) -> Part:
        return read_part(self._journal, shown, self._texts, self._now)

    def _sections(self, part: Part, level: int, units: Iterator[str]) -> Iterator[str]:
        anchor = part.anchor
        yield from section(anchor("failures"), title(part), level, failures(part))
        yield from section(anchor("facts"), "Run", level, run_facts(part))
        yield '<div class="panes">'
        yield from section(anchor("graph"), "Graph", level, drawing(part))
        yield from section(anchor("steps"), "Steps", level, steps(part))
        yield "</div>"
        yield from section(anchor("timeline"), "Timeline", level, timeline(part))
        yield from section(anchor("gates"), "Gates", level, gates(part))
        yield from section(anchor("outputs"), "Outputs", level, self._outputs(part))
        yield from section(anchor("notices"), "Notices", level, self._notices(part))
        yield from section(anchor("children"), "Children", level, self._children(part, level))
        yield from section("units", "Units", level, units)

    def _contents(self, part: Part) -> Iterator[str]:
        """Links to the sections that there are."""
        there = {
            "failures": any(failures(part)),
            "graph": part.shown.plan is not None,
            "steps": True,
            "timeline": any(timeline(part)),
            "gates": any(gates(part)),
            "outputs": True,
            "notices": bool(part.notices),
            "children": bool(part.shown.children),
        }
        links = [
            (part.anchor(name), title(part) if name == "failures" else name.capitalize())
            for name, wanted in there.items()
            if wanted
        ]
        links += [("units", "Units")] if any(shown.attempts for shown in part.shown.all()) else []
        items = " ".join(f'<a href="#{anchor}">{name}</a>' for anchor, name in links)
        yield f'<nav aria-label="sections">{items}</nav>'

    def _outputs(self, part: Part) -> Iterator[str]:
        found = exports(self._journal, part.shown.run)
        if found is None:
            yield '<p class="note">None yet: they are resolved when the run completes.</p>'
            return
        room = max(512, REPORT_VALUE_BYTES.high * 8 // max(8, len(found)))
        for name, value in sorted(found.items()):
            yield f"<h4><code>{self._texts.line(name)}</code></h4>"
            whole = shown_by("akm-run", "output", part.run_id, *((name,) if part.shown.run.exports else ()))
            yield from block(self._texts.value(value, room), whole, f"output {name}")

    def _notices(self, part: Part) -> Iterator[str]:
        if not part.notices:
            return
        yield "<ul>"
        for notice in part.notices:
            yield f"<li><code>{self._texts.line(notice.unit or notice.step)}</code> {self._texts.line(notice.text)}</li>"
        yield "</ul>"

    def _children(self, part: Part, level: int) -> Iterator[str]:
        for child in part.shown.children:
            yield from self._child(child, min(level + 1, _DEEPEST_HEADING))

    def _child(self, child: Shown, level: int) -> Iterator[str]:
        text = self._texts.line
        name = f"<b>{text(child.path[-1])}</b> <code>{text(child.run.ref)}</code> <code>{text(child.run.run_id)}</code>"
        if not child.whole:
            command = f"<code>akm-run report {text(child.run.run_id)}</code>"
            yield f"<p>{pill(child.run.status)} {name}: {command} shows it.</p>"
            return
        part = self._part(child)
        yield f'<details class="run" id="{part.anchor()}"><summary>{pill(run_word(part))} {name}</summary>'
        yield f'<div class="inside" role="group" aria-label="run {text(child.run.run_id)}">'
        yield status_line(part)
        yield from self._sections(part, level, units=iter(()))
        if child.attempts:
            yield f'<p class="tools" hidden><button type="button" data-units="{child.number}">Show its units below</button></p>'
        yield "</div></details>"

    def _islands(self, root: Shown) -> Iterator[str]:
        whole = [shown for shown in root.all() if shown.whole]
        yield names([self._part(shown) for shown in whole])
        room = text_room(root)
        for shown in whole:
            yield from island(self._part(shown), room)


def _head(heading: str, word: str) -> Iterator[str]:
    digest = base64.b64encode(hashlib.sha256(page_script().encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="referrer" content="no-referrer">'
    yield f"<title>{heading}: {escape(word)}</title>\n<style>\n{page_style()}</style>\n</head>"


def _units_tool(root: Shown) -> Iterator[str]:
    """Where the script lists the attempts; without scripts, what prints them instead."""
    count = sum(shown.attempts for shown in root.all())
    if not count:
        return
    inside = ", those of children among them" if root.children else ""
    command = f"<code>akm-run status {escape(root.run.run_id)} --units</code>"
    yield f'<p id="no-script" class="note">{counted(count, "attempt")}{inside}. The list needs scripts; {command} prints it.</p>'
    yield '<form id="find" class="tools" role="search" aria-label="units" hidden>'
    yield '<label>Find <input id="find-text" type="search" placeholder="id, reason or text" autocomplete="off" spellcheck="false"></label>'
    for name, label in (("word", "Status"), ("run", "Run"), ("step", "Step")):
        yield f'<label>{label} <select id="find-{name}"></select></label>'
    yield "</form>"
    yield '<p id="found" class="note" role="status" aria-live="polite"></p>'
    yield '<div id="list" role="group" aria-label="attempts"></div>'
    yield '<p class="tools" hidden><button id="before" type="button">Previous</button> <button id="after" type="button">Next</button></p>'
