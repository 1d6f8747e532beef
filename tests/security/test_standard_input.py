"""What comes in through standard input: whole, or a clear refusal; never a part of it, and never without an end."""

from __future__ import annotations

import array
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

if os.name != "posix":
    pytest.skip("descriptors are handed on, and devices are files, on POSIX systems", allow_module_level=True)

import fcntl
import termios

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SOURCE = "---\nsteps:\n  - id: a\n    unit: {exec: {command: [echo, hello]}}\n---\n\n## a\n\nSay it.\n"
READERS = ["akmc check -", "akmc compile -", "akmc verify -", "akmc diff - plan.json", "akmc migrate -", "akm-run -"]
READERS_OF_PARAMS = ["akm-run plan.json --params-file -"]
MODULES = {"akmc": "akmc", "akm-run": "akm_run"}


@pytest.fixture
def there(tmp_path: Path, run_program: Run) -> Path:
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows" / "a.md").write_text(SOURCE)
    run_program("akmc", "compile", "workflows/a.md", "-o", "plan.json")
    return tmp_path


def program(words: str) -> str:
    name, *rest = words.split()
    return f"{sys.executable} -m {MODULES[name]} {' '.join(rest)}"


@pytest.mark.parametrize("words", [*READERS, *READERS_OF_PARAMS])
def test_an_input_that_cannot_be_read_is_told(there: Path, run_program: Run, words: str) -> None:
    done = run_program("bash", "-c", f"{program(words)} 0> written", expect=2)
    assert "cannot read" in done.stderr and '"-": Bad file descriptor' in done.stderr and done.stdout == ""


@pytest.mark.parametrize("words", READERS)
def test_an_input_without_an_end_is_not_read_on_and_on(there: Path, run_program: Run, words: str) -> None:
    done = run_program("bash", "-c", f"ulimit -v 2000000; {program(words)} < /dev/zero", expect=2)
    assert '"-"' in done.stderr and "er than" in done.stderr and done.stdout == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("akmc verify /dev/zero", 'cannot read "/dev/zero": it is longer than'),
        ("akm-run /dev/zero", '"/dev/zero" is no plan: it is larger than'),
        ("akm-run plan.json --params-file /dev/zero", 'cannot read --params-file "/dev/zero": it is longer than'),
    ],
)
def test_nor_is_a_file_without_an_end(there: Path, run_program: Run, words: str, said: str) -> None:
    assert said in run_program("bash", "-c", f"ulimit -v 2000000; {program(words)}", expect=2).stderr


@pytest.mark.parametrize("words", ["akmc check -", "akmc verify -", "akm-run -"])
def test_a_pipe_that_has_nothing_for_a_while_is_waited_for(there: Path, words: str) -> None:
    """Whoever starts a program may have opened its input so that reading does not wait."""
    text = (SOURCE if "check" in words else (there / "plan.json").read_text()).encode()
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    env = {**os.environ, "AKM_CONFIG_DIR": str(there / "config")}
    started = subprocess.Popen(
        program(words).split(), stdin=reader, cwd=there, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    half = len(text) // 2
    os.write(writer, text[:half])
    while waiting(reader):  # until it is reading
        assert started.poll() is None
        time.sleep(0.02)
    time.sleep(0.1)
    os.write(writer, text[half:])
    os.close(writer)
    _, said = started.communicate(timeout=60)
    os.close(reader)
    assert started.returncode == 0, said


def waiting(reader: int) -> int:
    """How many bytes nobody has taken from a pipe yet."""
    count = array.array("i", [0])
    fcntl.ioctl(reader, termios.FIONREAD, count)
    return count[0]


@pytest.mark.parametrize("signal_", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("words", ["akmc check -", "akm-run -"])
def test_who_waits_for_input_ends_at_a_signal(there: Path, words: str, signal_: int) -> None:
    reader, writer = os.pipe()
    started = subprocess.Popen(program(words).split(), stdin=reader, cwd=there, stderr=subprocess.PIPE, text=True)
    os.write(writer, b"-")
    while waiting(reader):  # until it is reading
        time.sleep(0.02)
    started.send_signal(signal_)
    _, said = started.communicate(timeout=60)
    os.close(reader)
    os.close(writer)
    assert started.returncode == 130
    assert "Traceback" not in said
