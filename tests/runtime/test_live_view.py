"""The live view: where the runs stand, and a real terminal."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from akm_run.core import Core
from akm_run.events import RunSettled, StepRejected, UnitFinished, UnitStarted
from akm_run.opening import RunFacts
from akm_run.requests import Surroundings
from akm_run.show.board import Board
from akm_run.show.live import can_show
from akm_run.underway import UnderWay

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker, World

End = Callable[..., UnitFinished]


def test_the_board_says_where_a_run_stands(plans: PlanMaker, world: type[World], end: End) -> None:
    plan = plans.plan(
        plans.step("m", plans.unit(on_error="continue"), over="params.l"),
        plans.step("j", plans.ask(), rubric="- ok"),
        plans.step("end"),
        budget={"maxUnits": 9, "maxTokens": 500},
    )
    core = Core(plan, RunFacts({"l": [1, 2, 3]}, 8))
    run = UnderWay(core, Surroundings("r1", {}, Path("/"), Path("/")))
    board = Board()
    assert list(board.lines(0)) == []
    seen: list[str] = []

    def show(events: list[object]) -> None:
        board.apply(run, events)  # type: ignore[arg-type]
        seen.append(next(board.lines(0)))

    here = world(
        lambda started: (
            end(started, '{"complete": true}', tokens=10) if started.index != 1 else end(started, None, "timeout")
        ),
        room=2,
    )
    running: list[object] = []
    for _ in range(20):
        batch: list[object] = []
        while events := core.next(2 - len(running)):
            for event in events:
                core.apply(event)
                if isinstance(event, UnitStarted):
                    running.append(event)
            batch += events
        show(batch)
        if not running:
            break
        finished = here.answer(running.pop(0))  # type: ignore[arg-type]
        core.apply(finished)
        show([finished])
    run.close()
    assert seen[0] == "workflows/case  step 1 of 3  m: 0 of 3 done, 2 running"
    assert "workflows/case  step 1 of 3  m: 1 of 3 done, 1 failed, 1 running" in seen
    assert "workflows/case  step 2 of 3  j: the judge is asked" in seen
    assert seen[-1] == "workflows/case  step 3 of 3"
    assert list(board.lines(3723.9))[-1] == "units 6 of 9, tokens 50 of 500, time 1:02:03"


@pytest.mark.parametrize("settled", [True, False])
def test_the_line_of_a_child_goes_with_the_unit_that_composed_it(plans: PlanMaker, end: End, settled: bool) -> None:
    leaf = plans.data(plans.step("x"))
    core = Core(plans.plan(plans.step("kid", plans.child(leaf)), plans.step("after")), RunFacts({}, 8))
    root = UnderWay(core, Surroundings("r1", {}, Path("/"), Path("/")))
    board = Board()
    (started,) = core.next(4)
    assert isinstance(started, UnitStarted)
    core.apply(started)
    board.apply(root, [started])
    inner = Core(plans.plan(plans.step("x")), RunFacts({}, 8))
    child = UnderWay(inner, Surroundings("r2", {}, Path("/"), Path("/")), composer=root, composing=started)
    board.apply(child, inner.next(4))
    assert len(list(board.lines(0))) == 3
    board.apply(child, [RunSettled("completed")] if settled else [StepRejected(0, "no", 1, 0)])
    finished = end(started, {}) if settled else end(started, None, "child_blocked")
    core.apply(finished)
    board.apply(root, [finished])
    assert len(list(board.lines(0))) == 2


def test_where_a_view_can_be_shown() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    assert can_show(Terminal(), {"TERM": "xterm"})
    assert not can_show(Terminal(), {"TERM": "dumb"})
    assert not can_show(Terminal(), {})
    assert not can_show(io.StringIO(), {"TERM": "xterm"})


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_a_real_terminal(tmp_path: Path, plans: PlanMaker, words: list[str]) -> None:
    leaf = plans.data(plans.step("deep", plans.unit("sh", "-c", "sleep 0.6")))
    data = plans.data(
        plans.step("a", plans.unit("sh", "-c", "sleep 0.6; exit 0")), plans.step("kid", plans.child(leaf))
    )
    (tmp_path / "plan.json").write_bytes(data)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TERM": "xterm", "COLUMNS": "100"}
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "akm_run", "plan.json", *words],
        cwd=tmp_path, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    screen = b""
    while True:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            break
        if not piece:
            break
        screen += piece
    os.close(ours)
    assert process.stdout is not None
    document = process.stdout.read().decode()
    process.stdout.close()
    assert process.wait() == 0
    text = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", screen).decode()
    if words:
        assert text == ""
        return
    assert "workflows/case  step 1 of 2  a: 0 of 1 done, 1 running" in text
    assert "  workflows/case  step 1 of 1  deep: 0 of 1 done" in text
    assert "units 1, tokens 0, time 0:0" in text
    assert "a: completed" in text and "  deep: completed" in text
    assert "\x1b" not in document and "completed" in document
