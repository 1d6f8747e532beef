"""How rows are timed: the product and a peer or floor in turns, in one run, on one machine.

What else the machine does only ever adds, so processes are compared by their shortest runs. ``cpu`` counts the seconds
of processor time that a process and its children took, which another tenant of the machine changes least.
"""

from __future__ import annotations

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "review-changes" / "workflows" / "review-changes.md"
PEERS = pathlib.Path(os.environ.get("AKMC_BENCH_PEERS", ROOT / ".venv-bench")) / "bin"
Unit: TypeAlias = Literal["s", "MB", ""]
Clock: TypeAlias = Literal["wall", "cpu"]


class Missing(Exception):
    """A row that cannot be measured here; the message says what is missing and how to get it."""


@dataclass(frozen=True, slots=True)
class Figure:
    """What a row came to: ours and theirs, in seconds, MB or a bare number."""

    ours: float
    theirs: float
    unit: Unit = "s"

    @property
    def ratio(self) -> float:
        """Ours over theirs; what is recorded."""
        return self.ours / self.theirs


@dataclass(frozen=True, slots=True)
class Goal:
    """What a row is to reach: ``says`` for people, ``met`` for a figure."""

    says: str
    met: Callable[[Figure], bool]


@dataclass(frozen=True, slots=True)
class Scale:
    """How thoroughly: ``rounds`` of each timing; ``small`` for smaller inputs where the whole ones take long."""

    rounds: int
    small: bool = False

    def of(self, whole: int, small: int) -> int:
        """A size by this scale."""
        return small if self.small else whole


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table; ``goal`` is ``None`` where a peer stands for orientation only."""

    name: str
    goal: Goal | None
    measure: Callable[[pathlib.Path, Scale], Figure]


@dataclass(frozen=True, slots=True)
class Spent:
    """One process: seconds of wall clock and of processor time (its children's in), and its largest resident size."""

    wall: float
    cpu: float
    peak_mb: float
    out: bytes = b""

    def by(self, clock: Clock) -> float:
        """The seconds by one clock."""
        return self.wall if clock == "wall" else self.cpu


def at_most(ratio: float) -> Goal:
    """The ratio is no more than this."""
    return Goal(f"<= {ratio:.2f}x", lambda figure: figure.ratio <= ratio)


def within(seconds: float) -> Goal:
    """Ours takes no longer than this."""
    return Goal(f"<= {seconds:g} s", lambda figure: figure.ours <= seconds)


def over(seconds: float) -> Goal:
    """Ours takes at most so much longer than theirs."""
    return Goal(f"<= {seconds * 1e3:g} ms over", lambda figure: figure.ours - figure.theirs <= seconds)


def below(limit: float, unit: str) -> Goal:
    """Ours is less than this."""
    return Goal(f"< {limit:g} {unit}".rstrip(), lambda figure: figure.ours < limit)


def program(name: str) -> list[str]:
    """The words that start a program of ours: beside this Python, on PATH, else (in a checkout) its module."""
    beside = pathlib.Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    return [found] if found is not None else [sys.executable, "-m", name.replace("-", "_")]


def peer(name: str) -> str:
    """The path of a peer, from the peers' environment or PATH; raises Missing."""
    found = PEERS / name
    where = str(found) if found.exists() else shutil.which(name)
    if where is None:
        raise Missing(f"{name} is not installed (docs/benchmarks.md has the line that installs it)")
    return where


def spend(
    words: list[str], cwd: pathlib.Path, *, fine: tuple[int, ...] = (0,), stdin: bytes | None = None, keep: bool = False
) -> Spent:
    """Run a program to its end; raises when it ends with a status that is not ``fine``. ``keep`` its output."""
    given = None if stdin is None else subprocess.PIPE
    shown = subprocess.PIPE if keep else subprocess.DEVNULL
    start = time.perf_counter()
    process = subprocess.Popen(
        words, cwd=cwd, stdin=given or subprocess.DEVNULL, stdout=shown, stderr=subprocess.DEVNULL
    )
    if process.stdin is not None:
        process.stdin.write(stdin or b"")
        process.stdin.close()
    out = process.stdout.read() if process.stdout is not None else b""
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in fine:
        raise RuntimeError(f"{' '.join(words)} ended with status {process.returncode}")
    return Spent(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / _RSS_PER_MB, out)


_RSS_PER_MB = 1024 * 1024 if sys.platform == "darwin" else 1024


def own_cpu() -> float:
    """Processor seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def in_turns(ours: Callable[[], float], theirs: Callable[[], float], rounds: int) -> Figure:
    """The least seconds of both, run in turns after one warm-up."""
    ours(), theirs()
    pairs = [(ours(), theirs()) for _ in range(rounds)]
    least = [min(column) for column in zip(*pairs, strict=True)]
    return Figure(least[0], least[1])


def processes(ours: list[str], theirs: list[str], cwd: pathlib.Path, rounds: int, clock: Clock = "wall") -> Figure:
    """Two programs against each other."""
    return in_turns(lambda: spend(ours, cwd).by(clock), lambda: spend(theirs, cwd).by(clock), rounds)


def script(name: str, *words: str) -> list[str]:
    """The words that run a script of this folder in a fresh interpreter."""
    return [sys.executable, str(pathlib.Path(__file__).parent / "scripts" / name), *words]
