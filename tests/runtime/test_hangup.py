"""A terminal that is closed while a run goes on: interrupted, whatever can be told to nobody any more."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker


@pytest.mark.parametrize("words", [(), ("--json",), ("--events", "-")])
def test_a_closed_terminal_ends_the_run_interrupted(tmp_path: Path, plans: PlanMaker, words: tuple[str, ...]) -> None:
    unit = plans.unit("sh", "-c", "touch began; exec sleep 60")
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a", unit)))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / ".home"), "TERM": "xterm"}
    ours, theirs = pty.openpty()
    # a session of its own whose terminal this is, as a terminal emulator starts a shell, and no shell in between
    take = (
        "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.executable, sys.argv[1:])"
    )
    argv = [sys.executable, "-c", take, sys.executable, "-m", "akm_run", "plan.json", *words]
    process = subprocess.Popen(
        argv, cwd=tmp_path, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    try:
        end = time.monotonic() + 60
        while not (tmp_path / "began").exists():
            assert time.monotonic() < end and process.poll() is None
            time.sleep(0.02)
        os.close(ours)
        assert process.wait(60) == 130
    finally:
        process.kill()
        process.wait()
