"""Hashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from akm_schemas.canonical import canonical_bytes
from akm_schemas.decode import decode_plan

EXEC = "---\nsteps:\n  - {id: a, unit: {exec: {command: [make]}}}\n---\n## a\nA.\n"


def test_a_sealed_plan_decodes(check: Callable[..., Any]) -> None:
    checked = check(EXEC, freeze=True)
    assert decode_plan(canonical_bytes(checked.plan)) == checked.program.plan


def test_an_open_plan_is_not_sealed(check: Callable[..., Any]) -> None:
    checked = check("---\nsteps:\n  - {id: a}\n---\n## a\nA.\n")
    assert checked.program.open
    assert checked.program.plan.plan_hash == ""
