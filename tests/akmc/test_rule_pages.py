"""Every page of ``docs/rules`` is executed: its example gives exactly the output that it shows, its mended example none.

``AKMC_UPDATE_GOLDEN=1 pytest tests/akmc/test_rule_pages.py`` writes the outputs (and the index) anew; read the diff.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from akmc.cli import run
from akmc_grammar.rules import RULES, Rule

PAGES = Path(__file__).resolve().parents[2] / "docs" / "rules"
UPDATE = os.environ.get("AKMC_UPDATE_GOLDEN") == "1"
NAMES = sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "index")
# Rules without an example that can be run here, with the reason: one list for pages and goldens.
_ROWS = (PAGES.parents[1] / "tests/golden/err/exceptions.txt").read_text("utf-8").splitlines()
NOT_RUN = {name: reason for part, name, reason in (row.split(maxsplit=2) for row in _ROWS if row) if part == "page"}
RUN = [name for name in NAMES if name not in NOT_RUN]
HEADINGS = ["## What is wrong", "## Why it matters", "## Example", "## Fixed"]
_BLOCK = re.compile(r"^(`{3,})(\w+)(?: file=(\S+))?(?: encoding=(\S+))?\n(.*?)^\1$", re.MULTILINE | re.DOTALL)

Check = Callable[[list[str]], str]


@dataclass(frozen=True)
class Part:
    """A section's files (with encodings) and its console block: the command, and what it prints."""

    files: dict[str, bytes]
    command: list[str] | None
    output: str
    output_at: tuple[int, int]


def _part(page: str, start: int, end: int) -> Part:
    files: dict[str, bytes] = {}
    command, output, at = None, "", (0, 0)
    for block in _BLOCK.finditer(page, start, end):
        _, language, name, encoding, text = block.groups()
        if name:
            files[name] = text.encode(encoding or "utf-8")
        elif language == "console":
            line, _, output = text.partition("\n")
            command = shlex.split(line.removeprefix("$ "))
            at = (block.start(5) + len(line) + 1, block.end(5))
    return Part(files, command, output, at)


def _parts(page: str) -> tuple[Part, Part]:
    fixed = page.index("\n## Fixed\n")
    return _part(page, page.index("\n## Example\n"), fixed), _part(page, fixed, len(page))


@pytest.fixture
def check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> Callable[[list[str]], str]:
    """Runs ``akmc`` in an empty folder, without the user's own config; what it prints to standard output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("NO_COLOR", "1")

    def call(command: list[str]) -> str:
        assert command[:2] == ["akmc", "check"]
        status = run(command[1:])
        captured = capsysbinary.readouterr()
        assert status in (0, 1), captured.err.decode()
        return captured.out.decode()

    return call


def _write(files: dict[str, bytes]) -> None:
    for name, data in files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(data)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_the_fixed_form(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text("utf-8")
    rule = RULES[name]
    assert page.startswith(f"# {name} ({rule.code})\n")
    assert f" {rule.severity}, " in page.split("\n## ")[0]
    outside = _BLOCK.sub("", page)
    assert [line for line in outside.split("\n") if line.startswith("## ")] == HEADINGS
    assert max(map(len, outside.split("\n"))) <= 160


@pytest.mark.parametrize("name", RUN)
def test_a_page_shows_what_check_says(name: str, check: Check) -> None:
    path = PAGES / f"{name}.md"
    page = path.read_text("utf-8")
    example, fixed = _parts(page)
    assert example.command, "the example has no console block"
    _write(example.files)
    said = check(example.command)
    assert f"[{RULES[name].code} {name}]" in said, said
    if UPDATE and said.rstrip("\n") != example.output.rstrip("\n"):
        start, end = example.output_at
        path.write_text(page[:start] + said.rstrip("\n") + "\n" + page[end:], "utf-8")
    else:
        assert said.rstrip("\n") == example.output.rstrip("\n")
    _write(fixed.files)
    command = fixed.command or example.command
    assert fixed.files, "the mended example has no file"
    left = json.loads(check([*command, "--format", "json"]))["diagnostics"]
    assert [(item["rule"], item["path"], item["line"]) for item in left] == []


def test_the_index_is_fresh() -> None:
    expected = index(RULES.values())
    path = PAGES / "index.md"
    if UPDATE:
        path.write_text(expected, "utf-8")
    assert path.read_text("utf-8") == expected


def test_every_rule_has_a_page_and_every_page_a_rule() -> None:
    assert sorted(RULES) == NAMES
    assert set(NOT_RUN).issubset(RULES)


def index(rules: object) -> str:
    """The list of all rules, linked to their pages, from the registry."""
    assert hasattr(rules, "__iter__")
    rows: list[Rule] = sorted(rules, key=lambda rule: rule.code)
    lines = [
        "# Rules",
        "",
        "Everything that `akmc check` can report. `akmc explain RULE` shows the same pages. Written by",
        "`AKMC_UPDATE_GOLDEN=1 pytest tests/akmc/test_rule_pages.py` from the registry.",
        "",
        "| Code | Rule | Severity | Reported for |",
        "| --- | --- | --- | --- |",
    ]
    for rule in rows:
        name = f"[{rule.name}]({rule.name}.md)" if rule.name in NAMES else rule.name
        summary = rule.summary.replace("|", "\\|")
        lines.append(f"| {rule.code} | {name} | {rule.severity} | {summary} |")
    return "\n".join(lines) + "\n"
