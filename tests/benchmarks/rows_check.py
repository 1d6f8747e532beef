"""Checking one file, a thousand files, and the two helps."""

from __future__ import annotations

import pathlib
import shutil
import sys
from collections.abc import Callable

from .harness import (
    EXAMPLE,
    Figure,
    Row,
    Scale,
    at_most,
    in_turns,
    peer,
    processes,
    program,
    spend,
)

INPUTS = pathlib.Path(__file__).resolve().parent / "inputs"
FILES = 1000
WHOLE_ROUNDS = 5
NEEDED = "import click, msgspec, ruamel.yaml"


def _bundle(scratch: pathlib.Path, files: int = 1) -> list[str]:
    """A bundle of files like the 89-line example, no two the same; returns what checks it."""
    folder = scratch / "workflows"
    folder.mkdir()
    _many(EXAMPLE, folder, files, "\nThis is number {number}.\n")
    return [*program("akmc"), "check", *(["workflows/w0.md"] if files == 1 else [])]


def _many(file: pathlib.Path, folder: pathlib.Path, count: int, last: str) -> None:
    """Copies of ``file``, each with a last line of its own, so that nothing can be remembered from one to the next."""
    text = file.read_text(encoding="utf-8").rstrip("\n")
    for number in range(count):
        (folder / f"w{number}{file.suffix}").write_text(text + last.format(number=number), encoding="utf-8")


def _against_code(code: str) -> Callable[[pathlib.Path, Scale], Figure]:
    """One file, a cold process, against ``python -c code``."""

    def row(scratch: pathlib.Path, scale: Scale) -> Figure:
        return processes(_bundle(scratch), [sys.executable, "-c", code], scratch, scale.rounds * 5, "cpu")

    return row


def _against_peer(
    file: str, command: Callable[[str], list[str]], name: str, most: int = WHOLE_ROUNDS
) -> Callable[[pathlib.Path, Scale], Figure]:
    """One file, a cold process, against a peer on one file of its own of like size."""

    def row(scratch: pathlib.Path, scale: Scale) -> Figure:
        words = [peer(name), *command(file)]
        shutil.copy(INPUTS / file, scratch / file)
        return processes(_bundle(scratch), words, scratch, min(scale.rounds, most))

    return row


def _zizmor(path: str) -> list[str]:
    # offline, and findings are no failure: what is compared is reading and judging, on both sides without a network
    return ["--offline", "--no-exit-codes", "--no-progress", "--quiet", path]


def _many_against_zizmor(scratch: pathlib.Path, scale: Scale) -> Figure:
    files = scale.of(FILES, 100)
    words = [peer("zizmor"), *_zizmor(".github/workflows")]
    folder = scratch / ".github" / "workflows"
    folder.mkdir(parents=True)
    _many(INPUTS / "workflow.yml", folder, files, "\n# This is number {number}.\n")
    check = _bundle(scratch, files)
    (scratch / ".akm").mkdir()
    return in_turns(lambda: _cold(check, scratch), lambda: spend(words, scratch).wall, scale.rounds)


def _cold(check: list[str], scratch: pathlib.Path) -> float:
    """Wall seconds of a check that finds no cache."""
    shutil.rmtree(scratch / ".akm" / "cache", ignore_errors=True)
    return spend(check, scratch).wall


def _unchanged(scratch: pathlib.Path, scale: Scale) -> Figure:
    check = _bundle(scratch, scale.of(FILES, 200))
    (scratch / ".akm").mkdir()
    cold = min(_cold(check, scratch) for _ in range(scale.rounds))  # the last one leaves its cache
    warm = min(spend(check, scratch).wall for _ in range(scale.rounds))
    return Figure(warm, cold)


def _help(name: str) -> Callable[[pathlib.Path, Scale], Figure]:
    def row(scratch: pathlib.Path, scale: Scale) -> Figure:
        floor = [sys.executable, "-c", "import click"]
        return processes([*program(name), "--help"], floor, scratch, scale.rounds * 5, "cpu")

    return row


ROWS = (
    Row("akmc check, one file / import click", at_most(2.0), _against_code("import click")),
    Row("akmc check, one file / import click, msgspec, ruamel.yaml", at_most(1.3), _against_code(NEEDED)),
    Row("akmc check, one file / zizmor", at_most(2.0), _against_peer("workflow.yml", _zizmor, "zizmor")),
    Row(
        "akmc check, one file / miniwdl check",
        at_most(0.25),
        _against_peer("miniwdl.wdl", lambda file: ["check", "--no-shellcheck", file], "miniwdl"),
    ),
    Row(
        "akmc check, one file / cwltool --validate",
        None,
        _against_peer("cwltool.cwl", lambda file: ["--validate", "--quiet", file], "cwltool", 1),
    ),
    Row(
        "akmc check, one file / snakemake --list",
        None,
        _against_peer("Snakefile", lambda file: ["--snakefile", file, "--list"], "snakemake", 1),
    ),
    Row("akmc check, 1 000 files, no cache / zizmor", at_most(1.0), _many_against_zizmor),
    Row("akmc check, 1 000 files, nothing changed / no cache", at_most(0.2), _unchanged),
    Row("akmc --help / import click", at_most(1.4), _help("akmc")),
    Row("akm-run --help / import click", at_most(1.4), _help("akm-run")),
)
