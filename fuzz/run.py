#!/usr/bin/env python3
"""Runs fuzz targets and prints what they found.

run.py [--profile short|long] [--seconds N] [TARGET...]    # 0 when nothing was found, 1 otherwise
run.py --list

``short`` (the default) tries a fixed number of examples of each target, under two minutes in all; the tests do the same.
``long`` gives each target ``--seconds`` (200 by default): more than half an hour in all, for a night or a release.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
import traceback
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent))  # for ``python -m fuzz.run`` from the root
if __name__ == "__main__":
    os.environ.setdefault("AKMC_FUZZ_SECONDS", "2")  # a run by hand has a quieter machine than the tests

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.stateful import run_state_machine_as_test
from machine import Runs
from targets import TARGETS, Target

CORPUS: Final = Path(__file__).resolve().parent / "corpus"
_BATCH: Final = 100
_MACHINE_BATCH: Final = 10
_MEMORY: Final = 1 << 30
"""Bytes that all targets together may hold at once; nothing that they read is above a few MiB."""
_RSS_UNIT: Final = 1 if sys.platform == "darwin" else 1024
_ADDRESS_SPACE: Final = 8 << 30  # what runs away fails with MemoryError instead of taking the machine along


def seeds(target: Target) -> list[bytes]:
    """The inputs that once found something, and small examples of each kind, sorted by name."""
    folder = CORPUS / (target.seeds or "none")
    return [path.read_bytes() for path in sorted(folder.glob("*"))] if folder.is_dir() else []


def tried(target: Target, examples: int) -> None:
    """Try ``examples`` inputs, after the seeds; raises what the first failing one raises, shrunk."""
    for seed in seeds(target):
        target.check(seed)
    quiet = settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
    )
    if target.inputs is None:
        steps = settings(quiet, stateful_step_count=6 if examples < _MACHINE_BATCH else 15)
        run_state_machine_as_test(Runs, settings=steps)
    else:
        quiet(given(target.inputs)(target.check))()


def fuzzed(target: Target, seconds: float | None) -> tuple[int, str | None]:
    """The number of examples that were tried, and what was found."""
    end, done = time.monotonic() + (seconds or 0), 0
    while True:
        batch = target.examples if seconds is None else _BATCH if target.inputs is not None else _MACHINE_BATCH
        try:
            tried(target, batch)
        except Exception:  # noqa: BLE001 - whatever a target raises is what this program looks for
            return done + batch, traceback.format_exc()
        done += batch
        if (held := resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT) > _MEMORY:
            return done, f"{held} bytes of memory were held at once, over the bound of {_MEMORY}"
        if time.monotonic() >= end and (seconds is None or done >= target.least):
            return done, None


def main() -> int:
    """Fuzz."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", choices=["short", "long"], default="short")
    parser.add_argument("--seconds", type=float, default=200, help="per target, with --profile long")
    parser.add_argument("--list", action="store_true", help="name the targets and exit")
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    options = parser.parse_args()
    if options.list:
        print("\n".join(TARGETS))
        return 0
    if unknown := sorted(set(options.targets) - set(TARGETS)):
        parser.error(f"unknown targets: {', '.join(unknown)}; there are: {', '.join(TARGETS)}")
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESS_SPACE, _ADDRESS_SPACE))
    bad = 0
    for name in options.targets or TARGETS:
        begun = time.monotonic()
        examples, found = fuzzed(TARGETS[name], options.seconds if options.profile == "long" else None)
        bad += found is not None
        print(f"{name}: {examples} examples, {time.monotonic() - begun:.0f} s, {found or 'nothing found'}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
