"""``akm-run report`` as a person types it: where the page goes, who can read it, what is left alone."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import stat
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker
    from tests.runtime.report.conftest import Scribe, Telling

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def told(plans: PlanMaker, scribe: Scribe) -> Telling:
    run = scribe.publish(plans.data(plans.step("alpha-step", plans.unit("true"))))
    return run.unit(0, "alpha-step:solo", "made").settle(0, artifact="made", unit_count=1).end("completed")


def test_the_page_is_private_and_replaced_as_a_whole(run_program: Run, tmp_path: Path, told: Telling) -> None:
    done = run_program("akm-run", "report", told.run_id, "-o", "page.html")
    assert done.stdout == "" and done.stderr == "wrote page.html\n"
    path = tmp_path / "page.html"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.write_text("old")
    path.chmod(0o644)
    (tmp_path / "link.html").symlink_to("page.html")
    run_program("akm-run", "report", told.run_id, "-o", "link.html")
    assert (tmp_path / "link.html").is_symlink()
    assert path.read_text().startswith("<!DOCTYPE html>") and path.read_text().endswith("</html>\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir() if entry.name.startswith(".page")] == []


def test_without_a_name_the_page_is_named_after_the_run(run_program: Run, tmp_path: Path, told: Telling) -> None:
    done = run_program("akm-run", "report", told.run_id)
    assert done.stderr == f"wrote report-{told.run_id}.html\n"
    assert "alpha-step" in (tmp_path / f"report-{told.run_id}.html").read_text()


def test_a_run_that_no_file_can_be_named_after_needs_a_name(run_program: Run, tmp_path: Path, told: Telling) -> None:
    with closing(sqlite3.connect(told.journal.path)) as raw, raw:
        for table in ("events", "units", "steps", "runs"):
            raw.execute(f"UPDATE {table} SET run_id = '../x'")
    done = run_program("akm-run", "report", "../x", expect=2)
    assert 'a file cannot be named after run "../x"' in done.stderr and "-o FILE" in done.stderr
    run_program("akm-run", "report", "../x", "-o", "page.html")
    assert "'../x'" not in (tmp_path / "page.html").read_text()


def test_stdout_and_pipes_are_written_as_they_are(run_program: Run, tmp_path: Path, told: Telling) -> None:
    page = run_program("akm-run", "report", told.run_id, "-o", "-").stdout
    assert page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n")
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE, text=True) as reader:
        assert run_program("akm-run", "report", told.run_id, "-o", "pipe").stderr == "wrote pipe\n"
        assert _timeless(reader.communicate(timeout=60)[0]) == _timeless(page)


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ("nowhere/page.html", 'cannot write "nowhere/page.html": No such file or directory'),
        (".", 'cannot write ".": Is a directory'),
        (".akm/state.db", '".akm/state.db" is the state file itself'),
    ],
)
def test_what_cannot_be_written_is_said(run_program: Run, told: Telling, target: str, says: str) -> None:
    assert says in run_program("akm-run", "report", told.run_id, "-o", target, expect=2).stderr


def test_an_unknown_run_leaves_no_file(run_program: Run, tmp_path: Path, told: Telling) -> None:
    assert "is no run of" in run_program("akm-run", "report", "no-such-run", "-o", "page.html", expect=2).stderr
    assert not (tmp_path / "page.html").exists()


def test_the_state_file_is_only_read(run_program: Run, tmp_path: Path, told: Telling) -> None:
    told.journal.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = hashlib.sha256(told.journal.path.read_bytes()).hexdigest()
    run_program("akm-run", "report", told.run_id, "-o", "page.html")
    assert hashlib.sha256(told.journal.path.read_bytes()).hexdigest() == before


def test_a_writer_is_not_waited_for(run_program: Run, tmp_path: Path, told: Telling) -> None:
    told.journal.connection.execute("BEGIN IMMEDIATE")
    try:
        run_program("akm-run", "report", told.run_id, "-o", "page.html")
    finally:
        told.journal.connection.execute("ROLLBACK")
    assert "alpha-step" in (tmp_path / "page.html").read_text()


def test_an_exported_and_imported_run_gives_the_same_page(run_program: Run, tmp_path: Path, told: Telling) -> None:
    run_program("akm-run", "export", told.run_id, "-o", "run.akmrun")
    other = tmp_path / "other"
    (other / ".akm").mkdir(parents=True)
    run_program("akm-run", "import", str(tmp_path / "run.akmrun"), cwd=other)
    here = run_program("akm-run", "report", told.run_id, "-o", "-").stdout
    there = run_program("akm-run", "report", told.run_id, "-o", "-", cwd=other).stdout
    assert _timeless(there) == _timeless(here)


def test_a_state_file_in_a_read_only_folder_is_read(run_program: Run, tmp_path: Path, told: Telling) -> None:
    told.journal.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    fixed = tmp_path / "fixed"
    fixed.mkdir()
    shutil.copyfile(told.journal.path, fixed / "state.db")
    fixed.chmod(0o500)
    try:
        run_program("akm-run", "report", told.run_id, "--db", "fixed/state.db", "-o", "page.html")
    finally:
        fixed.chmod(0o700)
    assert "alpha-step" in (tmp_path / "page.html").read_text()


def _timeless(page: str) -> list[str]:
    return [line for line in page.splitlines() if not line.startswith('<p class="note">Written ')]
