"""docs/exit-codes.md: each command is called for each status that its row lists."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from akm_run.cli import run as run_akm_run
from akmc.cli import run as run_akmc

PAGE = Path(__file__).resolve().parents[2] / "docs" / "exit-codes.md"
DRIVEN = {("akm-run run", 75), ("akm-run resume", 75), ("akm-run abandon", 75)}  # need a second process
GOOD = "---\nsteps:\n  - id: a\n    unit:\n      exec: {command: [echo, hi]}\n---\n## a\nSays hi.\n"
PROGRAMS = {
    "good": GOOD,
    "broken": GOOD.replace("unit:", "unti:"),
    "fails": GOOD.replace("[echo, hi]", "['false']"),
    "asks": "---\nsteps: [{id: a}]\n---\n## a\nAnswer.\n",
}
KEYED_ENGINE = {"kind": "llm", "endpoint": "http://127.0.0.1:9/v1/chat/completions", "model": "m", "apiKey": "$NO_KEY"}

# ``RUN`` is a completed run, ``FAILED`` a failed one.
CASES = [
    (0, "akmc check workflows/good.md"),
    (1, "akmc check workflows/broken.md"),
    (2, "akmc check workflows/none.md"),
    (78, "akmc check --config faulty.json workflows/good.md"),
    (0, "akmc compile workflows/good.md -o new.json"),
    (1, "akmc compile --check workflows/good.md -o fails.json"),
    (2, "akmc compile workflows/broken.md"),
    (78, "akmc compile workflows/asks.md"),
    (0, "akmc config list"),
    (1, "akmc config get defaults.engine"),
    (2, "akmc config get no.such"),
    (78, "akmc config list --config faulty.json"),
    (0, "akmc diff good.json fails.json"),
    (1, "akmc diff --exit-code good.json fails.json"),
    (2, "akmc diff good.json none.json"),
    (78, "akmc diff --config faulty.json good.json workflows/good.md"),
    (0, "akmc explain unknown-key"),
    (2, "akmc explain no-such-rule"),
    (0, "akmc graph workflows/good.md"),
    (2, "akmc graph workflows/broken.md"),
    (78, "akmc graph --config faulty.json workflows/good.md"),
    (0, "akmc migrate old.md"),
    (1, "akmc migrate workflows/good.md"),
    (2, "akmc migrate"),
    (0, "akmc new fresh"),
    (2, "akmc new good"),
    (0, "akmc schema akm-plan"),
    (2, "akmc schema no-such"),
    (0, "akmc show good.json"),
    (2, "akmc show workflows/broken.md"),
    (78, "akmc show workflows/asks.md"),
    (0, "akmc surface good.json"),
    (2, "akmc surface workflows/broken.md"),
    (78, "akmc surface workflows/asks.md"),
    (0, "akmc verify good.json"),
    (1, "akmc verify torn.json"),
    (2, "akmc verify"),
    (78, "akmc verify --sources --config faulty.json good.json"),
    (0, "akm-run run good.json"),
    (1, "akm-run run fails.json"),
    (2, "akm-run run FAILED"),
    (78, "akm-run run keyed.json"),
    (0, "akm-run status FAILED"),
    (2, "akm-run status 20260301-101500-1f2e3d4c"),
    (0, "akm-run list"),
    (2, "akm-run list --no-such"),
    (0, "akm-run abandon FAILED"),
    (2, "akm-run abandon RUN"),
    (0, "akm-run events RUN"),
    (2, "akm-run events 20260301-101500-1f2e3d4c"),
    (0, "akm-run logs RUN"),
    (2, "akm-run logs RUN no:such"),
    (0, "akm-run why RUN a:solo"),
    (2, "akm-run why RUN no:such"),
    (0, "akm-run output RUN"),
    (2, "akm-run output RUN no-such"),
    (0, "akm-run report RUN -o page.html"),
    (2, "akm-run report RUN -o no/such/page.html"),
    (0, "akm-run export RUN -o run.akmrun"),
    (2, "akm-run export RUN -o no/such/run.akmrun"),
    (0, "akm-run import exported.akmrun --db elsewhere.db"),
    (2, "akm-run import good.json"),
    (0, "akm-run prune --older-than 30d"),
    (2, "akm-run prune --older-than soon"),
    (0, "akm-run resume FAILED"),
    (2, "akm-run resume RUN"),
]


def rows() -> dict[str, set[int]]:
    """The statuses that the page lists for each command."""
    found: dict[str, set[int]] = {}
    head: list[str] = []
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" |")]
        if line.startswith("| Command"):
            head = cells[1:]
        elif line.startswith("| `akm"):
            found[cells[0].strip("`")] = {int(status) for status, cell in zip(head, cells[1:], strict=True) if cell}
    return found


def call(line: str) -> int:
    words = shlex.split(line)
    return run_akmc(words[1:]) if words[0] == "akmc" else run_akm_run(words[1:])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A folder with sources, plans and two runs; the runs' ids by their name in ``CASES``."""
    root = tmp_path_factory.mktemp("statuses")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setenv("AKM_CONFIG_DIR", str(root / "none"))
        for name in ("workflows", ".akm"):
            (root / name).mkdir()
        for name, text in PROGRAMS.items():
            (root / "workflows" / f"{name}.md").write_text(text)
        (root / "faulty.json").write_text('{"engines": 1}')
        (root / "old.md").write_text("# Workflow: Old\n\n## Step: A\nStep ID: a\n\n### Instructions\nDo it.\n")
        (root / "engines.json").write_text(
            json.dumps({"engines": {"far": KEYED_ENGINE}, "defaults": {"engine": "far"}})
        )
        for name in ("good", "fails"):
            assert call(f"akmc compile workflows/{name}.md -o {name}.json") == 0
        assert call("akmc compile --config engines.json workflows/asks.md -o keyed.json") == 0
        (root / "torn.json").write_text((root / "good.json").read_text()[:-20])
        ids = {}
        for name, plan, status in (("RUN", "good.json", 0), ("FAILED", "fails.json", 1)):
            assert call(f"akm-run {plan} --events {name}.jsonl") == status
            ids[name] = newest()
        assert call(f"akm-run export {ids['RUN']} -o exported.akmrun") == 0
        yield ids


def newest() -> str:
    done = subprocess.run([sys.executable, "-m", "akm_run", "list", "--json"], capture_output=True, check=True)
    return str(json.loads(done.stdout)["runs"][0]["runId"])


@pytest.mark.parametrize(("status", "line"), CASES, ids=lambda value: str(value))
def test_the_command_ends_as_the_page_says(status: int, line: str, folder: dict[str, str]) -> None:
    for name, run_id in folder.items():
        line = re.sub(rf"\b{name}\b", run_id, line)
    assert call(line) == status


def test_each_status_of_the_page_has_a_case_and_nothing_else() -> None:
    tried = {(" ".join(line.split()[:2]), status) for status, line in CASES} | DRIVEN
    assert tried == {(command, status) for command, statuses in rows().items() for status in statuses}


def test_another_driver_and_an_interrupt(folder: dict[str, str], tmp_path: Path) -> None:
    """75 while somebody else drives the run, 130 for the one that is interrupted."""
    source = GOOD.replace("[echo, hi]", "[sleep, '60']")
    Path("workflows/slow.md").write_text(source)
    assert call("akmc compile workflows/slow.md -o slow.json") == 0
    db = tmp_path / "state.db"
    driver = subprocess.Popen(
        [sys.executable, "-m", "akm_run", "slow.json", "--db", str(db), "--events", str(tmp_path / "events")],
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        run_id = started(db, tmp_path / "events")
        assert [call(f"akm-run {verb} {run_id} --db {db}") for verb in ("run", "resume", "abandon")] == [75, 75, 75]
    finally:
        driver.send_signal(signal.SIGINT)
        assert driver.wait(timeout=60) == 130


def started(db: Path, events: Path) -> str:
    """The id of the run once its unit is dispatched."""
    for _ in range(1200):
        if events.exists() and "unit.started" in events.read_text():
            words = [sys.executable, "-m", "akm_run", "list", "--json", "--db", str(db)]
            return str(json.loads(subprocess.run(words, capture_output=True, check=True).stdout)["runs"][0]["runId"])
        time.sleep(0.05)
    raise AssertionError("the run does not begin")


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (2, "akmc compile workflows/good.md -o FULL"),
        (2, "akmc graph good.json -o FULL"),
        (2, "akmc schema -o good.json/x"),
        (2, "akmc config set --config good.json/x defaults.engine local"),
        (2, "akmc new --bundle good.json fresh"),
        (2, "akm-run report RUN -o FULL"),
        (2, "akm-run export RUN -o FULL"),
        (1, "akmc migrate old.md -o good.json/x"),
    ],
)
def test_a_file_that_cannot_be_written(status: int, line: str, folder: dict[str, str]) -> None:
    """As the page says below its first table: 2, and 1 where the rest is done first (a run's: test_state_file_trouble.py)."""
    if "FULL" in line and not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    assert call(line.replace("FULL", "/dev/full").replace("RUN", folder["RUN"])) == status


@pytest.mark.parametrize(
    ("place", "line"),
    [("akmc.starter.starter_text", "akmc new other"), ("akm_run.commands.list_command.current_scope", "akm-run list")],
)
def test_a_bug_of_ours_is_70(
    place: str, line: str, folder: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr(place, fail)
    assert call(line) == 70
    assert list(tmp_path.iterdir()) != []
