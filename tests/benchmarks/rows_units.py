"""What a journaled exec unit costs beside a bare process, and beside other programs that run many."""

from __future__ import annotations

import concurrent.futures
import itertools
import json
import pathlib
import subprocess
import time
from collections.abc import Callable

from .harness import Figure, Row, Scale, at_most, over, peer, program, spend

WIDTH = 4
UNITS = 2000
FEWER = 500  # beside programs that take long for each


def _prepared(scratch: pathlib.Path) -> None:
    """A plan that maps over its param ``rows``, at a width that is its own and not the machine's."""
    (scratch / "workflows").mkdir()
    (scratch / "workflows" / "m.md").write_text(
        "---\nparams: {rows: {type: array}}\nsteps:\n  - id: m\n    map:\n      over: params.rows\n"
        f"      concurrency: {WIDTH}\n      unit: {{exec: {{command: ['true']}}}}\n---\n## m\nRuns.\n"
    )
    (scratch / "wide.json").write_text(json.dumps({"workflow": {"maxConcurrency": WIDTH}}))
    spend([*program("akmc"), "compile", "--config", "wide.json", "workflows/m.md", "-o", "plan.json"], scratch)


def _ours(scratch: pathlib.Path) -> Callable[[int], float]:
    """Seconds of a run with so many units, each time in a state file of its own."""
    files = itertools.count()
    _prepared(scratch)

    def run(count: int) -> float:
        (scratch / f"p{count}.json").write_text(json.dumps({"rows": list(range(count))}))
        words = [*program("akm-run"), "plan.json", "--params-file", f"p{count}.json"]
        return spend([*words, "--host-concurrency", str(WIDTH), "--db", f"state-{next(files)}.db"], scratch).wall

    return run


def _pool(count: int) -> float:
    """Seconds of a thread pool of plain ``subprocess`` calls."""

    def one(_: int) -> object:
        return subprocess.run(["true"], stdin=subprocess.DEVNULL, capture_output=True, check=True)

    start = time.perf_counter()
    with concurrent.futures.ThreadPoolExecutor(WIDTH) as threads:
        list(threads.map(one, range(count)))
    return time.perf_counter() - start


def _xargs(scratch: pathlib.Path) -> Callable[[int], float]:
    words = [peer("xargs"), "-P", str(WIDTH), "-n", "1", "true"]
    return lambda count: spend(words, scratch, stdin=_numbers(count)).wall


def _parallel(scratch: pathlib.Path) -> Callable[[int], float]:
    words = [peer("parallel"), "--will-cite", "-j", str(WIDTH), "--joblog", "jobs.log", "true", "{}"]
    return lambda count: spend(words, scratch, stdin=_numbers(count)).wall


def _make(scratch: pathlib.Path) -> Callable[[int], float]:
    make = peer("make")

    def run(count: int) -> float:
        names = " ".join(f"t{number}" for number in range(count))
        (scratch / "Makefile").write_text(f"all: {names}\n{names}:\n\t@true --\n.PHONY: all {names}\n")
        return spend([make, "-j", str(WIDTH)], scratch).wall

    return run


def _numbers(count: int) -> bytes:
    return b"".join(b"%d\n" % number for number in range(count))


def _each(run: Callable[[int], float], units: int) -> float:
    """Seconds of one unit: a run of many, less one of a single unit, which is the program's start."""
    return max(run(units) - run(1), 1e-9) / (units - 1)


def _against(
    theirs: Callable[[pathlib.Path], Callable[[int], float]], whole: int = FEWER
) -> Callable[[pathlib.Path, Scale], Figure]:
    def row(scratch: pathlib.Path, scale: Scale) -> Figure:
        units = scale.of(whole, 300)
        peers = theirs(scratch)
        ours = _ours(scratch)
        pairs = [(_each(ours, units), _each(peers, units)) for _ in range(scale.rounds)]
        return Figure(min(pair[0] for pair in pairs), min(pair[1] for pair in pairs))

    return row


ROWS = (
    Row("journaled exec unit, width 4 / thread pool of subprocess", over(0.0005), _against(lambda _: _pool, UNITS)),
    Row("journaled exec unit, width 4 / GNU parallel --joblog", at_most(1 / 3), _against(_parallel)),
    Row("journaled exec unit, width 4 / make -j4", None, _against(_make)),
    Row("journaled exec unit, width 4 / xargs -P4", None, _against(_xargs)),
)
