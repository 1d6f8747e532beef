"""A machine that gives few threads or none: units wait for those that there are, and a run that gets none can go on later."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from akm_run.cancel import Cancellation
from akm_run.cli import run
from akm_run.dispatch.contract import UnitRequest, UnitResult
from akm_run.executor import Done, LocalExecutor
from akm_run.faults import UsageFault

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]
# akm-run with stacks that no address space has room for, so that the system itself refuses every thread
WITHOUT_THREADS = """
import resource, threading
threading.stack_size(8 << 30)
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
from akm_run.cli import main
main()
"""


def test_a_run_without_threads_says_so_and_goes_on_later(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    unit = plans.unit("sh", "-c", "echo x >>ran.txt; echo done")
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a", unit)))
    done = run_program(sys.executable, "-c", WITHOUT_THREADS, "plan.json", "--json", expect=2)
    assert "no unit can be started: this machine gives the process no thread" in done.stderr
    assert "help: raise its limits" in done.stderr and "goes on where the run was" in done.stderr
    assert not (tmp_path / "ran.txt").exists()
    (run,) = json.loads(run_program("akm-run", "list", "--json").stdout)["runs"]
    assert run["status"] == "active"
    document = json.loads(run_program("akm-run", run["runId"], "--json").stdout)
    assert (document["status"], document["steps"][0]["output"]) == ("completed", "done")
    assert (tmp_path / "ran.txt").read_text() == "x\n"


def submitted(executor: LocalExecutor, count: int) -> list[str]:
    """The ids of ``count`` units that were performed, sorted; each ends when the test lets it."""
    ended: list[str] = []
    all_ended = threading.Semaphore(0)

    def done(outcome: Done) -> None:
        assert outcome.crash is None
        ended.append(outcome.unit_id)
        all_ended.release()

    for number in range(count):
        request = cast("UnitRequest", type("Request", (), {"unit_id": f"u{number}"})())
        executor.submit(request, lambda _request, _cancel: UnitResult(value="x"), Cancellation(), done)
    for _ in range(count):
        assert all_ended.acquire(timeout=60)
    return sorted(ended)


def refusing(monkeypatch: pytest.MonkeyPatch, given: int) -> None:
    """Threads of units start ``given`` times and not again."""
    start, left = threading.Thread.start, [given]

    def limited(thread: threading.Thread, *rest: Any) -> None:
        if thread.name == "akm-unit":
            if not left[0]:
                raise RuntimeError("can't start new thread")
            left[0] -= 1
        start(thread, *rest)

    monkeypatch.setattr(threading.Thread, "start", limited)


def test_units_wait_for_the_threads_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(monkeypatch, 1)
    executor = LocalExecutor()
    for _ in range(2):  # the second round finds the thread idle
        assert submitted(executor, 5) == [f"u{number}" for number in range(5)]


def test_without_any_thread_a_unit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(monkeypatch, 0)
    with pytest.raises(UsageFault, match="no thread"):
        submitted(LocalExecutor(), 1)


def test_no_thread_outlives_a_closed_executor() -> None:
    executor = LocalExecutor()
    before = set(threading.enumerate())
    submitted(executor, 5)
    threads = set(threading.enumerate()) - before
    assert threads
    executor.close()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()


def test_a_run_in_a_process_of_somebody_elses_leaves_no_thread(
    tmp_path: Path, plans: PlanMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "config"))
    Path("plan.json").write_bytes(plans.data(plans.step("a"), plans.step("b")))
    before = set(threading.enumerate())
    assert run(["plan.json"]) == 0
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=60)
        assert not thread.is_alive()
