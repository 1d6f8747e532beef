"""Checking one edited file again in a session that lives on, as an editor's server does."""

from __future__ import annotations

import json
import pathlib
import sys

from .harness import Figure, Row, Scale, script, spend, within


def _warm(scratch: pathlib.Path, scale: Scale) -> Figure:
    out = spend(script("warm_check.py", str(scale.rounds * 4)), scratch, keep=True).out
    floor = [sys.executable, "-c", "import click"]
    return Figure(json.loads(out), min(spend(floor, scratch).wall for _ in range(scale.rounds * 2)))


ROWS = (Row("session, one edited file of 500 lines, warm / import click", within(0.05), _warm),)
