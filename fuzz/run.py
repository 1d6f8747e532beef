#!/usr/bin/env python3
"""Runs every fuzz target for a while and prints what it found.

run.py [--seconds N]     # per target; 0 when nothing was found, 1 otherwise
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import strategies
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

from akm_schemas.decode import PlanError, decode_plan
from akmc_grammar.diagnostics import Sink
from akmc_grammar.markdown import read_markdown
from akmc_grammar.source import SourceText


def read_bytes(data: bytes) -> None:
    """The Markdown front end takes any bytes; every finding has a place in the file."""
    sink = Sink()
    document = read_markdown(SourceText.of("workflows/x.md", data), ref="workflows/x", sink=sink)
    for finding in sink.found:
        assert document.locator.span(finding.place).line >= 1


def read_sound(text: str) -> None:
    """What the grammar of sound workflows writes has no finding at all."""
    sink = Sink()
    read_markdown(SourceText.of("workflows/x.md", text.encode()), ref="workflows/x", sink=sink)
    assert not sink.found, [finding.message for finding in sink.found]


def decode(data: bytes) -> None:
    """The decoder answers any bytes with a plan or a PlanError."""
    try:
        decode_plan(data)
    except PlanError:
        return


TARGETS: dict[str, tuple[Callable[..., None], SearchStrategy[Any]]] = {
    "front end, any bytes": (read_bytes, strategies.ANY_BYTES),
    "front end, sound workflows": (read_sound, strategies.sound_workflows()),
    "plan decoder, any bytes": (decode, strategies.ANY_BYTES),
}


def main() -> int:
    """Fuzz."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    bad = 0
    for name, (target, strategy) in TARGETS.items():
        end, examples, found = time.monotonic() + options.seconds, 0, None
        while time.monotonic() < end and found is None:
            batch = settings(max_examples=300, deadline=None, database=None, suppress_health_check=list(HealthCheck))
            try:
                batch(given(strategy)(target))()
            except BaseExceptionGroup as several:
                found = repr(several.exceptions[0])
            except (AssertionError, ArithmeticError, LookupError, RecursionError, TypeError, ValueError) as error:
                found = repr(error)
            examples += 300
        bad += found is not None
        print(f"{name}: {examples} examples, {found or 'nothing found'}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
