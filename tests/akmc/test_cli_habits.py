"""What every command has in common: help, faults, streams, internal errors."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from akmc import cli, group
from akmc.faults import INTERNAL, INTERRUPTED, USAGE
from akmc.progress import Progress

Run = Callable[..., "subprocess.CompletedProcess[str]"]
COMMANDS = sorted(cli.COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_shows_an_example(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run([name, "--help"]) == 0
    assert f"akmc {name} " in capfd.readouterr().out.partition("Example")[2]


def test_help_lists_every_command_without_importing_any() -> None:
    code = "import sys; from akmc.cli import run; run(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert all(f"\n  {name} " in done.stdout for name in COMMANDS)
    loaded = set(done.stderr.split())
    heavy = {"lark", "ruamel", "jsonschema", "networkx", "rich", "httpx", "msgspec", "akmc_grammar", "akmc_passes"}
    assert "click" in loaded and not loaded & heavy
    assert not [module for module in loaded if module.startswith("akmc.commands.")]


def test_unknown_command_and_option(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["chekc"]) == USAGE
    assert 'did you mean "check"?' in capfd.readouterr().err
    assert cli.run(["check", "--no-such-option"]) == USAGE
    captured = capfd.readouterr()
    assert "--no-such-option" in captured.err and captured.out == ""


def test_no_command_shows_the_help_as_a_usage_error(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.run([]) == USAGE
    captured = capfd.readouterr()
    assert captured.out == "" and "Commands:\n" in captured.err


def test_completion_offers_commands_and_options() -> None:
    words = {"_AKMC_COMPLETE": "bash_complete", "COMP_WORDS": "akmc check --fo", "COMP_CWORD": "2"}
    done = subprocess.run(
        [sys.executable, "-c", "from akmc.cli import main; main()"],
        capture_output=True,
        text=True,
        env={**os.environ, **words},
        check=False,
    )
    assert done.stdout == "plain,--format\n"


def test_progress_shows_after_a_second_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    now = 100.0
    monkeypatch.setattr("akmc.progress.time.monotonic", lambda: now)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    progress = Progress()
    progress(0, 3, "a.md")
    assert terminal.getvalue() == ""
    now = 101.5
    progress(1, 3, "b\x1b.md")
    assert terminal.getvalue() == "\rchecking 2/3 b\\x1b.md"
    progress.close()
    assert terminal.getvalue().endswith("\r" + " " * len("checking 2/3 b\\x1b.md") + "\r\r")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    Progress()(1, 3, "a.md")


def test_an_internal_error_is_a_report_and_no_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2-hunter2")

    def explode(*arguments: object, **options: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(group.akmc, "main", explode)
    with monkeypatch.context() as patch:  # pytest's own capture needs the real directory
        patch.setattr("tempfile.tempdir", str(tmp_path))
        assert cli.run([]) == INTERNAL
    captured = capfd.readouterr()
    (report,) = tmp_path.iterdir()
    assert str(report) in captured.err and "Traceback" not in captured.err + captured.out
    text = report.read_text()
    assert "RuntimeError: boom" in text and "hunter2" not in text
    assert report.stat().st_mode & 0o077 == 0


def test_an_internal_error_without_a_temporary_directory(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def explode(*arguments: object, **options: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr(group.akmc, "main", explode)
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.tempdir", "/nonexistent")
        assert cli.run([]) == INTERNAL
    assert "no report could be written" in capfd.readouterr().err


def test_an_internal_error_that_cannot_even_be_told_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Without memory, making the report fails as the command did."""

    def explode(*arguments: object, **options: object) -> None:
        raise MemoryError

    monkeypatch.setattr(group.akmc, "main", explode)
    with monkeypatch.context() as patch:
        patch.setattr("traceback.format_exception", explode)
        assert cli.run([]) == INTERNAL
    line = "akmc: internal error (MemoryError), and no report of it could be made\n"
    assert tuple(capfd.readouterr()) == ("", line)


@pytest.mark.parametrize("error", [KeyboardInterrupt, click.Abort])
def test_interruption(error: type[BaseException], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(**options: object) -> None:
        raise error

    monkeypatch.setattr(group.akmc, "main", interrupt)
    assert cli.run([]) == INTERRUPTED


def piped(command: str) -> subprocess.CompletedProcess[str]:
    script = f"{{ {command}; echo status $? >&2; }} | true"
    return subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize("arguments", ["explain", "--help", "check --help", "--version"])
def test_a_closed_pipe_ends_quietly(arguments: str) -> None:
    done = piped(f"sleep 0.3; {sys.executable} -m akmc {arguments}")
    assert done.stderr == "status 0\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_said_and_is_no_success() -> None:
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m akmc explain >/dev/full"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and done.stderr.startswith("akmc: cannot write to standard output: No space left")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(os.name != "posix", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-"])
def test_closed_streams(closed: str) -> None:
    command = f"{sys.executable} -m akmc explain AKM0401 {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == ""


def test_color_and_no_color(akmc: Run, bundle: Path) -> None:
    (bundle / "workflows").mkdir()
    (bundle / "workflows" / "a.md").write_text("no frontmatter\n")
    assert "\x1b[" not in akmc("check").stdout
    assert "\x1b[" in akmc("--color", "always", "check").stdout
    assert "\x1b[" in akmc("check", "--color", "always").stdout
    assert "\x1b[" not in akmc("--color", "always", "check", "--color", "never").stdout
    assert "\x1b[" in akmc("--color", "always", "check", env={"NO_COLOR": "1"}).stdout
