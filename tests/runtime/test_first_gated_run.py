"""docs/first-gated-run.md, typed command by command, with what it shows."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "first-gated-run.md"
EXAMPLE = ROOT / "docs" / "examples" / "gated-review"
PORT = "8765"  # the page's; the test takes a free one, that others may run beside it
SHOWN_RUN = "20260301-101500-1f2e3d4c"
COPY = "$ cp -R docs/examples/gated-review/. ~/gated-review && cd ~/gated-review"
BLOCK = re.compile(r"```console\n(.*?)```\n", re.S)


def free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


class Shell:
    """A person's shell in a copy of the example."""

    def __init__(self, folder: Path, programs: Path, home: Path) -> None:
        self.folder, self.port, self.run_id = folder, free_port(), ""
        self.digests: dict[str, int] = {}
        self.model: subprocess.Popen[bytes] | None = None
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        self.env = {"PATH": path, "HOME": str(home), "XDG_CONFIG_HOME": str(home), "NO_COLOR": "1", "COLUMNS": "120"}
        for file in (folder / ".akm" / "config.json", folder / "plan.json"):
            if file.exists():
                file.write_text(file.read_text().replace(PORT, self.port))

    def type(self, command: str) -> str:
        """What a command shows, as the page has it."""
        if command == COPY.removeprefix("$ "):
            return ""
        if command == "kill %1":
            self.stop()
            return ""
        command = command.replace(PORT, self.port)
        if command.endswith(" &"):
            self.start(command.removesuffix(" &"))
            return ""
        words = command.replace("RUN_ID", self.run_id)
        done = subprocess.run(
            ["sh", "-c", f"{words} 2>&1"], cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=60
        )
        assert "Traceback" not in done.stdout
        if not self.run_id and (found := re.search(r"^run (\S+) ", done.stdout, re.M)):
            self.run_id = found[1]
        return self._as_shown(done.stdout)

    def start(self, command: str) -> None:
        self.model = subprocess.Popen(["sh", "-c", f"exec {command}"], cwd=self.folder, env=self.env)
        for _ in range(600):
            with socket.socket() as found:
                if found.connect_ex(("127.0.0.1", int(self.port))) == 0:
                    return
            time.sleep(0.05)
        raise AssertionError("the model does not listen")

    def stop(self) -> None:
        assert self.model is not None
        self.model.terminate()
        self.model.wait()
        self.model = None

    def _as_shown(self, text: str) -> str:
        """Ids, times, digests and the port as the page has them: they are others each time."""
        text = text.replace(self.run_id, SHOWN_RUN) if self.run_id else text
        text = text.replace(self.port, PORT)
        text = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z", "2026-03-01T10:15:00.000Z", text)
        text = re.sub(r"\b[0-9a-f]{64}\b", lambda found: self._stand_in(found[0])[:8] + "…", text)
        text = re.sub(r"\b[0-9a-f]{16}\b", lambda found: self._stand_in(found[0]), text)
        text = re.sub(r"(?<=contentHash )[0-9a-f]{12}", lambda found: self._stand_in(found[0])[:12], text)
        return re.sub(r"\d+ of this host", "6 of this host", re.sub(r"width: \d+ of", "width: 6 of", text))

    def _stand_in(self, digest: str) -> str:
        """16 digits that stand for ``digest`` and for no other: a reader sees which are equal."""
        number = self.digests.setdefault(digest[:12], len(self.digests))
        return hashlib.sha256(b"stand-in %d" % number).hexdigest()[:16]


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    programs, home = tmp_path / "bin", tmp_path / "home"
    home.mkdir()
    programs.mkdir()
    for name, module in (("akmc", "akmc"), ("akm-run", "akm_run")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        (programs / name).chmod(0o755)
    (programs / "python3").symlink_to(sys.executable)
    shutil.copytree(EXAMPLE, tmp_path / "work")
    return Shell(tmp_path / "work", programs, home)


def test_the_page_shows_what_happens(shell: Shell) -> None:
    text = PAGE.read_text()

    def played(match: re.Match[str]) -> str:
        commands = [line for line in match[1].splitlines() if line.startswith("$ ")]
        return "```console\n" + "".join(f"{line}\n{shell.type(line[2:])}" for line in commands) + "```\n"

    try:
        now = BLOCK.sub(played, text)
    finally:
        if shell.model is not None:
            shell.stop()
    assert shell.run_id
    if os.environ.get("AKMC_UPDATE_GOLDEN"):
        PAGE.write_text(now)
    assert now == text or os.environ.get("AKMC_UPDATE_GOLDEN"), now


def test_the_page_tells_the_whole_story() -> None:
    """What it shows is what the words around it say, so that an update cannot empty it."""
    text = PAGE.read_text()
    for words in (
        "connection refused",
        "judge_unreadable",
        "blocked",
        "rejected: round 2",
        "accepted: the step completed",
    ):
        assert words in text, words
    assert text.count("$ ") >= 15
    assert "first-gated-run.md" in (ROOT / "README.md").read_text()
