"""All attempts as data for the page's script: one island of JSON per run, a line per attempt, written as it is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from akm_run.journal.excerpts import Attempt, attempts
from akm_run.report.part import Part
from akm_run.report.texts import Piece, for_script
from akm_run.report.words import ATTEMPT_WORDS, seconds_of, sign, span_of, tone

_SLACK: Final = 16  # bytes: an escape that the end of a head cuts through is left out


def island(part: Part, room: int) -> Iterator[str]:
    """The attempts of a run, each text within ``room`` bytes. Its lines are what ``page.js`` calls a row."""
    yield f'<script type="application/json" class="attempts" data-run="{part.shown.number}">['
    comma = ""
    for attempt in attempts(part.journal, part.run_id, room + _SLACK):
        yield comma + for_script(_row(part, attempt, room))
        comma = ",\n"
    yield "]</script>"


def names(parts: list[Part]) -> str:
    """What the rows refer to by number: runs with their steps, and the words of statuses."""
    runs = [
        {
            "id": part.texts.plain(part.run_id),
            "path": [part.texts.piece(unit, 256).text for unit in part.shown.path],
            "steps": [part.texts.piece(row.step_id, 256).text for row in part.rows],
        }
        for part in parts
    ]
    words = [{"word": word, "tone": tone(word), "sign": sign(word)} for word in ATTEMPT_WORDS]
    numbers = [part.shown.number for part in parts]
    data = {"runs": dict(zip(map(str, numbers), runs, strict=True)), "words": words}
    return f'<script type="application/json" id="names">{for_script(data)}</script>'


def _row(part: Part, attempt: Attempt, room: int) -> list[object]:
    """id, step, word, attempt, round, facts, start in ms after the run's, duration in ms, tokens, input, output, diagnostic.

    A text is ``[text]``, with the size of the whole behind it where it was cut, and 0 where there is none.
    """
    span = span_of(attempt)
    word = part.word(attempt)
    begun = seconds_of(part.shown.run.created_at)
    return [
        part.texts.piece(attempt.unit_id, 512).text,
        attempt.step,
        ATTEMPT_WORDS.index(word),
        attempt.attempt,
        attempt.loop,
        _facts(part, attempt),
        round(1000 * (span.start - begun)),
        None if span.end is None else round(1000 * (span.end - span.start)),
        attempt.tokens,
        _text(_input(part, attempt, room)),
        _text(None if attempt.result is None else part.texts.excerpt(attempt.result, room)),
        _text(part.texts.piece(attempt.diagnostic, room) if attempt.diagnostic else None),
    ]


def _facts(part: Part, attempt: Attempt) -> str:
    told = ["judge call"] if attempt.role == "judge" else []
    told += [attempt.reason] if attempt.reason else []
    told += {"correction": ["corrective attempt"], "again": ["tried again"]}.get(attempt.cause, [])
    told += [f"from run {attempt.reused_run}"] if attempt.reused_run else []
    told += [f"dispatched {attempt.spawns} times"] if attempt.spawns > 1 else []
    told += [f"item {attempt.item_index}"] if attempt.item_index is not None else []
    return part.texts.piece(", ".join(told), 256).text


def _input(part: Part, attempt: Attempt, room: int) -> Piece | None:
    step = part.step(attempt.step)
    if step is None or attempt.item_index is None:
        return None
    return part.inputs.item(step, attempt.item_index, room)


def _text(piece: Piece | None) -> object:
    if piece is None:
        return 0
    return [piece.text, piece.size] if piece.cut else [piece.text]
