"""A run in a process of somebody else's leaves none of its files open."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from akm_run.cli import run

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker


def open_files() -> set[str]:
    """What this process has open, by name."""
    found = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            found.add(str(entry.readlink()))
        except FileNotFoundError:  # the listing's own
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists what a process has open under /proc")
@pytest.mark.parametrize("status", [0, 1])
def test_recording_and_events_are_closed(
    tmp_path: Path, plans: PlanMaker, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "config"))
    Path("plan.json").write_bytes(plans.data(plans.step("a", plans.unit("sh", "-c", f"exit {status}"))))
    assert run(["plan.json", "--record", "answers", "--events", "events"]) == status
    assert Path("events").stat().st_size > 0
    assert [name for name in open_files() if name.startswith(str(tmp_path.resolve()))] == []
