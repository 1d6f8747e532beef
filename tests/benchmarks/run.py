#!/usr/bin/env python3
"""Speed as ratios: each row times the product and a peer or floor alternately, in this run, on this machine.

run.py [--smoke] [--only TEXT]     # --smoke: fewer rounds; fails when a ratio is twice the recorded one
"""

from __future__ import annotations

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLE = HERE.parents[1] / "docs" / "examples" / "review-changes" / "workflows" / "review-changes.md"
WIDTH = 4


def seconds(action: Callable[[], object]) -> float:
    """Wall-clock seconds of one call."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def ratio(product: Callable[[], object], peer: Callable[[], object], rounds: int) -> tuple[float, float, float]:
    """Median seconds of both, run in turns, and their ratio."""
    product(), peer()
    pairs = [(seconds(product), seconds(peer)) for _ in range(rounds)]
    ours, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    return ours, theirs, ours / theirs


def command(*words: str, cwd: pathlib.Path) -> Callable[[], object]:
    """A call that runs a program to its successful end."""
    return lambda: subprocess.run(words, cwd=cwd, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def program(name: str) -> str:
    """The program beside this Python, or on PATH."""
    beside = pathlib.Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    assert found is not None, name
    return found


def bundle(scratch: pathlib.Path) -> pathlib.Path:
    """A bundle that holds the example workflow."""
    (scratch / "workflows").mkdir(exist_ok=True)
    shutil.copy(EXAMPLE, scratch / "workflows" / "a.md")
    return scratch


def check_against(peer_code: str) -> Callable[[pathlib.Path, int], tuple[float, float, float]]:
    """``akmc check`` of one file, a cold process, against ``python -c peer_code``."""

    def row(scratch: pathlib.Path, rounds: int) -> tuple[float, float, float]:
        where = bundle(scratch)
        ours = command(program("akmc"), "check", "workflows/a.md", cwd=where)
        return ratio(ours, command(sys.executable, "-c", peer_code, cwd=where), rounds * 5)

    return row


def help_of(name: str) -> Callable[[pathlib.Path, int], tuple[float, float, float]]:
    """``NAME --help`` against importing click."""

    def row(scratch: pathlib.Path, rounds: int) -> tuple[float, float, float]:
        ours = command(program(name), "--help", cwd=scratch)
        return ratio(ours, command(sys.executable, "-c", "import click", cwd=scratch), rounds * 5)

    return row


def journaled_units(scratch: pathlib.Path, rounds: int) -> tuple[float, float, float]:
    """A map of exec units (``true``), width 4, fully journaled, against a thread pool of plain subprocess calls.

    The interpreter's start is measured with a map of one unit and taken off, so the ratio is about units.
    """
    units = 200 * rounds
    workflow = (
        "---\nparams: {rows: {type: array}}\nsteps:\n  - id: m\n    map:\n      over: params.rows\n"
        f"      concurrency: {WIDTH}\n      unit: {{exec: {{command: ['true']}}}}\n---\n## m\nRuns.\n"
    )
    (scratch / "workflows").mkdir(exist_ok=True)
    (scratch / "workflows" / "m.md").write_text(workflow)
    (scratch / "wide.json").write_text(json.dumps({"workflow": {"maxConcurrency": WIDTH}}))
    compile_ = [program("akmc"), "compile", "--config", "wide.json", "workflows/m.md", "-o", "plan.json"]
    subprocess.run(compile_, cwd=scratch, check=True, capture_output=True)
    counter = iter(range(1_000_000))

    def run(count: int) -> Callable[[], object]:
        (scratch / f"p{count}.json").write_text(json.dumps({"rows": list(range(count))}))

        def action() -> object:
            db = f"state-{next(counter)}.db"
            words = ["plan.json", "--params-file", f"p{count}.json", "--host-concurrency", str(WIDTH), "--db", db]
            return command(program("akm-run"), *words, cwd=scratch)()

        return action

    def pool() -> object:
        one = lambda _: subprocess.run(["true"], stdin=subprocess.DEVNULL, capture_output=True, check=True)  # noqa: E731
        with concurrent.futures.ThreadPoolExecutor(WIDTH) as threads:
            return list(threads.map(one, range(units)))

    whole = statistics.median(seconds(run(units)) for _ in range(rounds))
    start = statistics.median(seconds(run(1)) for _ in range(rounds))
    floor = statistics.median(seconds(pool) for _ in range(rounds))
    ours, theirs = (whole - start) / (units - 1), floor / units
    return ours, theirs, ours / theirs


ROWS: dict[str, Callable[[pathlib.Path, int], tuple[float, float, float]]] = {
    "akmc check, one file / python -c pass": check_against("pass"),
    "akmc check, one file / import click": check_against("import click"),
    "akmc check, one file / import click, msgspec, ruamel.yaml": check_against("import click, msgspec, ruamel.yaml"),
    "akmc --help / import click": help_of("akmc"),
    "akm-run --help / import click": help_of("akm-run"),
    "journaled exec unit, width 4 / thread pool of subprocess": journaled_units,
}


def main() -> int:
    """Print a row each; with ``--smoke`` 1 when one is twice its recorded ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    recorded = json.loads((HERE / "recorded.json").read_text())
    slow = 0
    os.environ["AKM_CONFIG_DIR"] = str(HERE / "no-config-here")
    for name, row in ROWS.items():
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            ours, theirs, found = row(pathlib.Path(scratch), 1 if options.smoke else 5)
        known = recorded.get(name)
        late = options.smoke and known is not None and found > 2 * known
        slow += bool(late)
        note = f"recorded {known:.2f}" if known is not None else "not recorded"
        print(
            f"{found:6.2f}  {name}  ({ours * 1e3:.2f} ms / {theirs * 1e3:.2f} ms; {note}){'  TOO SLOW' if late else ''}"
        )
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
