"""A run's results are printed piece by piece: the same bytes as of the whole, in memory that does not grow with them."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest

from akm_run import cli
from akm_run.console import escaped_json
from akm_run.events import RunSettled, StepSettled, UnitFinished, UnitStarted
from akm_run.journal import Journal, blobs
from akm_run.journal.archive import Archive
from akm_run.rows import Publication
from akm_run.values import decoded, encoded
from akm_schemas.canonical import canonical_text
from akm_schemas.hashing import sha256_hex
from akm_schemas.json_types import Json
from akm_schemas.visible import visible_rows

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]
AT = "2026-03-01T12:00:00.000Z"
RUN_ID = "20260301-120000-1f2e3d4c"
HARD: list[Json] = [
    [1e21, 1e20, -0.0, 5e-324, 0.1, 2**53, None, True],
    ["\u202e\x7f\x9b", '\\"', "\x1b[31m", "é\U0001f600", "]},{["] * 9000,
    {"b": [{"deep": [[["x" * 500] * 300]]}], "a": "\r\n\t", "": {}},
    "text\u2066\x07 with \n lines" * 6000,
    "\U0001f600" * 1999 + "\x00é",
    [],
    {},
    "",
    [["y" * 200_000, "\\" * 70_000], {"k" * 70_000: 1}],
    ["\\" * 400_000, ["z" * 4096] * 200, [], {"\\" * 300_000: ["]"] * 90_000}],
]


def completed(path: Path, plans: PlanMaker, values: list[Json]) -> None:
    """A state file with a completed run, each of whose steps has promoted one of ``values``, which it exports."""
    names = [f"s{index}" for index in range(len(values))]
    plan = plans.plan(*map(plans.step, names), outputs={name: f"steps.{name}.output" for name in names})
    with closing(Journal.create_or_open(path)) as journal:
        steps = tuple((step.id, step.kind) for step in plan.steps)
        journal.publish(Publication(RUN_ID, b"{}", "Case", "workflows/c", "p", "c", True, {}, 8, steps), AT)
        for index, value in enumerate(values):
            unit_id = f"s{index}:solo"
            journal.commit(RUN_ID, [UnitStarted(index, unit_id, unit_id, 1, 1, "unit", "first", "h")], AT)
            journal.commit(RUN_ID, [UnitFinished(index, unit_id, unit_id, "said")], AT)
            journal.commit(RUN_ID, [StepSettled(index, "completed", value)], AT)
        outputs = dict(zip(names, values, strict=True))
        journal.commit(RUN_ID, [RunSettled("completed", outputs)], AT)


def printed(capfdbinary: pytest.CaptureFixture[bytes], *words: str) -> bytes:
    assert cli.run(list(words)) == 0
    return capfdbinary.readouterr().out


def json_text(value: object) -> bytes:
    return escaped_json(msgspec.json.format(msgspec.json.encode(value), indent=2)) + b"\n"


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path / ".akm" / "state.db"


def test_documents_are_those_of_the_whole(
    there: Path, plans: PlanMaker, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    completed(there, plans, HARD)
    values = {f"s{index}": decoded(encoded(value)) for index, value in enumerate(HARD)}
    document = printed(capfdbinary, "status", RUN_ID, "--units", "--json")
    found = json.loads(document)
    assert (
        json_text(found | {"outputs": values, "steps": [s | {"output": values[s["id"]]} for s in found["steps"]]})
        == document
    )
    assert len(found["units"]) == len(HARD) and found["commands"] == []
    assert printed(capfdbinary, RUN_ID, "--json") == printed(capfdbinary, "status", RUN_ID, "--json")
    assert printed(capfdbinary, "output", RUN_ID) == json_text(values)
    for name, value in values.items():
        expected = f"{value}\n".encode() if isinstance(value, str) else json_text(value)
        assert printed(capfdbinary, "output", RUN_ID, name) == expected


def test_text_has_the_beginning_of_each_value(
    there: Path, plans: PlanMaker, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    completed(there, plans, HARD)
    text = printed(capfdbinary, "status", RUN_ID).decode()
    for index, value in enumerate(HARD):
        whole = value if isinstance(value, str) else canonical_text(value)
        clipped = f"{whole[:2000]} ... ({len(whole)} characters; --json shows all)" if len(whole) > 2000 else whole
        first, *others = visible_rows(clipped.removesuffix("\n"))
        clipped = "\n".join([first, *(f"        | {row}".rstrip() for row in others)])
        assert f"\n      output: {clipped}\n" in text
        assert f"\n  s{index}: {clipped}\n" in text


@pytest.mark.parametrize("words", ["{}", "{} --json", "status {}", "status {} --json", "output {}", "output {} s0"])
def test_memory_does_not_grow_with_results(
    there: Path, plans: PlanMaker, capfdbinary: pytest.CaptureFixture[bytes], words: str
) -> None:
    completed(there, plans, [["x" * 4096] * 3000])
    size = 3000 * 4099
    command = words.format(RUN_ID).split()
    assert cli.run(command) == 0  # what is imported on use is no part of it
    capfdbinary.readouterr()
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        code = cli.run(command)
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    out = capfdbinary.readouterr().out
    assert code == 0 and (len(out) > size or "json" not in words)
    assert peak < size / 4


def test_large_exports_lie_beside_their_run(there: Path, plans: PlanMaker) -> None:
    values: list[Json] = [["x" * 4096] * 400, {"n": 1.0}, "é"]
    completed(there, plans, values)
    outputs: Json = {f"s{index}": value for index, value in enumerate(values)}
    with closing(sqlite3.connect(there)) as raw:
        stored = raw.execute("SELECT outputs, outputs_blob FROM runs").fetchone()
        assert stored == (None, sha256_hex(encoded(outputs)))
        assert raw.execute("SELECT data FROM blobs WHERE sha256 = ?", stored[1:]).fetchone() == (encoded(outputs),)
    with closing(Journal.create_or_open(there)) as journal:
        assert journal.outputs(RUN_ID) == decoded(encoded(outputs))
        Archive(journal).export([RUN_ID], there.parent / "one", there.parent / "one")
        Archive(journal).delete([RUN_ID])
        assert journal.connection.execute("SELECT count(*) FROM blobs").fetchone() == (0,)
    with closing(Journal.create_or_open(there.parent / "one")) as journal:
        assert journal.outputs(RUN_ID) == decoded(encoded(outputs))


@pytest.mark.parametrize("words", ["status {}", "status {} --json", "output {}", "{} --json"])
def test_nothing_is_printed_of_a_damaged_run(
    there: Path, plans: PlanMaker, capfdbinary: pytest.CaptureFixture[bytes], words: str
) -> None:
    completed(there, plans, [["x" * 4096] * 400])
    with closing(sqlite3.connect(there)) as raw, raw:
        for (rowid,) in raw.execute("SELECT rowid FROM blobs").fetchall():
            with raw.blobopen("blobs", "data", rowid) as blob:
                blob.seek(-9, 2)
                blob.write(b"\xff")
    assert cli.run(words.format(RUN_ID).split()) == 2
    found = capfdbinary.readouterr()
    assert found.out == b"" and b"is damaged: a stored value is no canonical JSON" in found.err


def test_a_reader_that_goes_ends_it_quietly(there: Path, plans: PlanMaker, run_program: Run) -> None:
    completed(there, plans, [["x" * 4096] * 3000])
    script = f"{sys.executable} -m akm_run status {RUN_ID} --json | head -c 100000 | wc -c; exit ${{PIPESTATUS[0]}}"
    done = run_program("bash", "-c", script)
    assert (done.stdout.strip(), done.stderr) == ("100000", "")


def test_a_small_result_is_not_taken_apart(there: Path, plans: PlanMaker) -> None:
    """Exports within the bound stay in their row, as every older file has them."""
    completed(there, plans, [[1, 2]])
    with closing(sqlite3.connect(there)) as raw:
        assert raw.execute("SELECT outputs, outputs_blob FROM runs").fetchone() == (b'{"s0":[1,2]}', None)
        assert blobs.store(raw, {"s0": [1, 2]}) == (b'{"s0":[1,2]}', None)
