"""The median of so many checks of an edited 500-line file in one session, after one cold check: a number of seconds out.

The file is made here, edited by appending words to one of its sections, and each edit is checked from its bytes to its
findings.
"""

from __future__ import annotations

import json
import pathlib
import sys
import time

from akmc.session.session import Session
from akmc.session.store import FileStore
from akmc.session.targets import Collector

LINES = 500
STEPS = 40


def text(edit: int) -> str:
    """A workflow of exactly ``LINES`` lines, its ``edit``-th version."""
    lines = ["---", "params:", "  topic: {type: string}", "steps:"]
    for step in range(STEPS):
        reads = "params.topic" if step == 0 else f"steps.s{step - 1}.output.found"
        lines += [
            f"  - id: s{step}",
            f"    inputs: [{reads}]",
            "    unit:",
            "      exec: {command: [python3, look.py]}",
        ]
        lines += ["      output:", "        type: object", "        required: [found]"]
        lines += ["        properties: {found: {type: string}}"]
    lines += ["---", ""]
    for step in range(STEPS):
        lines += [f"## s{step}", "", f"Looks at what is there, for the {edit}th time.", ""]
    return "\n".join(lines + ["More is said here."] * (LINES - len(lines))) + "\n"


pathlib.Path("workflows").mkdir()
path = pathlib.Path("workflows/w.md")
spent = []
path.write_text(text(0))
store = FileStore()
session = Session(store)
for edit in range(int(sys.argv[1]) + 1):
    path.write_text(text(edit))
    start = time.perf_counter()
    store.forget([path])
    checked = session.check(Collector(store, None).collect(["workflows/w.md"]))
    spent.append(time.perf_counter() - start)
    if checked.findings or checked.problems or checked.crashes:
        sys.exit(f"the file is not clean: {checked}")
assert len(text(0).splitlines()) == LINES
json.dump(sorted(spent[1:])[len(spent[1:]) // 2], sys.stdout)
