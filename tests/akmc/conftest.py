"""Shared by the tests of the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from akmc.render.finding import Finding, FoundNote
from akmc_grammar.places import Span
from akmc_grammar.rules import RULES
from akmc_grammar.source import SourceText

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Write = Callable[[Mapping[str, str]], Path]
MakeFinding = Callable[..., Finding]

STRAY = Span(2, 4, 2, 9)


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory as the working directory, without any user config."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "no-user-config"))
    return tmp_path


@pytest.fixture
def write(bundle: Path) -> Write:
    """Write files into the working directory."""

    def write_files(files: Mapping[str, str]) -> Path:
        for name, text in files.items():
            path = bundle / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogateescape"))
        return bundle

    return write_files


@pytest.fixture
def akmc(bundle: Path) -> Run:
    """Run ``akmc`` as a process in the working directory."""

    def run(*arguments: str, stdin: str = "", env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "akmc", *arguments],
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            cwd=bundle,
            env={**os.environ, **(env or {})},
            check=False,
            timeout=120,
        )

    return run


@pytest.fixture
def make_finding() -> MakeFinding:
    """A finding on a line of a small source."""

    def make(
        text: str = "first\n## Stray\n",
        span: Span = STRAY,
        *,
        rule: str = "unexpected-heading",
        message: str = "no step is called that",
        path: str = "workflows/a.md",
        help: str | None = None,
        notes: tuple[FoundNote, ...] = (),
    ) -> Finding:
        source = SourceText.of(path, text.encode("utf-8", "surrogateescape"))
        return Finding(RULES[rule], message, path, span, notes=notes, help=help, source=source)

    return make
