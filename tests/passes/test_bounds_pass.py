"""Bounds of prose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def test_prose_bounds(check: Callable[..., Any]) -> None:
    big = "é" * (128 * 1024)
    text = f"---\nsteps:\n  - id: a\n  - id: b\n---\n## a\n{big}\n## b\n{big}.\n### gate\n{big}.\n"
    assert check(text).rules == [("bound-exceeded", 8), ("bound-exceeded", 10)]


def test_prose_at_its_bound_is_fine(check: Callable[..., Any]) -> None:
    text = f"---\nsteps:\n  - id: a\n---\n## a\n{'x' * (256 * 1024)}\n### gate\n{'x' * (256 * 1024)}\n"
    assert check(text).rules == []
