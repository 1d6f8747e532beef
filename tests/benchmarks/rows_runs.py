"""Large runs: going on with one, looking at one, and what one takes of memory."""

from __future__ import annotations

import functools
import json
import pathlib
import sys
import tempfile
from dataclasses import dataclass

from .harness import Figure, Goal, Row, Scale, below, program, spend, within

UNITS = 10_000
WIDTH = 8
RESULT_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Finished:
    """A folder with a state file ``run.db`` in which the run ``run_id`` has all its units finished; ``peak_mb`` was its peak."""

    folder: pathlib.Path
    run_id: str
    peak_mb: float
    kept: tempfile.TemporaryDirectory[str]


@functools.cache
def finished(units: int) -> Finished:
    """A run of so many units (one of them quiet, the others a map in its last step), done except that the run's outputs do not resolve.

    So it is still active, and going on with it has nothing to dispatch: every result is read and reduced again.
    """
    return _ran(units, "'true'", "steps.quiet.output", status=1)


@functools.cache
def printed(units: int) -> Finished:
    """A completed run of so many units with results of ``RESULT_BYTES``, all of which it exports and prints with ``--json``."""
    return _ran(units, "cat, result", "steps.m.output", status=0)


def _ran(units: int, command: str, said: str, *, status: int) -> Finished:
    kept = tempfile.TemporaryDirectory()
    folder = pathlib.Path(kept.name)
    (folder / "workflows").mkdir()
    (folder / "result").write_text("x" * RESULT_BYTES)
    (folder / "workflows" / "m.md").write_text(
        f"---\nparams: {{rows: {{type: array}}}}\noutputs: {{said: {{from: {said}}}}}\nsteps:\n"
        "  - {id: quiet, unit: {exec: {command: ['true']}}}\n"
        f"  - id: m\n    map:\n      over: params.rows\n      concurrency: {WIDTH}\n"
        f"      unit: {{exec: {{command: [{command}]}}}}\n---\n## quiet\n\nSays nothing.\n\n## m\n\nRuns.\n"
    )
    (folder / "wide.json").write_text(json.dumps({"workflow": {"maxConcurrency": WIDTH}}))
    (folder / "p.json").write_text(json.dumps({"rows": list(range(units - 1))}))
    spend([*program("akmc"), "compile", "--config", "wide.json", "workflows/m.md", "-o", "plan.json"], folder)
    words = [*program("akm-run"), "plan.json", "--params-file", "p.json", "--host-concurrency", str(WIDTH)]
    spent = spend([*words, "--db", "run.db", "--json"], folder, fine=(status,))
    # what a run prints is not kept here: a program's peak counts from that of the process that started it
    listed = spend([*program("akm-run"), "list", "--db", "run.db", "--json"], folder, keep=True)
    return Finished(folder, json.loads(listed.out)["runs"][0]["runId"], spent.peak_mb, kept)


def _floor(folder: pathlib.Path, rounds: int) -> float:
    words = [sys.executable, "-c", "import click, msgspec, sqlite3"]
    return min(spend(words, folder).wall for _ in range(rounds))


def _continued(scratch: pathlib.Path, scale: Scale) -> Figure:
    run = finished(scale.of(UNITS, 1000))
    words = [*program("akm-run"), run.run_id, "--db", "run.db"]
    ours = min(spend(words, run.folder, fine=(1,)).wall for _ in range(scale.rounds))
    return Figure(ours, _floor(run.folder, scale.rounds))


def _status(scratch: pathlib.Path, scale: Scale) -> Figure:
    run = finished(scale.of(UNITS, 1000))
    words = [*program("akm-run"), "status", run.run_id, "--db", "run.db"]
    ours = min(spend(words, run.folder).wall for _ in range(scale.rounds))
    return Figure(ours, _floor(run.folder, scale.rounds))


def _memory(scratch: pathlib.Path, scale: Scale) -> Figure:
    run = printed(scale.of(UNITS, 1000))
    return Figure(run.peak_mb, spend([*program("akm-run"), "--help"], scratch).peak_mb, "MB")


def _looking(scratch: pathlib.Path, scale: Scale) -> Figure:
    """The most that looking at the run takes, by any command that prints all of it."""
    run = printed(scale.of(UNITS, 1000))
    peaks = [
        spend([*program("akm-run"), *words, "--db", "run.db"], run.folder).peak_mb
        for words in ([run.run_id], [run.run_id, "--json"], ["status", run.run_id, "--json"], ["output", run.run_id])
    ]
    return Figure(max(peaks), spend([*program("akm-run"), "--help"], scratch).peak_mb, "MB")


def _growth(scratch: pathlib.Path, scale: Scale) -> Figure:
    """By how much the peak grows from a tenth of the units to all of them, against the artifact's own growth."""
    units = scale.of(UNITS, 1000)
    few, many = printed(units // 10), printed(units)
    return Figure(many.peak_mb - few.peak_mb, (units - units // 10) * RESULT_BYTES / 1024**2, "MB")


# the values themselves, and under 1 KiB of state for each unit
_FLAT = Goal("<= 1.3x the artifact's growth", lambda figure: figure.ratio <= 1.3)

ROWS = (
    Row("akm-run RUN_ID, 10 000 finished units / import click, msgspec, sqlite3", within(1.0), _continued),
    Row("akm-run status, 10 000 finished units / import click, msgspec, sqlite3", within(0.3), _status),
    Row("peak memory, 10 000 units with 4 KiB results / akm-run --help", below(150, "MB"), _memory),
    Row("peak memory of looking at 10 000 units with 4 KiB results / akm-run --help", below(50, "MB"), _looking),
    Row("growth of memory from 1 000 to 10 000 units / growth of the artifact", _FLAT, _growth),
)
