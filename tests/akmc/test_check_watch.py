"""``akmc check --watch`` as a real process, and what it looks at."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from akmc.cli import run
from akmc.session.session import Session
from akmc.session.store import FileStore
from akmc.session.targets import Collector
from akmc.session.watch import Changes, Scope, scope_of

Write = Callable[[Mapping[str, str]], Path]
CLEAN = "---\nsteps:\n  - id: build\n---\n## build\nGo.\n"
STRAY = CLEAN + "\n## stray\nNo.\n"
SCRIPTED = """\
name: S
on: {workflow_dispatch: {}}
jobs: {main: {runs-on: [self-hosted], steps: [{id: a, uses: scripts/x.sh}]}}
"""
PATIENCE_S = 60.0


class Watcher:
    """A running watch whose lines (both streams) arrive in order of each."""

    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "akmc", "check", "--watch", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))

    def round(self) -> list[str]:
        """The lines of one check, up to the one that says what is watched."""
        found: list[str] = []
        while not (found and found[-1].startswith("watching ")):
            found.append(self.lines.get(timeout=PATIENCE_S))
        return found[:-1]


@pytest.fixture
def watcher() -> Iterator[Callable[..., Watcher]]:
    started: list[Watcher] = []

    def start(*options: str) -> Watcher:
        started.append(Watcher(*options))
        return started[-1]

    yield start
    for one in started:
        if one.process.poll() is None:
            one.process.kill()
        one.process.wait()
        assert one.process.stdout is not None
        one.process.stdout.close()


def test_each_change_is_checked_and_ctrl_c_ends_with_130(write: Write, watcher: Callable[..., Watcher]) -> None:
    write({"workflows/a.md": CLEAN, "workflows/b.yml": SCRIPTED, "scripts/x.sh": "exit 0\n"})
    one = watcher("--format", "concise")
    assert one.round() == ["2 files checked: no findings"]
    write({"workflows/a.md": STRAY})
    head, summary = one.round()
    assert head.startswith("workflows/a.md:8:4: error[AKM0401 unexpected-heading]: ")
    assert summary == "2 files checked: 1 error"
    write({"workflows/a.md": CLEAN})
    assert one.round() == ["2 files checked: no findings"]
    Path("scripts/x.sh").unlink()
    head, summary = one.round()
    assert "unresolved-ref" in head
    write({"scripts/x.sh": "exit 1\n", "workflows/c.md": STRAY})
    (head, summary) = one.round()
    assert head.startswith("workflows/c.md:8:4:")
    assert summary == "3 files checked: 1 error"
    assert one.process.poll() is None
    one.process.send_signal(signal.SIGINT)
    assert one.process.wait(timeout=PATIENCE_S) == 130


def test_a_config_that_appears_counts(write: Write, watcher: Callable[..., Watcher]) -> None:
    write({"workflows/a.md": CLEAN})
    one = watcher("--format", "concise", "workflows/a.md")
    assert one.round() == ["1 file checked: no findings"]
    write({".akm/config.json": '{"engines": {}}'})
    assert "no-engine" in one.round()[0]


def test_the_screen_is_cleared_on_a_terminal_only(write: Write) -> None:
    pty = pytest.importorskip("pty", reason="no pseudo-terminals on this platform")
    write({"workflows/a.md": CLEAN})
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "akmc", "check", "--watch"], stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    said = b""
    deadline = time.monotonic() + PATIENCE_S
    while b"Ctrl-C ends" not in said and time.monotonic() < deadline:
        said += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=PATIENCE_S) == 130
    os.close(ours)
    assert said.startswith(b"\x1b[2J\x1b[H")
    assert b"1 file checked: no findings" in said


def test_it_ends_when_nobody_reads(write: Write) -> None:
    write({"workflows/a.md": STRAY})
    process = subprocess.Popen(
        [sys.executable, "-m", "akmc", "check", "--watch"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=PATIENCE_S) == 1


@pytest.mark.parametrize(
    "options", [["--format", "json"], ["--format", "sarif"], ["--fix"], ["-"], ["--stdin-filename", "workflows/a.md"]]
)
def test_what_does_not_go_with_it_is_a_usage_fault(
    write: Write, options: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    write({"workflows/a.md": CLEAN})
    assert run(["check", "--watch", *options]) == 2
    assert "help: " in capfd.readouterr().err


def watched(*paths: str) -> Scope:
    store = FileStore()
    return scope_of(Collector(store, None).collect(paths), Session(store).bundles(), None)


def test_changes_are_told_apart(write: Write) -> None:
    root = write({"workflows/a.md": CLEAN, "env/x.env": "A=1\n", "scripts/.hidden": "", "notes/n.md": "no"})
    scope = watched()
    before = scope.snapshot()
    assert sorted(path.relative_to(root).as_posix() for path in before) == ["env/x.env", "workflows/a.md"]
    assert scope.changes(before, scope.snapshot()) == Changes((), False)
    assert not scope.changes(before, scope.snapshot())
    write({"workflows/a.md": STRAY})
    assert scope.changes(before, scope.snapshot()) == Changes((root / "workflows/a.md",), False)
    Path("env/x.env").chmod(0o600)
    assert scope.changes(before, scope.snapshot()).moved
    Path("env/x.env").unlink()
    assert scope.changes(before, scope.snapshot()).moved
    before = scope.snapshot()
    write({".akm/config.json": "{}"})
    assert scope.changes(before, scope.snapshot()) == Changes((), True)


def test_unchanged_documents_are_not_read_again(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write({"workflows/a.md": CLEAN, "workflows/b.md": CLEAN})
    session = Session(FileStore())
    targets = Collector(session.store, None).collect(())
    session.check(targets)
    first = {path.name: text for path, text in session.store.read_set().items()}
    path = write({"workflows/b.md": STRAY}) / "workflows/b.md"
    session.store.forget([path])
    (finding,) = session.check(targets).findings
    assert finding.path == "workflows/b.md"
    again = {path.name: text for path, text in session.store.read_set().items()}
    assert again["a.md"] is first["a.md"]
    assert again["b.md"] is not first["b.md"]
