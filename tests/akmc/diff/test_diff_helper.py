"""Of two large plans, the second is looked at by a helper meanwhile: it saves time and changes nothing that is said."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from plans import pinned, sealed

from akm_schemas import decode
from akm_schemas.canonical import canonical_bytes
from akm_schemas.plan import Plan
from akmc.cli import run
from akmc.session import ahead, freezing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="helpers are forked on Linux alone")


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The plans that helpers were started for; the working directory has ``old.json`` and ``new.json``."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "none"))
    monkeypatch.setattr(ahead, "_cores", lambda: 2)
    monkeypatch.setattr(ahead, "_can_fork", lambda: True)  # the test runner may have threads, which fork nothing
    monkeypatch.setattr(freezing, "_LARGE_PLAN", 1)
    plan = json.loads(next(data for data in pinned() if b'"kind":"exec"' in data and b'"timeoutMs"' in data))
    for name, timeout in (("old.json", 1000), ("new.json", 2000)):
        for step in plan["steps"]:
            if "unit" in step:
                step["unit"]["timeoutMs"] = timeout
        Path(name).write_bytes(canonical_bytes(sealed(plan)) + b"\n")
    names: list[str] = []
    intact_ahead = freezing.intact_ahead

    def noted(spec: str) -> ahead.Ahead | None:
        names.append(spec)
        return intact_ahead(spec)

    monkeypatch.setattr("akmc.diff.sides.intact_ahead", noted)
    return names


def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "_cores", lambda: 1)


def test_the_second_plan_is_taken_on_the_word_of_a_helper(
    started: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["diff", "old.json", "new.json"]) == 0
    helped = capfd.readouterr()
    assert started == ["new.json"] and "timeout is 2s, was 1s" in helped.out
    alone(monkeypatch)
    assert run(["diff", "old.json", "new.json"]) == 0
    assert capfd.readouterr() == helped
    read: list[bytes] = []
    checked = decode.decode_plan

    def noted(data: bytes) -> Plan:
        read.append(data)
        return checked(data)

    monkeypatch.setattr(decode, "decode_plan", noted)
    monkeypatch.setattr(ahead, "_cores", lambda: 2)
    assert run(["diff", "old.json", "new.json"]) == 0
    assert read == [Path("old.json").read_bytes()]


@pytest.mark.parametrize("broken", ["old.json", "new.json"])
def test_a_broken_plan_is_told_as_without_a_helper(
    broken: str, started: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    data = bytearray(Path(broken).read_bytes())
    data[len(data) // 2] ^= 1
    Path(broken).write_bytes(data)
    assert run(["diff", "old.json", "new.json"]) == 2
    helped = capfd.readouterr()
    assert broken in helped.err and not helped.out
    alone(monkeypatch)
    assert run(["diff", "old.json", "new.json"]) == 2
    assert capfd.readouterr() == helped


def test_a_plan_that_changes_after_the_helper_saw_it_is_read_here(
    started: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    harvest = ahead._harvest

    def changed(helper: ahead.Helper) -> dict[int, bytes]:
        assert list(harvest(helper)) == [0]
        return {0: bytes(32)}  # of other bytes than those that are there now

    monkeypatch.setattr(ahead, "_harvest", changed)
    assert run(["diff", "old.json", "new.json"]) == 0
    assert "timeout is 2s, was 1s" in capfd.readouterr().out


@pytest.mark.parametrize("sides", [["-", "new.json"], ["old.json", "gone.json"], ["old.json", "a.md"]])
def test_no_helper_for_what_is_no_file_of_a_plan(
    sides: list[str], started: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    Path("a.md").write_text("---\nsteps: [{id: a}]\n---\n## a\nGo.\n")
    run(["diff", *sides])
    assert started == []


def test_no_helper_for_small_plans(started: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(freezing, "_LARGE_PLAN", 10_000_000)
    monkeypatch.setattr(ahead, "_fork", lambda *_: pytest.fail("a helper was started"))
    assert run(["diff", "old.json", "new.json"]) == 0
    assert started == ["new.json"]
