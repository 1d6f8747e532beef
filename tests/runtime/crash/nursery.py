"""A program that starts drivers by ``fork`` and kills each at a chosen moment.

The fault points are made here, outside the interpreter: a connection class that counts the statements that write, an
audit hook (https://docs.python.org/3/library/audit_events.html) for files, locks and processes, and ``os.pwrite``. A driver
that is told ``at: 17`` sends itself SIGKILL when it comes to its seventeenth point; ``after: 0.02`` is a kill from outside.

One request per line on stdin: ``{"argv": [...], "cwd": "...", "at": n or null, "after": seconds or null}``; one answer per
line on stdout: ``{"status": exit status or minus the signal, "points": the labels that were passed}``. A driver's own
output goes to ``stdout.txt`` and ``stderr.txt`` in its ``cwd``, the labels to ``points.txt``.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
import threading
import time
from pathlib import Path
from typing import Any

import akm_run.children
import akm_run.commands.invocation
import akm_run.commands.run_command
import akm_run.dispatch.command_agent
import akm_run.dispatch.exec_unit
import akm_run.dispatch.platforms.command
import akm_run.journal
import akm_run.reading
import akm_run.running  # noqa: F401  what a driver needs is imported once, before the forks
from akm_run.cli import run

WRITING = ("BEGIN", "COMMIT", "INSERT", "UPDATE", "DELETE", "CREATE", "PRAGMA journal_mode", "PRAGMA user_version")
FILES = ("os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.truncate", "fcntl.flock", "subprocess.Popen")


class Points:
    """Counts the moments of one driver; the one numbered ``at`` is its last."""

    def __init__(self, at: int | None, log: int) -> None:
        self._at = at
        self._log = log
        self._count = 0
        self._lock = threading.Lock()  # units run in threads

    def reach(self, label: str) -> None:
        """A moment has come."""
        with self._lock:
            self._count += 1
            os.write(self._log, f"{label}\n".encode())
            if self._count == self._at:
                os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(60)  # SIGKILL may take a moment, in which nothing must happen


def watch(points: Points, folder: str) -> None:
    """Install the fault points in this process, for good."""

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            return self._watched(sql, lambda: super(Connection, self).execute(sql, *values))

        def executemany(self, sql: str, *values: Any) -> sqlite3.Cursor:
            return self._watched(sql, lambda: super(Connection, self).executemany(sql, *values))

        def _watched(self, sql: str, perform: Any) -> sqlite3.Cursor:
            label = " ".join(sql.split(maxsplit=3)[:3])
            writes = sql.lstrip().startswith(WRITING)
            if writes:
                points.reach(f"before {label}")
            done: sqlite3.Cursor = perform()
            if writes and not self.in_transaction:  # committed, by itself or by this
                points.reach(f"after {label}")
            return done

    connect = sqlite3.connect
    sqlite3.connect = lambda *values, **named: connect(*values, **{"factory": Connection, **named})
    pwrite = os.pwrite

    def counted_pwrite(*values: Any) -> int:
        points.reach("before os.pwrite")
        return pwrite(*values)

    os.pwrite = counted_pwrite
    made = os.O_WRONLY | os.O_RDWR | os.O_CREAT

    def hook(event: str, values: tuple[Any, ...]) -> None:
        if event in FILES:
            points.reach(f"before {event}")
        elif event == "open" and str(values[0]).startswith(folder) and isinstance(values[2], int) and values[2] & made:
            points.reach("before open")

    sys.addaudithook(hook)


def drive(request: dict[str, Any]) -> None:
    """The forked driver; never returns."""
    os.chdir(request["cwd"])
    for number, name in enumerate(("stdin.txt", "stdout.txt", "stderr.txt")):
        opened = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    log = os.open("points.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
    watch(Points(request["at"], log), request["cwd"])
    os._exit(run(request["argv"]))


def ended(pid: int, after: float | None) -> int:
    """The wait status of a driver, killed after so many seconds where it is still there."""
    if after is not None:
        end = time.monotonic() + after
        while time.monotonic() < end:
            found, status = os.waitpid(pid, os.WNOHANG)
            if found:
                return status
            time.sleep(0.0005)
        os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def main() -> None:
    """Answer requests until stdin ends."""
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if pid == 0:
            drive(request)
        status = os.waitstatus_to_exitcode(ended(pid, request["after"]))
        points = Path(request["cwd"], "points.txt")
        labels = points.read_text().splitlines() if points.exists() else []
        print(json.dumps({"status": status, "points": labels}), flush=True)


if __name__ == "__main__":
    main()
