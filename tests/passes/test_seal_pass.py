"""Hashes, and the last look at the sources."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from akm_schemas.canonical import canonical_bytes
from akm_schemas.decode import decode_plan
from akmc_passes.seal import confirm_sources

EXEC = "---\nsteps:\n  - {id: a, unit: {exec: {command: [make]}}}\n---\n## a\nA.\n"


def _source(*refs: str) -> str:
    listed = "".join(f"        - {ref}\n" for ref in refs)
    return f"---\nsteps:\n  - id: a\n    unit:\n      exec: {{command: [make]}}\n      env:\n{listed}---\n## a\nA.\n"


def test_a_sealed_plan_decodes(check: Callable[..., Any]) -> None:
    checked = check(EXEC, freeze=True)
    assert decode_plan(canonical_bytes(checked.plan)) == checked.program.plan


def test_an_open_plan_is_not_sealed(check: Callable[..., Any]) -> None:
    checked = check("---\nsteps:\n  - {id: a}\n---\n## a\nA.\n")
    assert checked.program.open
    assert checked.program.plan.plan_hash == ""


@pytest.mark.parametrize("change", ["edit", "remove"])
def test_a_source_that_changes_fails_the_freeze(check: Callable[..., Any], tmp_path: Path, change: str) -> None:
    checked = check(_source("env/ci"), files={"env/ci.env": "A=1\n"}, freeze=True)
    assert confirm_sources(checked.program, checked.context)
    if change == "edit":
        (tmp_path / "env/ci.env").write_text("A=2\n")
    else:
        (tmp_path / "env/ci.env").unlink()
    assert not confirm_sources(checked.program, checked.context)
    assert [rule for rule, _ in checked.rules] == ["source-changed-during-freeze"]
    assert '"env/ci.env" changed' in checked.printed
