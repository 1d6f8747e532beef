"""Refs to files: escapes, other bundles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any


def _source(*refs: str) -> str:
    listed = "".join(f"        - {ref}\n" for ref in refs)
    return f"---\nsteps:\n  - id: a\n    unit:\n      exec: {{command: [make]}}\n      env:\n{listed}---\n## a\nA.\n"


def test_escapes_and_unknown_bundles_are_always_found(check: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "env/out.env").symlink_to("/etc/passwd")
    text = _source("env/out", "env/../../x", "team//env/x")
    expected = [("ref-escapes-bundle", 8), ("ref-escapes-bundle", 9), ("unresolved-ref", 10)]
    assert check(text).rules == [(rule, line - 1) for rule, line in expected]
    assert check(text, freeze=True).rules == [(rule, line - 1) for rule, line in expected]


def test_another_bundle(check: Callable[..., Any], tmp_path: Path) -> None:
    team = tmp_path / "vendor/team"
    (team / "env").mkdir(parents=True)
    (team / "env/x.env").write_text("A=1\n")
    checked = check(_source("team//env/x", "team//env/y"), config={"bundles": {"team": "vendor/team"}})
    assert checked.rules == [("env-unresolved", 8)]
    checked = check(_source("team//env/x"), config={"bundles": {"team": "vendor/team"}})
    assert checked.at("steps.0.unit.env.0.path") == "vendor/team/env/x.env"
    assert checked.at("provenance.sourceReadSet.0") | {"sha256": "", "size": 0} == {
        "ref": "team//env/x",
        "path": "env/x.env",
        "sha256": "",
        "size": 0,
    }
