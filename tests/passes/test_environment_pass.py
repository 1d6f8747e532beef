"""Env refs to names; values stay where they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from akm_schemas.bounds import ENV_FILE_BYTES


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


@pytest.mark.parametrize("files", [{}, {"env/x.env": "A=1\n"}, {"env/xx.env": "A=1\n"}])
@pytest.mark.parametrize("ref", ["env/x.env", "env/deep/x.env"])
def test_a_ref_has_no_extension(check: Callable[..., Any], files: dict[str, str], ref: str) -> None:
    checked = check(_source(ref), files=files, freeze=True)
    assert checked.rules == [("env-unresolved", 7)]
    assert f"help: write {ref.removesuffix('.env')}: a ref leaves out the extension of the file" in checked.printed


def test_a_file_may_have_the_extension_twice(check: Callable[..., Any]) -> None:
    assert check(_source("env/x.env"), files={"env/x.env.env": "A=1\n"}, freeze=True).rules == []


def test_what_is_missing_is_a_freeze_rule(check: Callable[..., Any]) -> None:
    files = {"env/ci.env": "A=1\n", "env/bad.env": "A=1\nnot an assignment\n", "env/dir.env/x": ""}
    text = _source("env/ci", "env/c1", "env/bad", "tasks/x", "nonsense", "env/dir")
    assert check(text, files=files).rules == [("env-unresolved", 10), ("env-unresolved", 11)]
    checked = check(text, files=files, freeze=True)
    assert checked.rules == [("env-unresolved", line) for line in (8, 9, 10, 11, 12)]
    assert 'did you mean "env/ci"?' in checked.printed
    assert "line 2 is neither KEY=VALUE" in checked.printed
    assert '"env/dir" names no env file: "env/dir.env" is a directory' in checked.printed
    assert "not an assignment" not in checked.printed


def test_a_file_is_as_long_as_a_run_takes_it(check: Callable[..., Any]) -> None:
    for size in (ENV_FILE_BYTES.high, ENV_FILE_BYTES.high + 1):
        checked = check(_source("env/ci"), files={"env/ci.env": "A=1\n".ljust(size, "#")}, freeze=True)
        assert ENV_FILE_BYTES.holds(size) == (checked.rules == [])
    assert f"has {size} bytes, an env file has at most {ENV_FILE_BYTES.high}" in checked.printed
