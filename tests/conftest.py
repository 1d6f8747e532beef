"""Fixtures that run the two programs as a person would."""

from __future__ import annotations

import os
import pathlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import settings

# ``AKMC_HYPOTHESIS=long``: many examples for every property, for a night or a release.
settings.register_profile("long", max_examples=2000, deadline=None)
settings.register_profile("default", max_examples=50, deadline=None)
settings.load_profile(os.environ.get("AKMC_HYPOTHESIS", "default"))

# A shell ignores these for what it starts in the background, and so would every program that a test interrupts.
for _signal in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP) if os.name == "posix" else ():
    if signal.getsignal(_signal) == signal.SIG_IGN:
        signal.signal(_signal, signal.default_int_handler if _signal == signal.SIGINT else signal.SIG_DFL)

# The strategies of the fuzz targets serve the property tests too.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "fuzz"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A long profile takes as long as it takes: without this the suite's time limit ends a property unfinished."""
    if os.environ.get("AKMC_HYPOTHESIS") == "long":
        for item in items:
            item.add_marker(pytest.mark.timeout(0))


Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run_program(tmp_path: pathlib.Path) -> Run:
    """``run_program("akmc", "check", ...)``: a real process in ``tmp_path`` with an empty home; output captured."""
    beside = pathlib.Path(sys.executable).parent
    path = f"{beside}{os.pathsep}{os.environ.get('PATH', '')}"
    home = tmp_path / ".home"
    home.mkdir(exist_ok=True)
    base = {"PATH": path, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "NO_COLOR": "1"}
    if "PYTHONPATH" in os.environ:  # a mutation run tests a copy of the tree that nobody has installed
        base["PYTHONPATH"] = os.environ["PYTHONPATH"]

    def run(
        name: str,
        *words: str,
        stdin: str = "",
        env: dict[str, str] | None = None,
        cwd: pathlib.Path | None = None,
        expect: int | None = 0,
    ) -> subprocess.CompletedProcess[str]:
        module = {"akmc": "akmc", "akm-run": "akm_run"}.get(name)
        argv = [sys.executable, "-m", module, *words] if module else [name, *words]
        done = subprocess.run(
            argv, cwd=cwd or tmp_path, input=stdin, capture_output=True, text=True, env={**base, **(env or {})}
        )
        assert "Traceback (most recent call last)" not in done.stderr + done.stdout
        if expect is not None:
            assert done.returncode == expect, done.stderr + done.stdout
        return done

    return run


@pytest.fixture
def bundle(tmp_path: pathlib.Path) -> Callable[[dict[str, str]], pathlib.Path]:
    """``bundle({"workflows/a.md": text})``: files written under ``tmp_path``."""

    def write(files: dict[str, str]) -> pathlib.Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return tmp_path

    return write


@pytest.fixture
def copy_tree(tmp_path: pathlib.Path) -> Callable[[pathlib.Path], pathlib.Path]:
    """A folder's content copied to ``tmp_path``, writable."""

    def copy(source: pathlib.Path) -> pathlib.Path:
        shutil.copytree(source, tmp_path, dirs_exist_ok=True, copy_function=shutil.copyfile)
        return tmp_path

    return copy
