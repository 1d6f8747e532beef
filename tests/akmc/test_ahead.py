"""Helpers of a check of many files save time and change nothing that is said."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from akmc.cli import run
from akmc.session import ahead
from akmc.session.session import Analysis, Session
from akmc.session.targets import Target

COUNT = ahead.WORTH_IT + 20
FAULTY = (3, COUNT - 5)  # one in each half: of the one that prints, and of its helper
SOURCE = "---\nsteps:\n  - id: draft\n---\n# Flow {number}\n\n## {heading}\n\nWrite about it.\n"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="helpers are forked on Linux alone")


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle with enough workflows for a helper; the working directory. Two cores, whatever the machine has."""
    (tmp_path / ".akm").mkdir()
    (tmp_path / "workflows").mkdir()
    for number in range(COUNT):
        write(tmp_path, number)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "no-user-config"))
    monkeypatch.setattr(ahead, "_cores", lambda: 2)
    monkeypatch.setattr(ahead, "_can_fork", lambda: True)  # the test runner may have threads, which fork nothing
    return tmp_path


def write(bundle: Path, number: int, heading: str = "draft") -> None:
    (bundle / "workflows" / f"flow{number:03}.md").write_text(SOURCE.format(number=number, heading=heading))


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process takes longer over a file than any helper, so that a helper takes most of them."""
    here, analyse = os.getpid(), Session.analyse

    def slowly(self: Session, target: Target) -> Analysis:
        if os.getpid() == here:
            time.sleep(0.01)
        return analyse(self, target)

    monkeypatch.setattr(Session, "analyse", slowly)


@pytest.mark.usefixtures("slow")
def test_who_is_quicker_takes_more_of_the_work(bundle: Path, analysed: list[str]) -> None:
    assert run(["check"]) == 0
    assert 0 < len(analysed) < COUNT // 2
    analysed.clear()
    assert run(["check"]) == 0
    assert analysed == []


@pytest.mark.usefixtures("slow")
def test_findings_are_the_same_and_in_order(
    bundle: Path, analysed: list[str], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in FAULTY:
        write(bundle, number, heading="nobody")
    assert run(["check", "--format", "json"]) == 1
    helped = capfd.readouterr()
    assert len(analysed) == len(set(analysed)) < COUNT
    assert {f"flow{number:03}.md" for number in FAULTY} <= set(analysed)  # whoever met them first
    (bundle / ".akm" / "cache").rename(bundle / "cache-before")
    monkeypatch.setattr(ahead, "_cores", lambda: 1)
    assert run(["check", "--format", "json"]) == 1
    assert capfd.readouterr() == helped
    paths = {finding["path"] for finding in json.loads(helped.out)["diagnostics"]}
    assert paths == {f"workflows/flow{number:03}.md" for number in FAULTY}


def test_a_helper_that_dies_costs_nothing_but_time(
    bundle: Path, analysed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = os.getpid()

    def dies(shares: ahead.Shares, verdict: object, writer: int) -> None:
        assert os.getpid() != here
        assert shares.take()
        os.write(writer, b"half a key")
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(ahead, "_help", dies)
    assert run(["check"]) == 0
    assert len(analysed) == len(set(analysed)) == COUNT


def test_a_crash_in_a_helper_is_met_here_again(
    bundle: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    analyse = Session.analyse

    def breaks(self: Session, target: Target) -> Analysis:
        if target.path.name == f"flow{COUNT - 2:03}.md":
            raise RuntimeError("a bug")
        return analyse(self, target)

    monkeypatch.setattr(Session, "analyse", breaks)
    monkeypatch.setattr(tempfile, "tempdir", str(bundle))
    assert run(["check"]) == 70
    assert "RuntimeError" in capfd.readouterr().err


def test_where_most_files_have_findings_a_helper_gives_up(bundle: Path) -> None:
    looked: list[int] = []

    def never(place: int) -> bytes | None:
        looked.append(place)
        return None

    reader, writer = os.pipe()
    shares = ahead.Shares(range(COUNT))
    ahead._help(shares, never, writer)
    shares.close()
    os.close(writer)
    assert os.read(reader, 1) == b""
    os.close(reader)
    assert len(looked) == 16


def test_nothing_is_left_running_when_a_check_is_broken_off(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(self: Session, target: Target) -> Analysis:
        raise KeyboardInterrupt

    monkeypatch.setattr(Session, "analyse", interrupted)
    assert run(["check"]) == 130
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


@pytest.mark.parametrize("count", [1, 8, 9, 8000, 8001, 100_000])
def test_each_place_is_in_one_share(count: int) -> None:
    shares = ahead.Shares(range(count))
    taken = [place for share in iter(shares.take, ()) for place in share]
    assert taken == list(range(count))
    shares.close()


@pytest.mark.parametrize(("unknown", "cores"), [(ahead.WORTH_IT - 1, 8), (ahead.WORTH_IT, 1)])
def test_few_files_and_one_core_start_nobody(monkeypatch: pytest.MonkeyPatch, unknown: int, cores: int) -> None:
    monkeypatch.setattr(ahead, "_cores", lambda: cores)
    monkeypatch.setattr(ahead, "_can_fork", lambda: True)
    assert ahead.start(range(unknown), lambda _: None) is None


def test_a_real_check_says_the_same_with_all_cores(bundle: Path) -> None:
    command = [sys.executable, "-m", "akmc", "check"]
    done = subprocess.run(command, cwd=bundle, capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, f"{COUNT} files checked: no findings\n")


def test_checkers_with_helpers_share_the_cache(bundle: Path, analysed: list[str]) -> None:
    command = [sys.executable, "-m", "akmc", "check"]
    running = [
        subprocess.Popen(command, cwd=bundle, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(3)
    ]
    outputs = {process.communicate()[0] for process in running}
    assert outputs == {f"{COUNT} files checked: no findings\n".encode()}
    assert run(["check"]) == 0
    assert analysed == []
