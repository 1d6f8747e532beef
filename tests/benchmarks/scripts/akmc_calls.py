"""Least processor seconds of each call of ``akmc`` in this one process: akmc_calls.py CALLS.json, a JSON list out."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import pathlib
import sys
import time

from akmc.cli import run

given = json.loads(pathlib.Path(sys.argv[1]).read_text())
calls: list[list[str]] = given["calls"]
least = [float("inf")] * len(calls)
gc.set_threshold(500_000, 20, 20)  # as the program does
for _ in range(given["rounds"] + 1):  # the first round imports
    for index, words in enumerate(calls):
        gc.collect()
        start = time.process_time()
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()) as out:
            status = run(words)
        least[index] = min(least[index], time.process_time() - start)
        if status != 0:
            sys.exit(f"akmc {' '.join(words)} ended with status {status}: {out.getvalue()}")
json.dump(least, sys.stdout)
