"""A state machine over the real command line: runs that are started, killed, resumed, edited and driven twice.

Every rule is a process of ``akm-run`` in one scope. Each unit appends its id to a file before it prints, and fails as
long as a file of its step's name lies there, so that the world can be broken and mended between processes. What has to
hold whatever the order is in the invariants and in ``finish``: a finished unit ran at most once, one driver at a time,
no lock left behind, the reference model's artifacts at the end.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import sqlite3
import tempfile
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from fork_server import Process, server
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

ITEMS: Final = 6
STEPS: Final = ("first", "each", "last")
_UNIT: Final = 'echo "$AKM_UNIT_ID" >>ran.txt; sleep 0.02; test ! -e "broken-$AKM_STEP_ID" || exit 3; printf %s '
SOURCE: Final = f"""---
params: {{items: {{type: array, default: {list(range(ITEMS))}}}}}
steps:
  - id: first
    unit: {{exec: {{command: [sh, -c, {json.dumps(_UNIT + "one")}]}}}}
  - id: each
    map:
      over: params.items
      concurrency: 3
      unit: {{exec: {{command: [sh, -c, {json.dumps(_UNIT + '"$AKM_ITEM"')}]}}}}
  - id: last
    inputs: [steps.each.output]
    unit: {{exec: {{command: [sh, -c, {json.dumps(_UNIT + "end")}]}}}}
outputs: {{each: {{from: steps.each.output}}, last: {{from: steps.last.output}}}}
---
## first
Begin.
## each
Go on.
## last
End.
"""
OUTPUTS: Final = {"each": [str(item) for item in range(ITEMS)], "last": "end"}
DOCUMENTED: Final = {0, 1, 2, 75, 130}


class Runs(RuleBasedStateMachine):
    """One run in one scope."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="akm-machine-"))
        self.run_id = ""
        self.kills = 0
        self.days = 0.0

    @initialize()
    def publish(self) -> None:
        """Compile, and start a run that gets nowhere."""
        (self.folder / ".akm").mkdir()
        (self.folder / "workflows").mkdir()
        self.write(SOURCE)
        assert self.akm("akmc", "compile", "workflows/w.md", "-o", "plan.json")[0] == 0
        self.run_id = json.loads(self.akm("akm_run", "plan.json", "--json", "--timeout", "1ms")[1])["runId"]

    @rule(word=st.sampled_from(["resume", "abandon", "status", "events", "list", "output"]))
    def command(self, word: str) -> None:
        """Any command on the run; each has a documented end."""
        self.akm("akm_run", word, *([] if word == "list" else [self.run_id]))

    @rule(most=st.integers(1, 3))
    def drive(self, most: int) -> None:
        """Go on, for a few steps at most."""
        self.akm("akm_run", self.run_id, "--max-steps", str(most))

    @rule(step=st.sampled_from(STEPS), broken=st.booleans())
    def edit_the_world(self, step: str, broken: bool) -> None:
        """Break a step's program, or mend it."""
        mark = self.folder / f"broken-{step}"
        mark.touch() if broken else mark.unlink(missing_ok=True)

    @rule()
    def edit_the_source(self) -> None:
        """A run goes on with the plan it was published with, whatever becomes of the files."""
        self.write(SOURCE.replace("Go on.", f"Go on {self.kills}."))
        (self.folder / "plan.json").write_bytes(b"gone")

    @rule(seed=st.integers(0, 2**16))
    def crash(self, seed: int) -> None:
        """kill -9 a driver at some moment; nothing is left that has to be removed by hand."""
        chance = random.Random(seed)
        process = self.started(self.run_id)
        size, end = self.size(), time.monotonic() + 20
        while process.poll() is None and self.size() == size and time.monotonic() < end and chance.random() < 0.999:
            time.sleep(0.002)
        time.sleep(chance.random() * 0.05)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        process.wait()
        self.kills += 1

    @rule(days=st.sampled_from([-400.0, 0.0, 400.0]))
    def clock_leaps(self, days: float) -> None:
        """From now on the wall clock of every process leaps so far at every look at it."""
        self.days = days

    @rule(jump=st.sampled_from(["-400 days", "400 days"]))
    def clock_jump(self, jump: str) -> None:
        """The journal's times leap: every row as if written by a machine with another clock."""
        with closing(sqlite3.connect(self.folder / ".akm" / "state.db", timeout=20)) as raw, raw:
            for table, column in (("units", "started_at"), ("runs", "created_at"), ("events", "at")):
                shifted = f"strftime('%Y-%m-%dT%H:%M:%fZ', {column}, '{jump}')"
                raw.execute(f"UPDATE {table} SET {column} = {shifted}")

    @rule()
    def two_drivers(self) -> None:
        """Of two drivers at a time one drives; the other says so, or finds nothing left to do."""
        both = [self.started(self.run_id), self.started(self.run_id)]
        codes = [process.wait() for process in both]
        assert set(codes) <= DOCUMENTED, codes

    @invariant()
    def finished_units_ran_once_and_crashes_are_the_only_repeats(self) -> None:
        """A unit that completed is not dispatched again, except one that a crash caught between effect and record."""
        if not self.run_id:
            return
        ran = Counter((self.folder / "ran.txt").read_text().split()) if self.size() else Counter[str]()
        with closing(sqlite3.connect(self.folder / ".akm" / "state.db", timeout=20)) as raw:
            spawns = {str(unit): int(count) for unit, count in raw.execute("SELECT unit_id, spawns FROM units")}
            (whole,) = raw.execute("PRAGMA integrity_check").fetchone()
        assert whole == "ok"
        for unit, count in ran.items():
            assert count <= spawns[unit] <= 1 + self.kills + self.stops(unit), (unit, count, spawns)

    def stops(self, unit: str) -> int:
        """How often ``--timeout`` can have stopped this attempt: when the run was published."""
        return 1 if unit.startswith("first") else 0

    def teardown(self) -> None:
        """Mend everything: the run then completes with the model's exports, or was abandoned."""
        try:
            if self.run_id:
                self.finish()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def finish(self) -> None:
        """Resume and drive to the end."""
        for step in STEPS:
            (self.folder / f"broken-{step}").unlink(missing_ok=True)
        self.akm("akm_run", "resume", self.run_id)
        status, out, err = self.akm("akm_run", self.run_id, "--json")
        document: dict[str, Any] = json.loads(out)
        assert status == 0, err
        assert (document["status"], document["outputs"]) == ("completed", OUTPUTS)

    def write(self, text: str) -> None:
        """Write the source."""
        (self.folder / "workflows" / "w.md").write_text(text)

    def size(self) -> int:
        """Bytes of the record of executions."""
        record = self.folder / "ran.txt"
        return record.stat().st_size if record.exists() else 0

    def environment(self) -> dict[str, str]:
        """An empty home."""
        home = str(self.folder / "home")
        return {**os.environ, "HOME": home, "XDG_CONFIG_HOME": home, "XDG_STATE_HOME": home, "NO_COLOR": "1"}

    def started(self, *words: str, program: str = "akm_run") -> Process:
        """A command that nobody waits for yet."""
        return server().start(program, *words, cwd=self.folder, env=self.environment(), days=self.days)

    def akm(self, program: str, *words: str) -> tuple[int, str, str]:
        """Run a command to its end: exit status, standard output and standard error."""
        ended = self.started(*words, program=program).ended()
        assert ended[0] in DOCUMENTED, (words, ended)
        assert "Traceback" not in ended[1] + ended[2]
        return ended
