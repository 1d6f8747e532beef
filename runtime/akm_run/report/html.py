"""The few shapes that the page's sections are made of. Arguments named ``html`` are HTML already."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from html import escape

from akm_run.report.texts import Piece
from akm_run.report.words import digits
from akm_schemas.drawing.text import xml


def facts(pairs: Iterable[tuple[str, str]], kind: str = "") -> Iterator[str]:
    """Names and their values, the values HTML; ``kind`` is one more class for long ones."""
    lines = [f"<div><dt>{escape(name)}</dt><dd>{html}</dd></div>" for name, html in pairs if html]
    if lines:
        yield f'<dl class="facts {kind}">{"".join(lines)}</dl>'


def block(piece: Piece, whole: str, label: str = "") -> Iterator[str]:
    """A text of several lines. ``whole`` says, as HTML, what shows all of it."""
    name = f' aria-label="{xml(label)}"' if label else ""
    yield f'<pre tabindex="0"{name}>{escape(piece.text)}</pre>' if piece.text else '<p class="note">an empty text</p>'
    if piece.cut:
        yield f'<p class="note">The beginning of {digits(piece.size)} bytes. {whole}</p>'


def shown_by(*words: str) -> str:
    """``<command> prints all of it.`` as HTML; what a shell would read otherwise is quoted."""
    return f"<code>{xml(shlex.join(words))}</code> prints all of it."


def section(anchor: str, title: str, level: int, body: Iterable[str], more: str = "") -> Iterator[str]:
    """A section with its heading; nothing at all where the body is empty. ``more`` is HTML beside the heading."""
    lines = iter(body)
    first = next(lines, None)
    if first is None:
        return
    yield f'<section id="{anchor}" aria-labelledby="{anchor}-title">'
    yield f'<h{level} id="{anchor}-title">{escape(title)}{more}</h{level}>'
    yield first
    yield from lines
    yield "</section>"
