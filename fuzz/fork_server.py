"""Starts ``akm-run`` and ``akmc`` as processes of their own, without the half second that a start of Python takes.

A server imports both programs once and forks for each command, so that a command is a process that can be killed, run
beside another, and given a wall clock of its own. The server has no threads, whatever the process that uses it has.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Process:
    """A started command; its output is in two files until ``ended`` has read them."""

    server: Server
    pid: int
    out: Path

    def poll(self) -> int | None:
        """The exit status (negative: the signal that ended it), ``None`` while it runs."""
        status: int | None = self.server.ask({"ask": "poll", "pid": self.pid})
        return status

    def wait(self) -> int:
        """The exit status, once it has ended."""
        status: int = self.server.ask({"ask": "wait", "pid": self.pid})
        return status

    def ended(self) -> tuple[int, str, str]:
        """Exit status, standard output and standard error, once it has ended."""
        status = self.wait()
        texts = [Path(f"{self.out}.{stream}").read_text(errors="replace") for stream in ("1", "2")]
        return status, texts[0], texts[1]


class Server:
    """The forking process, and one question at a time to it."""

    def __init__(self) -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([sys.executable, __file__], stdin=pipe, stdout=pipe, text=True)
        atexit.register(self.close)

    def start(self, program: str, *words: str, cwd: Path, env: Mapping[str, str], days: float = 0) -> Process:
        """Start ``akmc`` or ``akm_run``; with ``days`` its wall clock leaps so far at every look."""
        out = cwd / f".out-{time.monotonic_ns()}"
        asked = {"ask": "start", "program": program, "words": words, "cwd": str(cwd), "env": dict(env), "days": days}
        return Process(self, self.ask({**asked, "out": str(out)}), out)

    def ask(self, question: dict[str, Any]) -> Any:
        """One question, one answer."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        """End the server; it answers no more."""
        self.process.communicate()


@cache
def server() -> Server:
    """The one server of this process."""
    return Server()


def _leaping(days: float) -> None:
    looks = [0]
    real, real_ns = time.time, time.time_ns

    def leap() -> float:
        looks[0] += 1
        return looks[0] * days * 86400

    time.time = lambda: max(0.0, real() + leap())
    time.time_ns = lambda: max(0, real_ns() + int(leap()) * 10**9)


def _command(asked: dict[str, Any]) -> int:
    """Become the command that was asked for; the exit status."""
    streams = [os.open(os.devnull, os.O_RDONLY)]
    streams += [os.open(f"{asked['out']}.{stream}", os.O_WRONLY | os.O_CREAT, 0o600) for stream in (1, 2)]
    for descriptor, stream in enumerate(streams):
        os.dup2(stream, descriptor)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    if asked["days"]:
        _leaping(asked["days"])
    status: int = import_module(f"{asked['program']}.cli").run(asked["words"])
    return status


def serve() -> None:
    """Answer until nobody asks any more."""
    for name in ("akmc.cli", "akm_run.cli", "akm_run.commands.invocation", "akm_run.running"):
        import_module(name)  # here, so that no fork has to
    ended: dict[int, int] = {}
    for line in sys.stdin:
        asked = json.loads(line)
        pid = asked.get("pid")
        if asked["ask"] == "start":
            pid = os.fork()
            if pid == 0:
                status = 70
                try:
                    status = _command(asked)
                finally:
                    sys.stdout.flush()
                    sys.stderr.flush()
                    os._exit(status)
            print(json.dumps(pid), flush=True)
            continue
        if pid not in ended:
            found, status = os.waitpid(pid, os.WNOHANG if asked["ask"] == "poll" else 0)
            if found:
                ended[pid] = os.waitstatus_to_exitcode(status)
        print(json.dumps(ended.get(pid)), flush=True)


if __name__ == "__main__":
    serve()
