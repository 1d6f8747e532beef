"""When things happened: a row for each unit of a small step, packed rows for a large one.

A large step is drawn as one path per status, so that ten thousand attempts take a few hundred kilobytes at most.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Final

from msgspec import Struct

from akm_run.journal.excerpts import Attempt
from akm_run.report.part import Part
from akm_run.report.words import ATTEMPT_WORDS, counted, digits, lasting, pill, seconds_of, sign, span_of, tone
from akm_run.rows import StepRow

_SINGLE_ROWS: Final = 40  # units of a step that have a row each
_ALL_ROWS: Final = 400  # such rows of a run: then every step is packed
_MOST_LANES: Final = 64
_LANE: Final = 8  # px
_WIDE: Final = 1000  # of a packed drawing, in its own unit
_SEEN: Final = 0.8  # the least width of a packed bar, in that unit; four times as much for what did not go well


class _Scale(Struct, frozen=True):
    """From moments to shares of the width, in per cent."""

    start: float
    length: float

    def at(self, moment: float) -> float:
        return min(100.0, max(0.0, 100 * (moment - self.start) / self.length))


class _Bar(Struct, frozen=True):
    start: float
    end: float
    word: str


def timeline(part: Part) -> Iterator[str]:
    """The steps that were started, each with its attempts; nothing before the first one is."""
    started = [row for row in part.rows if row.started_at is not None]
    if not started:
        return
    begins = [seconds_of(row.started_at) for row in started if row.started_at is not None]
    first, last = min(begins), max(part.end_of(row) for row in started)
    scale = _Scale(first, max(last - first, 0.001))
    yield f'<p class="note">{lasting(scale.length)} from left to right. {_legend(part)}</p>'
    yield '<div class="timeline">'
    rows_left = _ALL_ROWS
    for row in started:
        units: dict[str, list[Attempt]] = {}
        for attempt in part.attempts_of(row.index):
            units.setdefault(attempt.key, []).append(attempt)
        single = len(units) <= min(_SINGLE_ROWS, rows_left)
        rows_left -= len(units) if single else 0
        yield from _step(part, row, scale)
        if single:
            for tried in units.values():
                yield _unit(part, row, tried, scale)
        else:
            yield _packed(part, row, scale)
    yield "</div>"


def _legend(part: Part) -> str:
    words = {part.word(attempt) for attempt in part.attempts}
    return " ".join(pill(word) for word in ATTEMPT_WORDS if word in words) + " · a thin line is waiting"


def _step(part: Part, row: StepRow, scale: _Scale) -> Iterator[str]:
    word = part.step_word(row)
    bar = _Bar(seconds_of(row.started_at or ""), part.end_of(row), word)
    name = f'<a href="#{part.anchor(f"step-{row.index}")}">{part.texts.line(row.step_id)}</a>'
    yield _row(f"<b>{name}</b>", _html(bar, scale, f"step, {word}"), "whole", lasting(bar.end - bar.start))


def _unit(part: Part, row: StepRow, tried: list[Attempt], scale: _Scale) -> str:
    bars = [_bar(part, attempt) for attempt in tried]
    waited = seconds_of(row.started_at or "")
    pieces = []
    for attempt, bar in zip(tried, bars, strict=True):
        if bar.start > waited:
            left, width = scale.at(waited), scale.at(bar.start) - scale.at(waited)
            pieces.append(f'<i class="wait" style="left:{left:.2f}%;width:{width:.2f}%"></i>')
        said = f"attempt {attempt.attempt}, {bar.word}, {lasting(bar.end - bar.start)}"
        pieces.append(_html(bar, scale, said))
        waited = bar.end
    more = f" · {len(tried)} attempts" if len(tried) > 1 else ""
    took = lasting(sum(bar.end - bar.start for bar in bars)) + more
    return _row(f"<code>{part.texts.line(tried[0].key)}</code>", "".join(pieces), "", took)


def _bar(part: Part, attempt: Attempt) -> _Bar:
    span, word = span_of(attempt), part.word(attempt)
    return _Bar(span.start, span.end if span.end is not None else part.end_of(part.rows[attempt.step]), word)


def _html(bar: _Bar, scale: _Scale, said: str) -> str:
    left, right = scale.at(bar.start), scale.at(bar.end)
    style = f"left:{left:.2f}%;width:{right - left:.2f}%"
    return f'<i class="bar {tone(bar.word)} {bar.word}" style="{style}" role="img" aria-label="{escape(said)}" title="{escape(said)}"><span aria-hidden="true">{sign(bar.word)}</span></i>'


def _row(name: str, bars: str, kind: str, took: str) -> str:
    return f'<div class="lane {kind}"><span class="who">{name}</span><span class="track">{bars}</span><span class="num">{took}</span></div>'


def _packed(part: Part, row: StepRow, scale: _Scale) -> str:
    """Attempts in as many lanes as ran at once, each in the first one that is free; what went well behind the rest."""
    free: list[float] = []
    paths: dict[str, list[str]] = {word: [] for word in ATTEMPT_WORDS}
    tried = part.attempts_of(row.index)
    for bar in sorted((_bar(part, attempt) for attempt in tried), key=lambda bar: bar.start):
        lane = next((index for index, end in enumerate(free) if end <= bar.start), len(free))
        if lane == len(free) and len(free) < _MOST_LANES:
            free.append(bar.end)
        lane = min(lane, _MOST_LANES - 1)
        free[lane] = max(free[lane], bar.end)
        left, right = (_WIDE / 100 * scale.at(moment) for moment in (bar.start, bar.end))
        width = max(right - left, _SEEN if tone(bar.word) == "good" else 4 * _SEEN)
        paths[bar.word].append(f"M{left:.1f} {lane * _LANE + 1}h{width:.1f}v6H{left:.1f}z")
    height = len(free) * _LANE
    there = {word: path for word, path in paths.items() if path}
    drawn = "".join(f'<path class="{tone(word)} {word}" d="{"".join(path)}"/>' for word, path in there.items())
    counts = ", ".join(f"{digits(len(path))} {word}" for word, path in there.items())
    said = f"{counted(len(tried), 'attempt')}: {counts}; at most {len(free)} at once"
    svg = (
        f'<svg viewBox="0 0 {_WIDE} {height}" preserveAspectRatio="none" style="height:{height}px" role="img"'
        f' aria-label="{escape(said)}"><title>{escape(said)}</title>{drawn}</svg>'
    )
    return _row(f'<span class="note">{escape(said)}</span>', svg, "packed", "")
