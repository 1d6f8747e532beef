"""Shared by the tests of the command line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import pytest

from akmc.cli import run as run_here
from akmc.render.finding import Finding, FoundNote
from akmc.session.session import Analysis, Session
from akmc.session.targets import Target
from akmc_grammar.places import Span
from akmc_grammar.rules import RULES
from akmc_grammar.source import SourceText

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Write = Callable[[Mapping[str, str]], Path]
MakeFinding = Callable[..., Finding]
Said: TypeAlias = tuple[int, str, str]
Program: TypeAlias = Callable[[Sequence[str]], Said]
Prepare: TypeAlias = Callable[[Iterable[object]], Program]

STRAY = Span(2, 4, 2, 9)


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory as the working directory, without any user config."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "no-user-config"))
    return tmp_path


@pytest.fixture
def analysed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that this process really looked at; a test empties it between runs."""
    names: list[str] = []
    analyse: Callable[..., Analysis] = Session.analyse

    def spy(self: Session, target: Target) -> Analysis:
        names.append(target.path.name)
        return analyse(self, target)

    monkeypatch.setattr(Session, "analyse", spy)
    return names


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


# Changes one file when the program opens another one: an edit at a known moment, in a process of its own, for an audit
# hook stays until the end.
_RACE = """
import sys
from akmc.cli import run

edited, text, moment = sys.argv[1:4]

def at_the_moment(event, arguments):
    global moment
    if event == "open" and moment and str(arguments[0]).endswith(moment):
        moment = ""
        with open(edited, "a", encoding="utf-8") as file:
            file.write(text)

sys.addaudithook(at_the_moment)
sys.exit(run(sys.argv[4:]))
"""


@pytest.fixture
def prepare(capsysbinary: pytest.CaptureFixture[bytes]) -> Prepare:
    """``prepare(recipe)`` makes files in the working directory that nobody wants in version control, or cannot have
    there; what it returns runs ``akmc`` with the given words: exit status, standard output, standard error.

    A recipe is a list of ``{write: FILE, lines: [TEXT or {repeat: COUNT, line: TEXT}]}`` (``{n}`` in a repeated
    line counts from 1), ``{link: FILE, to: TARGET}`` and at most one ``{edit: FILE, append: TEXT, while_reading: FILE}``,
    an edit by somebody else at the moment when the program opens that other file.
    """

    def run_quietly(words: Sequence[str]) -> Said:
        status = run_here([*words])
        captured = capsysbinary.readouterr()
        return status, captured.out.decode(), captured.err.decode()

    def follow(recipe: Iterable[object]) -> Program:
        race: list[str] = []
        for step in recipe:
            match step:
                case {"write": str(name), "lines": list(lines), **rest} if not rest:
                    Path(name).parent.mkdir(parents=True, exist_ok=True)
                    Path(name).write_text("".join(map(_written, lines)), "utf-8")
                case {"link": str(name), "to": str(target), **rest} if not rest:
                    Path(name).parent.mkdir(parents=True, exist_ok=True)
                    Path(name).symlink_to(target)
                case {"edit": str(name), "append": str(text), "while_reading": str(moment), **rest} if not rest:
                    race = [name, text, moment]
                case _:
                    raise ValueError(f"no step of a recipe: {step}")

        def run_racing(words: Sequence[str]) -> Said:
            argv = [sys.executable, "-c", _RACE, *race, *words]
            done = subprocess.run(argv, capture_output=True, encoding="utf-8", check=False, timeout=120)
            return done.returncode, done.stdout, done.stderr

        return run_racing if race else run_quietly

    return follow


def _written(part: object) -> str:
    """A part of a recipe's file: a text, or a line many times."""
    match part:
        case str(text):
            return text if text.endswith("\n") else f"{text}\n"
        case {"repeat": int(count), "line": str(line), **rest} if not rest:
            return "".join(line.replace("{n}", str(number)) + "\n" for number in range(1, count + 1))
    raise ValueError(f"no line of a recipe: {part}")
