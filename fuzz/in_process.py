"""One command of ``akmc`` or ``akm-run`` in this process, its output kept; a start of Python costs too much to fuzz with."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# Processor seconds that a command may take of a machine to itself. A machine that is shared counts some of its neighbours'
# work too, and a test tells hangs, not speed: it allows five times the 2 that ``run.py`` allows (AKMC_FUZZ_SECONDS).
SECONDS: Final = float(os.environ.get("AKMC_FUZZ_SECONDS", "10.0"))
"""CPU time that no command may take, whatever it is given (bounded inputs: spec 1, section 2.5)."""
DOCUMENTED: Final = frozenset({0, 1, 2, 75, 78, 130})
"""Exit statuses of both programs; 70 is an internal error."""


@dataclass(frozen=True)
class Ended:
    """What a command came to. ``seconds`` is CPU time of this process, its children's aside."""

    words: tuple[str, ...]
    status: int
    out: bytes
    err: bytes
    seconds: float

    @property
    def text(self) -> str:
        """Both streams as text."""
        return (self.out + b"\n" + self.err).decode("utf-8", "replace")


@contextmanager
def folder_with(files: Mapping[str, bytes]) -> Iterator[Path]:
    """A temporary working directory with ``files``, an empty home and no config but its own."""
    before, variables = Path.cwd(), dict(os.environ)
    with tempfile.TemporaryDirectory(prefix="akm-fuzz-") as name:
        folder = Path(name)
        home = folder / ".home"
        home.mkdir()
        os.environ |= {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "c"), "XDG_STATE_HOME": str(home / "s")}
        os.environ |= {"AKM_CONFIG_DIR": str(home / "akm"), "TMPDIR": str(home), "NO_COLOR": "1"}
        for path, data in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(data)
        os.chdir(folder)
        try:
            yield folder
        finally:
            os.chdir(before)
            os.environ.clear()
            os.environ.update(variables)


class _Stream(io.TextIOWrapper):
    """A stream that says of itself whether it is a terminal."""

    terminal = False

    def isatty(self) -> bool:
        """What ``run`` was told."""
        return self.terminal


def run(program: str, *words: str, stdin: bytes = b"", terminal: bool = False) -> Ended:
    """Run ``akmc`` or ``akm-run`` with ``words`` in the current directory; its output may take itself for a terminal."""
    from akm_run.cli import run as run_interpreter
    from akmc.cli import run as run_compiler

    streams = sys.stdin, sys.stdout, sys.stderr
    out, err = io.BytesIO(), io.BytesIO()
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    ours = [_Stream(raw, encoding="utf-8", write_through=True) for raw in (out, err)]
    for stream in ours:
        stream.terminal = terminal
    sys.stdout, sys.stderr = ours
    begun = time.process_time()
    try:
        status = run_compiler(words) if program == "akmc" else run_interpreter(words)
        for stream in ours:
            stream.flush()
    finally:
        seconds = time.process_time() - begun
        for wrapper in ours:
            wrapper.detach()  # keeps the bytes readable when the wrapper goes
        sys.stdin, sys.stdout, sys.stderr = streams
    return Ended((program, *words), status, out.getvalue(), err.getvalue(), seconds)


def survives(program: str, *words: str, stdin: bytes = b"") -> Ended:
    """``run``, held to what every command promises: a documented status, no traceback, an end within ``SECONDS``."""
    ended = run(program, *words, stdin=stdin)
    assert ended.status in DOCUMENTED, (ended.words, ended.status, ended.err[-2000:])
    said = b"\n" + ended.out + b"\n" + ended.err  # a source that holds these words is shown behind its line number
    assert b"\nTraceback (most recent call last)" not in said, ended.words
    assert ended.seconds < SECONDS, (ended.words, ended.seconds)
    return ended
