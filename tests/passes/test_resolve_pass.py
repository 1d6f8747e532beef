"""Env refs to files and names, bundles, the read set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from akmc_passes.seal import confirm_sources


def _source(*refs: str) -> str:
    listed = "".join(f"        - {ref}\n" for ref in refs)
    return f"---\nsteps:\n  - id: a\n    unit:\n      exec: {{command: [make]}}\n      env:\n{listed}---\n## a\nA.\n"


def test_names_are_frozen_and_values_are_not(check: Callable[..., Any]) -> None:
    files = {"env/ci.env": "MODE=fast-value\nKEY=${secret:api}\n", "env/deep/x.env": "A=1\n"}
    checked = check(_source("env/ci", "env/deep/x"), files=files, freeze=True)
    assert checked.at("steps.0.unit.env") == [
        {"kind": "env-ref", "ref": "env/ci", "path": "env/ci.env", "keys": ["KEY", "MODE"], "secretNames": ["api"]},
        {"kind": "env-ref", "ref": "env/deep/x", "path": "env/deep/x.env", "keys": ["A"], "secretNames": []},
    ]
    assert "fast-value" not in str(checked.plan)
    read = [(entry["ref"], entry["path"]) for entry in checked.at("provenance.sourceReadSet")]
    assert read == [
        ("env/ci", "env/ci.env"),
        ("env/deep/x", "env/deep/x.env"),
        ("workflows/a", "workflows/a.md"),
    ]


def test_what_is_missing_is_a_freeze_rule(check: Callable[..., Any]) -> None:
    files = {"env/ci.env": "A=1\n", "env/bad.env": "A=1\nnot an assignment\n", "env/dir.env/x": ""}
    text = _source("env/ci", "env/c1", "env/bad", "tasks/x", "nonsense", "env/dir")
    assert check(text, files=files).rules == []
    checked = check(text, files=files, freeze=True)
    assert checked.rules == [("env-unresolved", line) for line in (8, 9, 10, 11, 12)]
    assert 'did you mean "env/ci"?' in checked.printed
    assert "line 2 is neither KEY=VALUE" in checked.printed
    assert "not an assignment" not in checked.printed


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
