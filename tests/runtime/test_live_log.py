"""Live logs: scrubbed whatever way the output comes in pieces, and followed while a unit runs."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akm_run.dispatch.live_log import LiveLog
from akm_run.redaction import Redactor
from akm_run.run_log import LogLine, LogReader, RunLog, log_file

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SECRET = 'pa"ss\nword'
PIECES = st.sampled_from(
    [SECRET, json.dumps(SECRET), json.dumps(json.dumps(SECRET)), "plain ", "é", "pa", "\\", "x" * 50]
)


@given(st.lists(PIECES, max_size=12), st.lists(st.integers(1, 60), max_size=12))
@settings(max_examples=100, deadline=None)
def test_pieces_make_no_difference(pieces: list[str], cuts: list[int]) -> None:
    redactor = Redactor([SECRET])
    text = "".join(pieces)
    written: list[str] = []
    log = LiveLog(written.append, redactor)
    data = text.encode()
    for cut in cuts:
        log.take("stdout", data[:cut])
        data = data[cut:]
    log.take("stdout", data)
    log.close()
    assert "".join(written) == redactor.text(text)


def test_without_secrets_nothing_is_held_back() -> None:
    written: list[str] = []
    log = LiveLog(written.append, Redactor([]))
    log.take("stdout", b"out \xc3")
    log.take("stderr", b"err")
    assert written == ["out ", "err"]
    log.take("stdout", b"\xa9")
    log.close()
    assert written[2:] == ["é"]


def test_a_log_that_cannot_be_written_costs_the_log_only(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    log = LiveLog(partial(RunLog(tmp_path / "file" / "r.jsonl").write, "a:solo"), Redactor([]))
    log.take("stdout", b"text")
    log.take("stdout", b"text")
    log.close()
    assert log.fault is not None and log.fault.startswith("its log cannot be written: ")


def test_the_file_is_private_and_torn_lines_are_passed_over(tmp_path: Path) -> None:
    path = log_file(tmp_path / "state.db", "r1")
    log, reader = RunLog(path), LogReader(path)
    assert list(reader.more()) == []
    log.write("a:solo", "one\n")
    assert list(reader.more()) == [LogLine("a:solo", "one\n")]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with path.open("ab") as file:
        file.write(b'{"unit": "b')
    assert list(reader.more()) == []
    log.close()
    log.write("c:solo", "two \ud800")
    log.close()
    assert list(reader.more()) == [LogLine("c:solo", "two ?")]
    assert list(LogReader(path).more()) == [LogLine("a:solo", "one\n"), LogLine("c:solo", "two ?")]


@pytest.mark.parametrize("named", [True, False])
def test_logs_follow_a_running_unit(run_program: Run, tmp_path: Path, plans: PlanMaker, named: bool) -> None:
    script = "echo first; echo problem >&2; : > started; until test -e go; do sleep 0.05; done; echo last"
    data = plans.data(plans.step("a", plans.unit("sh", "-c", script)), plans.step("b", plans.unit("true")))
    (tmp_path / "plan.json").write_bytes(data)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / ".home")}
    start = [sys.executable, "-m", "akm_run"]
    driver = subprocess.Popen(
        [*start, "plan.json", "--json"], cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    end = time.monotonic() + 30
    while not (tmp_path / "started").exists():
        assert time.monotonic() < end
        time.sleep(0.02)
    run_id = json.loads(run_program("akm-run", "list", "--json").stdout)["runs"][0]["runId"]
    words = ["logs", run_id, *(["a:solo"] if named else []), "--follow"]
    with subprocess.Popen([*start, *words], cwd=tmp_path, env=env, stdout=subprocess.PIPE) as follower:
        assert follower.stdout is not None
        if not named:
            assert follower.stdout.readline() == b"==> a:solo <==\n"
        assert sorted([follower.stdout.readline(), follower.stdout.readline()]) == [b"first\n", b"problem\n"]
        (tmp_path / "go").touch()
        assert follower.stdout.read() == b"last\n"
        assert follower.wait() == 0
    driver.communicate(timeout=30)
    assert run_program("akm-run", *words).stdout.endswith("last\n")
    assert 'did you mean "a:solo"?' in run_program("akm-run", "logs", run_id, "a:sole", expect=2).stderr


def test_following_a_run_without_a_driver_ends(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    data = plans.data(plans.step("a", plans.unit("echo", "text")), plans.step("b"))
    (tmp_path / "plan.json").write_bytes(data)
    run_id = json.loads(run_program("akm-run", "plan.json", "--json", "--max-steps", "1").stdout)["runId"]
    assert run_program("akm-run", "logs", run_id, "--follow").stdout == "==> a:solo <==\ntext\n"


def test_a_unit_that_printed_nothing_shows_its_result(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    leaf = plans.data(plans.step("x", plans.unit("echo", "deep")), outputs={"o": "steps.x.output"})
    data = plans.data(
        plans.step("kid", plans.child(leaf)), plans.step("quiet"), plans.step("bad", plans.unit("sh", "-c", "exit 3"))
    )
    (tmp_path / "plan.json").write_bytes(data)
    done = json.loads(run_program("akm-run", "plan.json", "--json", expect=1).stdout)
    run_id, child = done["runId"], done["children"][0]["runId"]
    assert run_program("akm-run", "logs", run_id, "kid:solo").stdout == '{"o":"deep"}\n'
    assert run_program("akm-run", "logs", run_id, "quiet:solo").stdout == ""
    assert "exited with status 3" in run_program("akm-run", "logs", run_id, "bad:solo").stdout
    assert run_program("akm-run", "logs", child).stdout == "==> x:solo <==\ndeep\n"
    assert json.loads(run_program("akm-run", "status", child, "--json").stdout)["parentRun"] == run_id
    assert f"composed by run {run_id}" in run_program("akm-run", "status", child).stdout
