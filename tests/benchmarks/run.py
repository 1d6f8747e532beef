#!/usr/bin/env python3
"""Speed as ratios: each row times the product and a peer or floor alternately, in this run, on this machine.

run.py [--smoke] [--only TEXT] [--record]

--smoke: fewer rounds; fails when a ratio is twice the recorded one. --record: writes the ratios to recorded.json.
Processes are compared by their shortest runs, for what else the machine does only ever adds.
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
    """Least seconds of both, run in turns after one warm-up, and their ratio."""
    product(), peer()
    pairs = [(seconds(product), seconds(peer)) for _ in range(rounds)]
    ours, theirs = (min(column) for column in zip(*pairs, strict=True))
    return ours, theirs, ours / theirs


def command(*words: str, cwd: pathlib.Path) -> Callable[[], object]:
    """A call that runs a program to its successful end."""
    return lambda: subprocess.run(words, cwd=cwd, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def program(name: str) -> list[str]:
    """The words that start a program: beside this Python, on PATH, else (a checkout that is not installed) its module."""
    beside = pathlib.Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    return [found] if found is not None else [sys.executable, "-m", name.replace("-", "_")]


def bundle(scratch: pathlib.Path) -> pathlib.Path:
    """A bundle that holds the example workflow."""
    (scratch / "workflows").mkdir(exist_ok=True)
    shutil.copy(EXAMPLE, scratch / "workflows" / "a.md")
    return scratch


def check_against(peer_code: str) -> Callable[[pathlib.Path, int], tuple[float, float, float]]:
    """``akmc check`` of one file, a cold process, against ``python -c peer_code``."""

    def row(scratch: pathlib.Path, rounds: int) -> tuple[float, float, float]:
        where = bundle(scratch)
        ours = command(*program("akmc"), "check", "workflows/a.md", cwd=where)
        return ratio(ours, command(sys.executable, "-c", peer_code, cwd=where), rounds * 5)

    return row


def help_of(name: str) -> Callable[[pathlib.Path, int], tuple[float, float, float]]:
    """``NAME --help`` against importing click."""

    def row(scratch: pathlib.Path, rounds: int) -> tuple[float, float, float]:
        ours = command(*program(name), "--help", cwd=scratch)
        return ratio(ours, command(sys.executable, "-c", "import click", cwd=scratch), rounds * 5)

    return row


def unchanged_files(scratch: pathlib.Path, rounds: int) -> tuple[float, float, float]:
    """``akmc check`` of 1 000 files with nothing changed, against the same check with its cache deleted first."""
    text = EXAMPLE.read_text("utf-8")
    (scratch / ".akm").mkdir()
    (scratch / "workflows").mkdir()
    for number in range(1000):
        (scratch / "workflows" / f"w{number}.md").write_text(text, "utf-8")
    check = command(*program("akmc"), "check", cwd=scratch)

    def cold() -> object:
        shutil.rmtree(scratch / ".akm" / "cache", ignore_errors=True)
        return check()

    cold()
    theirs = min(seconds(cold) for _ in range(rounds))
    ours = min(seconds(check) for _ in range(rounds))
    return ours, theirs, ours / theirs


def largest_workflow(scratch: pathlib.Path, rounds: int) -> tuple[float, float, float]:
    """``akmc compile`` of 256 steps in a source of exactly 1 MiB, against importing what it cannot do without."""
    steps, size = 256, 1024 * 1024
    head = "---\nparams: {topic: {type: string}}\nsteps:\n  - {id: s0, inputs: [params.topic]}\n"
    head += "".join(
        f"  - id: s{step}\n    inputs: [steps.s{step - 1}.output]\n"
        "    output: {type: object, properties: {a: {type: string}}, required: [a]}\n"
        for step in range(1, steps)
    )
    headings = [f"## s{step}\n\n" for step in range(steps)]
    line = "Look at what the step before has found, and report.\n"
    room = (size - len(head) - len("---\n") - sum(map(len, headings))) // steps // len(line)
    text = head + "---\n" + "".join(heading + line * room for heading in headings)
    text += "x" * (size - len(text))
    (scratch / "workflows").mkdir()
    (scratch / "workflows" / "large.md").write_text(text, "utf-8")
    config = {"engines": {"a": {"kind": "agent", "platform": "claude"}}, "defaults": {"engine": "a"}}
    (scratch / "engine.json").write_text(json.dumps(config))
    words = ["compile", "--config", "engine.json", "workflows/large.md", "-o", "plan.json"]
    compile_ = command(*program("akmc"), *words, cwd=scratch)
    imports = command(sys.executable, "-c", "import click, msgspec, ruamel.yaml", cwd=scratch)
    compile_(), imports()
    ours = min(seconds(compile_) for _ in range(rounds * 3))
    theirs = min(seconds(imports) for _ in range(rounds * 3))
    return ours, theirs, ours / theirs


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
    compile_ = [*program("akmc"), "compile", "--config", "wide.json", "workflows/m.md", "-o", "plan.json"]
    subprocess.run(compile_, cwd=scratch, check=True, capture_output=True)
    counter = iter(range(1_000_000))

    def run(count: int) -> Callable[[], object]:
        (scratch / f"p{count}.json").write_text(json.dumps({"rows": list(range(count))}))

        def action() -> object:
            db = f"state-{next(counter)}.db"
            words = ["plan.json", "--params-file", f"p{count}.json", "--host-concurrency", str(WIDTH), "--db", db]
            return command(*program("akm-run"), *words, cwd=scratch)()

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
    "akmc check, 1 000 files, nothing changed / without the cache": unchanged_files,
    "akmc compile, 256 steps in 1 MiB / import click, msgspec, ruamel.yaml": largest_workflow,
    "journaled exec unit, width 4 / thread pool of subprocess": journaled_units,
}


def timed(row: Callable[[pathlib.Path, int], tuple[float, float, float]], rounds: int) -> tuple[float, float, float]:
    """One row in a scratch folder of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        return row(pathlib.Path(scratch), rounds)


def main() -> int:
    """Print a row each; with ``--smoke`` 1 when one is twice its recorded ratio."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--smoke", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    recorded = json.loads((HERE / "recorded.json").read_text())
    slow = 0
    os.environ["AKM_CONFIG_DIR"] = str(HERE / "no-config-here")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # users have compiled modules
    for name, row in ROWS.items():
        if options.only not in name:
            continue
        known = recorded.get(name)
        ours, theirs, found = timed(row, 1 if options.smoke else 5)
        if options.smoke and known is not None and found > 2 * known:  # a busy moment is no regression: look again
            ours, theirs, found = timed(row, 3)
        if options.record:
            recorded[name] = round(found, 2)
        late = options.smoke and known is not None and found > 2 * known
        slow += bool(late)
        note = f"recorded {known:.2f}" if known is not None else "not recorded"
        print(
            f"{found:6.2f}  {name}  ({ours * 1e3:.2f} ms / {theirs * 1e3:.2f} ms; {note}){'  TOO SLOW' if late else ''}"
        )
    if options.record:
        (HERE / "recorded.json").write_text(json.dumps(recorded, indent=2) + "\n")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
