"""State files that cannot be used: each a fault that names the file and what to do, and nothing else is lost."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from akm_run.journal.schema import APPLICATION_ID, SCHEMA_VERSION

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]
ITEMS = 30
STATE = Path(".akm", "state.db")
# akm-run on a disk that is full for the state file: no connection gets more pages than argv[1] says
FULL = """
import sqlite3, sys
connect = sqlite3.connect
def limited(*values, **named):
    made = connect(*values, **named)
    made.execute(f"PRAGMA max_page_count={pages}")
    return made
pages = sys.argv.pop(1)
sqlite3.connect = limited
from akm_run.cli import main
main()
"""


def document(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


@pytest.fixture
def plan(tmp_path: Path, plans: PlanMaker) -> str:
    """A map of units that say that they ran, with results of 20 000 bytes, and a child."""
    item = 'echo "$AKM_ITEM" >> n.txt; head -c 20000 /dev/zero | tr "\\0" x'
    data = plans.data(
        plans.step("m", plans.unit("sh", "-c", item), over="params.l"),
        plans.step("kid", plans.child(plans.data(plans.step("leaf", plans.unit("echo", "leaf"))))),
        params={"l": {"type": "array", "default": list(range(ITEMS))}},
    )
    (tmp_path / "plan.json").write_bytes(data)
    return "plan.json"


def full(run_program: Run, pages: int, *words: str) -> subprocess.CompletedProcess[str]:
    done = run_program(sys.executable, "-c", FULL, str(pages), *words, expect=2)
    assert 'state.db" cannot be written: the disk is full' in done.stderr
    assert "free space; akm-run RUN_ID goes on with a run that is still active" in done.stderr
    return done


@pytest.mark.parametrize("pages", [8, 20, 60, 100, 165])
def test_a_full_disk_at_any_size(run_program: Run, tmp_path: Path, plan: str, pages: int) -> None:
    full(run_program, pages, plan, "--json", "--host-concurrency", "2")
    runs = document(run_program("akm-run", "list", "--json"))["runs"]
    if not runs:
        assert pages == 8, "there was no room for the run itself"
        return
    (run,) = runs
    assert run["status"] == "active"
    assert document(run_program("akm-run", run["runId"], "--json"))["status"] == "completed"
    ran = (tmp_path / "n.txt").read_text().split()
    assert set(ran) == {str(item) for item in range(ITEMS)}
    assert len(ran) <= ITEMS + 2, "only what was in flight ran again"
    assert list((tmp_path / ".akm" / "state.db.locks").iterdir()) == []


def test_a_full_disk_and_the_other_commands(run_program: Run, tmp_path: Path, plan: str) -> None:
    run_id = document(run_program("akm-run", plan, "--json", "--max-steps", "1"))["runId"]
    run_program("akm-run", "abandon", run_id)
    with closing(sqlite3.connect(tmp_path / STATE)) as raw:
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (pages,) = raw.execute("PRAGMA page_count").fetchone()
        raw.execute("CREATE TABLE filler (data)")  # the free pages of the file are used up
        raw.execute("DROP TABLE filler")
    for words in (["status", run_id], ["list"], ["events", run_id], ["output", run_id]):
        run_program(sys.executable, "-c", FULL, str(pages), *words)
    before = run_program("akm-run", "status", run_id, "--json").stdout
    full(run_program, pages, plan)
    assert run_program("akm-run", "status", run_id, "--json").stdout == before
    assert len(document(run_program("akm-run", "list", "--json"))["runs"]) == 1


def test_a_full_disk_behind_events_and_record(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a", plans.ask()), plans.step("b")))
    for option in ("--events", "--record"):
        done = run_program("akm-run", "plan.json", "--json", option, "/dev/full", expect=1)
        assert f'cannot write {option} "/dev/full": No space left on device' in done.stderr
        assert "the run is not affected" in done.stderr
        found = document(done)
        assert found["status"] == "completed"
        assert '"run.settled"' in run_program("akm-run", "events", found["runId"]).stdout


def test_a_reader_of_events_that_goes_away(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    (tmp_path / "plan.json").write_bytes(plans.data(*(plans.step(name) for name in "abcdef")))
    script = f"mkfifo pipe; head -n 1 pipe > first & exec {sys.executable} -m akm_run plan.json --json --events pipe"
    done = run_program("sh", "-c", script)
    assert document(done)["status"] == "completed" and done.stderr == ""


def test_a_read_only_folder(run_program: Run, tmp_path: Path, plan: str) -> None:
    obey: list[str] = []
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("root may write everywhere, and there is no setpriv to take that away")
        obey = ["setpriv", "--bounding-set=-dac_override"]
    run = [*obey, sys.executable, "-m", "akm_run"]
    run_id = document(run_program("akm-run", plan, "--json", "--max-steps", "1"))["runId"]
    inside = sorted((tmp_path / ".akm").rglob("*"))
    for path in inside:
        path.chmod(0o500 if path.is_dir() else 0o400)
    (tmp_path / ".akm").chmod(0o500)
    try:
        for words in (["status", run_id], ["list"], ["events", run_id], ["output", run_id], ["why", run_id, "m:x"]):
            done = run_program(*run, *words, expect=None)
            assert done.returncode == 0 or "no unit" in done.stderr
        for words in ([plan], [run_id], ["resume", run_id], ["abandon", run_id], ["prune", "--older-than", "0s"]):
            done = run_program(*run, *words, expect=None)
            if words[0] != "prune":
                assert done.returncode == 2 and ("read-only" in done.stderr or "Permission denied" in done.stderr)
                assert "state.db" in done.stderr and "help: " in done.stderr
    finally:
        (tmp_path / ".akm").chmod(0o700)
        for path in inside:
            path.chmod(0o700)
    assert document(run_program("akm-run", run_id, "--json"))["status"] == "completed"


@pytest.mark.parametrize("how", ["deleted", "replaced", "folder"])
def test_a_file_that_goes_while_a_driver_uses_it(run_program: Run, tmp_path: Path, plans: PlanMaker, how: str) -> None:
    unit = plans.unit("sh", "-c", "echo $$ > pid; while ! test -e go; do sleep 0.01; done")
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a", unit), plans.step("b")))
    (tmp_path / ".akm").mkdir()
    argv = [sys.executable, "-m", "akm_run", "plan.json"]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "AKM_CONFIG_DIR": str(tmp_path / "config")}
    driver = subprocess.Popen(argv, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 60
    while not (tmp_path / "pid").exists():
        assert time.monotonic() < end and driver.poll() is None
        time.sleep(0.01)
    (run,) = document(run_program("akm-run", "list", "--json"))["runs"]
    if how == "folder":
        shutil.rmtree(tmp_path / ".akm")
    else:
        for path in (tmp_path / ".akm").glob("state.db*"):
            if path.is_file():
                path.unlink()
        if how == "replaced":
            with closing(sqlite3.connect(tmp_path / STATE)) as raw:
                raw.execute("CREATE TABLE others (a)")
    (tmp_path / "go").touch()
    _, told = driver.communicate(timeout=60)
    assert driver.returncode == 2, told
    assert "was removed or replaced while it was in use" in told and "state.db" in told and "help: " in told
    assert "Traceback" not in told
    if how == "replaced":
        with closing(sqlite3.connect(tmp_path / STATE)) as raw:
            assert [row[0] for row in raw.execute("SELECT name FROM sqlite_master")] == ["others"]
        assert "another program" in run_program("akm-run", "list", expect=2).stderr
        return
    gone = run_program("akm-run", run["runId"], expect=2)
    assert "is neither a plan file nor a run here" in gone.stderr
    assert document(run_program("akm-run", "list", "--json"))["runs"] == []
    assert document(run_program("akm-run", "plan.json", "--json"))["status"] == "completed"


def others(path: Path, *, mark: int = 0, version: int = 0, table: str = "CREATE TABLE things (a)") -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute(table)
        raw.execute("INSERT INTO things VALUES ('theirs')")
        raw.execute(f"PRAGMA application_id={mark}")
        raw.execute(f"PRAGMA user_version={version}")
        raw.commit()


FOREIGN = {
    "a table": lambda path: others(path),
    "an application": lambda path: others(path, mark=0x47504B47),
    "our version": lambda path: others(path, version=SCHEMA_VERSION),
    "an old version": lambda path: others(path, version=1),
    "a high version": lambda path: others(path, version=99),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_a_database_of_another_program_is_left_alone(run_program: Run, tmp_path: Path, plan: str, kind: str) -> None:
    path = tmp_path / "theirs.db"
    FOREIGN[kind](path)
    before = path.read_bytes()
    words = [
        [plan],
        ["x"],
        ["status", "x"],
        ["list"],
        ["resume", "x"],
        ["abandon", "x"],
        ["prune", "--older-than", "0s"],
    ]
    for command in words:
        done = run_program("akm-run", *command, "--db", "theirs.db", expect=2)
        assert 'theirs.db" is no state file of akm-run: it is the database of another program' in done.stderr
        assert "name another state file with --db" in done.stderr
    assert path.read_bytes() == before
    assert not [name for name in os.listdir(tmp_path) if name.startswith("theirs.db-")]  # noqa: PTH208
    done = run_program("akm-run", "import", "theirs.db", expect=2)
    assert '"theirs.db" is no export of akm-run' in done.stderr


def test_a_newer_version_is_refused_by_name(run_program: Run, tmp_path: Path, plan: str) -> None:
    run_id = document(run_program("akm-run", plan, "--json", "--max-steps", "1"))["runId"]
    with closing(sqlite3.connect(tmp_path / STATE)) as raw:
        assert raw.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)
        raw.execute("DROP TABLE notices")  # whatever the newer tables are
        raw.execute(f"PRAGMA user_version={SCHEMA_VERSION + 7}")
    for command in ([plan], [run_id], ["status", run_id], ["list"], ["resume", run_id], ["abandon", run_id]):
        done = run_program("akm-run", *command, expect=2)
        assert f"its version is {SCHEMA_VERSION + 7}, this one reads up to {SCHEMA_VERSION}" in done.stderr
        assert "upgrade akm-run" in done.stderr and "state.db" in done.stderr


@pytest.mark.parametrize("content", [b"", b"short", b"no database, but long enough to look at " * 200])
def test_files_that_are_no_database(run_program: Run, tmp_path: Path, plan: str, content: bytes) -> None:
    (tmp_path / "notes").write_bytes(content)
    for command in ([plan], ["list"], ["status", "x"]):
        done = run_program("akm-run", *command, "--db", "notes", expect=None)
        if content:
            assert done.returncode == 2 and 'notes" is no database' in done.stderr
            assert (tmp_path / "notes").read_bytes() == content
        else:
            assert done.returncode == (2 if "status" in command else 0), "an empty file is nobody's"
    (tmp_path / "folder").mkdir()
    assert 'folder"' in run_program("akm-run", plan, "--db", "folder", expect=2).stderr


def test_a_making_that_was_cut_short(run_program: Run, tmp_path: Path, plan: str) -> None:
    (tmp_path / ".akm").mkdir()
    with closing(sqlite3.connect(tmp_path / STATE)) as raw:
        raw.execute("PRAGMA journal_mode=WAL")  # the first thing that is written; a crash then leaves no tables
    assert (tmp_path / STATE).stat().st_size > 0
    assert document(run_program("akm-run", "list", "--json"))["runs"] == []
    assert "no run of" in run_program("akm-run", "status", "x", expect=2).stderr
    assert document(run_program("akm-run", plan, "--json"))["status"] == "completed"


@pytest.mark.parametrize("blocks", [0, 1, 8])
def test_no_room_at_all(run_program: Run, tmp_path: Path, plan: str, blocks: int) -> None:
    """No file may grow beyond ``blocks`` times 512 bytes, locks and logs included (-B: nor Python's caches, cut short)."""
    run_id = document(run_program("akm-run", plan, "--json", "--timeout", "1ms", expect=1))["runId"]
    for words in (f"{plan} --json", f"{run_id} --json", f"abandon {run_id}"):
        script = f"ulimit -f {blocks}; exec {sys.executable} -B -m akm_run {words}"
        done = run_program("sh", "-c", script, expect=2)
        assert "state.db" in done.stderr and "help: " in done.stderr and "internal" not in done.stderr
    assert document(run_program("akm-run", "list", "--active", "--json"))["runs"][-1]["runId"] == run_id
    assert document(run_program("akm-run", run_id, "--json"))["status"] == "completed"
    assert list((tmp_path / ".akm" / "state.db.locks").iterdir()) == []
