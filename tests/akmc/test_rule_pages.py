"""Every page of ``docs/rules`` is executed: its example gives exactly the output that it shows, its mended example none.

``AKMC_UPDATE_GOLDEN=1 pytest tests/akmc/test_rule_pages.py`` writes the outputs (and the index) anew; read the diff.

A ``yaml recipe`` block makes the files that a page does not spell out; see ``prepare`` in conftest.py.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from akmc_grammar.rules import RULES, Rule

PAGES = Path(__file__).resolve().parents[2] / "docs" / "rules"
UPDATE = os.environ.get("AKMC_UPDATE_GOLDEN") == "1"
NAMES = sorted(path.stem for path in PAGES.glob("*.md") if path.stem != "index")
HEADINGS = ["## What is wrong", "## Why it matters", "## Example", "## Fixed"]
_BLOCK = re.compile(r"^(`{3,})(\w+)(?: file=(\S+))?(?: encoding=(\S+))?( recipe)?\n(.*?)^\1$", re.MULTILINE | re.DOTALL)

Prepare = Callable[[Iterable[object]], Callable[[Sequence[str]], "tuple[int, str, str]"]]


@dataclass(frozen=True)
class Part:
    """A section's files (with encodings), its recipe and its console block: the command, and what it prints."""

    files: dict[str, bytes]
    recipe: list[object]
    command: list[str] | None
    output: str
    output_at: tuple[int, int]


def _part(page: str, start: int, end: int) -> Part:
    files: dict[str, bytes] = {}
    recipe: list[object] = []
    command, output, at = None, "", (0, 0)
    for block in _BLOCK.finditer(page, start, end):
        _, language, name, encoding, makes, text = block.groups()
        if makes:
            recipe += YAML(typ="safe", pure=True).load(text)
        elif name:
            files[name] = text.encode(encoding or "utf-8")
        elif language == "console":
            line, _, output = text.partition("\n")
            command = shlex.split(line.removeprefix("$ "))
            at = (block.start(6) + len(line) + 1, block.end(6))
    return Part(files, recipe, command, output, at)


def _parts(page: str) -> tuple[Part, Part]:
    fixed = page.index("\n## Fixed\n")
    return _part(page, page.index("\n## Example\n"), fixed), _part(page, fixed, len(page))


@pytest.fixture
def run_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prepare: Prepare) -> Callable[[Part, list[str]], str]:
    """Makes the files of a part in an empty folder and runs ``akmc`` there, without the user's own config; what check
    prints to standard output, and what compile prints to both."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("NO_COLOR", "1")

    def call(part: Part, command: list[str]) -> str:
        _write(part.files)
        assert command[0] == "akmc" and command[1] in ("check", "compile")
        status, out, err = prepare(part.recipe)(command[1:])
        assert status in (0, 1, 2) and "usage" not in err.lower(), err
        return out if command[1] == "check" else out + err

    return call


def _write(files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_symlink():  # a mended file stands where the link was
            path.unlink()
        path.write_bytes(data)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_the_fixed_form(name: str) -> None:
    page = (PAGES / f"{name}.md").read_text("utf-8")
    rule = RULES[name]
    assert page.startswith(f"# {name} ({rule.code})\n")
    assert f" {rule.severity}, " in page.split("\n## ")[0]
    outside = _BLOCK.sub("", page)
    assert [line for line in outside.split("\n") if line.startswith("## ")] == HEADINGS
    assert max(map(len, outside.split("\n"))) <= 160


@pytest.mark.parametrize("name", NAMES)
def test_a_page_shows_what_the_command_says(name: str, run_page: Callable[[Part, list[str]], str]) -> None:
    path = PAGES / f"{name}.md"
    page = path.read_text("utf-8")
    example, fixed = _parts(page)
    assert example.command, "the example has no console block"
    said = run_page(example, example.command)
    assert f"[{RULES[name].code} {name}]" in said, said
    if UPDATE and said.rstrip("\n") != example.output.rstrip("\n"):
        start, end = example.output_at
        path.write_text(page[:start] + said.rstrip("\n") + "\n" + page[end:], "utf-8")
    else:
        assert said.rstrip("\n") == example.output.rstrip("\n")
    command = fixed.command or example.command
    assert fixed.files or fixed.recipe or fixed.command, "the mended example has nothing to run"
    if command[1] == "compile":
        assert run_page(fixed, command).startswith("akmc: wrote ")
    else:
        left = json.loads(run_page(fixed, [*command, "--format", "json"]))["diagnostics"]
        assert [(item["rule"], item["path"], item["line"]) for item in left] == []


def test_related_rules_name_each_other() -> None:
    related: dict[str, list[str]] = {}
    for name in NAMES:
        head = (PAGES / f"{name}.md").read_text("utf-8").split("\n## ")[0]
        if (line := re.search(r"^See also (.*)\.$", head, re.MULTILINE)) is not None:
            related[name] = re.findall(r"`([a-z0-9-]+)`", line[1])
            assert related[name] == sorted(set(related[name]) & set(RULES))
    pairs = {(name, other) for name, others in related.items() for other in others}
    assert ("invalid-timeout", "bound-exceeded") in pairs
    assert sorted(pairs) == sorted((other, name) for name, other in pairs)


def test_the_index_is_fresh() -> None:
    expected = index(RULES.values())
    path = PAGES / "index.md"
    if UPDATE:
        path.write_text(expected, "utf-8")
    assert path.read_text("utf-8") == expected


def test_every_rule_has_a_page_and_every_page_a_rule() -> None:
    assert sorted(RULES) == NAMES


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
