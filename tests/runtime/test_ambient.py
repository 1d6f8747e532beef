"""The picture of the environment that a driver takes for a run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from akm_run.ambient import Ambient
from akm_run.dispatch.contract import UnitContext, UnitRequest
from akm_run.environment import environment_of
from akm_schemas.plan import ExecTarget


def test_a_picture_does_not_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEEN", "before")
    ambient = Ambient.now()
    monkeypatch.setenv("SEEN", "after")
    assert ambient["SEEN"] == "before"
    assert "SEEN" in ambient
    assert len(ambient) == len(list(ambient))


def test_parts_are_the_callers_own() -> None:
    ambient = Ambient({"A": "1", "B": "2", "C": "3"})
    first = ambient.part(("C", "X", "A"))
    assert list(first.items()) == [("C", "3"), ("A", "1")]
    first["D"] = "4"
    assert ambient.part(("C", "X", "A")) == {"C": "3", "A": "1"}
    assert ambient.part(("B",)) == {"B": "2"}


def test_bytes_that_are_no_utf8_come_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environb, b"ODD", b"\xff\xe9")
    assert Ambient.now()["ODD"].encode("utf-8", "surrogateescape") == b"\xff\xe9"


def test_units_take_from_the_picture_of_their_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def variables(ambient: Ambient | None) -> str | None:
        target = ExecTarget(command=["true"], pass_env=["SEEN"], input_bindings=[], content_hash="")
        request = UnitRequest(
            "r1", "s", "s:solo", 1, target, "", (), None, None, UnitContext({}), tmp_path, tmp_path, ambient=ambient
        )
        return environment_of(request, ("SEEN",)).variables.get("SEEN")

    monkeypatch.setenv("SEEN", "now")
    assert variables(None) == "now"
    assert variables(Ambient({"SEEN": "then"})) == "then"
    assert variables(Ambient({})) is None
