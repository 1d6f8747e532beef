"""What is printed arrives whole, or the command says that it did not: on a small disk, and in a pipe that is not waited for."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

if os.name != "posix":
    pytest.skip(
        "file sizes are limited, and pipes opened not to be waited for, on POSIX systems", allow_module_level=True
    )

Run = Callable[..., "subprocess.CompletedProcess[str]"]
STEPS = "".join(
    f"  - id: step_{index}\n    unit: {{exec: {{command: [echo, {'x' * 40}, '{index}']}}}}\n" for index in range(30)
)
SECTIONS = "".join(f"## step_{index}\n\nSay it.\n\n" for index in range(30))
BLOCK = 512  # bytes, as ``ulimit -f`` of a POSIX shell counts them; some shells take 1024
WORDS = [
    "schema akm-workflow",
    "explain",
    "compile --help",
    "compile workflows/w.md",
    "compile workflows/w.md --emit resolved",
    "show workflows/w.md",
    "graph workflows/w.md",
    "surface workflows/w.md --format json",
    "diff one.json workflows/w.md",
    "check bad --format json",
]


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A workflow whose plan has some kilobytes, one of one step, and one full of mistakes."""
    (tmp_path / "workflows").mkdir()
    (tmp_path / "bad" / "workflows").mkdir(parents=True)
    (tmp_path / "workflows" / "w.md").write_text(f"---\nsteps:\n{STEPS}---\n\n{SECTIONS}")
    one = "---\nsteps:\n  - id: a\n    unit: {exec: {command: [echo]}}\n---\n\n## a\n\nSay it.\n"
    (tmp_path / "workflows" / "one.md").write_text(one)
    (tmp_path / "bad" / "workflows" / "w.md").write_text(f"---\nsteps:\n{STEPS.replace('unit', 'unti')}---\n")
    return tmp_path


@pytest.mark.parametrize(("words", "unbuffered"), [("schema akm-workflow", ""), *((words, "1") for words in WORDS)])
def test_output_that_a_disk_has_no_room_for_is_a_fault(
    run_program: Run, sources: Path, words: str, unbuffered: str
) -> None:
    run_program("akmc", "compile", "workflows/one.md", "-o", "one.json")
    env = {"PYTHONUNBUFFERED": unbuffered}
    whole = run_program("akmc", *words.split(), expect=None).stdout.encode()
    assert len(whole) > 4 * BLOCK, "there is something to cut"
    # -B: some versions of Python leave the modules that they cache there cut short
    script = f"ulimit -f {{}}; exec {sys.executable} -B -m akmc {words} > out"
    for blocks in (1, len(whole) // (2 * BLOCK) - 1):
        cut = run_program("sh", "-c", script.format(blocks), expect=1, env=env)
        assert cut.stderr.endswith("akmc: cannot write to standard output: File too large\n")
        assert cut.stderr.count("cannot write") == 1
        written = (sources / "out").read_bytes()
        assert 0 < len(written) < len(whole) and whole.startswith(written)
    run_program("sh", "-c", script.format(len(whole) // BLOCK + 1), expect=None, env=env)
    assert (sources / "out").read_bytes() == whole


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("words", ["schema akm-workflow", "explain", "compile --help"])
def test_a_pipe_that_takes_nothing_for_a_while_gets_everything(run_program: Run, words: str, unbuffered: str) -> None:
    """What another program, which has the same pipe, has made of it."""
    whole = run_program("akmc", *words.split()).stdout.encode()
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    filled = 0
    while True:  # nothing more fits
        try:
            filled += os.write(writing, b"x" * 4096)
        except BlockingIOError:
            break
    argv = [sys.executable, "-m", "akmc", *words.split()]
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered, "NO_COLOR": "1"}
    with subprocess.Popen(argv, stdout=writing, stderr=subprocess.PIPE, env=env) as process:
        os.close(writing)
        time.sleep(0.5)  # by then it has met the full pipe; where it has not, the test proves less and does not fail
        with os.fdopen(reading, "rb") as pipe:
            found = pipe.read()
        assert process.stderr is not None and process.stderr.read() == b""
    assert process.returncode == 0
    assert found == b"x" * filled + whole


def test_a_reader_that_leaves_a_pipe_is_still_no_fault() -> None:
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    argv = [sys.executable, "-m", "akmc", "schema", "akm-workflow"]
    with subprocess.Popen(
        argv, stdout=writing, stderr=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as process:
        os.close(writing)
        os.close(reading)
        assert process.stderr is not None and process.stderr.read() == b""
    assert process.returncode == 0
