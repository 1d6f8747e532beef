"""The examples of the language, running and config pages are true: files check clean, freeze and run; commands show
what the page shows.

A section (``## ...``) is a folder of its own. ``file=NAME`` after the language of a block writes it there; a workflow
marked ``engine`` needs the config that docs/config.md begins with, every other is frozen without any and run. With
``AKMC_UPDATE_GOLDEN=1`` the outputs are written anew; read the diff.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from akmc.cli import run
from akmc_passes.config import load_config

Write = Callable[[Mapping[str, str]], Path]
ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
SCHEMAS = ROOT / "schemas" / "akm_schemas" / "published"
FILE = re.compile(r"^(`{3,})\w+ file=(\S+)( engine)?\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PLACEHOLDERS = (
    (r"\b\d{8}-\d{6}-[0-9a-f]{8}\b", "20260301-101500-1f2e3d4c"),
    (r"contentHash [0-9a-f]{12}", "contentHash 9f86d081884c"),
)


@dataclass(frozen=True)
class Example:
    """A file of a section; ``engine``: it needs a config."""

    name: str
    engine: bool
    text: str


def sections(page: str) -> list[tuple[str, str]]:
    """The sections of a page that show files or commands, by heading; code lines are no headings."""
    lines = (DOCS / page).read_text().splitlines(keepends=True)
    found: list[tuple[str, str]] = []
    heads, fenced = [0], False
    for number, line in enumerate(lines):
        fenced ^= line.startswith("```")
        if line.startswith("## ") and not fenced:
            heads.append(number)
    for at, end in zip(heads, [*heads[1:], len(lines)], strict=True):
        body = "".join(lines[at:end])
        if FILE.search(body) or CONSOLE.search(body):
            found.append((lines[at].strip("# \n"), body))
    return found


def examples(body: str) -> list[Example]:
    return [Example(name, bool(engine), text) for _, name, engine, text in FILE.findall(body)]


def workflow_sections() -> list[Any]:
    return [
        pytest.param(body, id=f"{page}-{title}")
        for page in ("language.md", "running.md")
        for title, body in sections(page)
    ]


def akmc(*words: str) -> int:
    """The exit status of a command, in this process."""
    return run([*words])


def config_example() -> str:
    return next(example.text for _, body in sections("config.md") for example in examples(body))


@pytest.mark.parametrize("body", workflow_sections())
def test_the_files_of_a_section_check_clean_freeze_and_run(
    body: str, write: Write, run_program: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    files = examples(body)
    write({**{example.name: example.text for example in files}, "engines.json": config_example()})
    assert akmc("check", "--strict") == 0
    assert capsys.readouterr().out == ""
    workflows = [example for example in files if example.name.startswith("workflows/")]
    assert workflows
    for example in workflows:
        plan = "frozen.json"
        if example.engine:
            assert akmc("compile", example.name, "-o", plan) in (2, 78)  # a named engine that is not there, none at all
            assert akmc("compile", example.name, "-o", plan, "--config", "engines.json") == 0
        else:
            assert akmc("compile", example.name, "-o", plan) == 0
            secrets = {"AKM_SECRET_DEPLOY_TOKEN": "long enough to be scrubbed"}
            assert json.loads(run_program("akm-run", plan, "--json", env=secrets).stdout)["status"] == "completed"


def as_shown(text: str, folder: Path) -> str:
    """Ids, digests and paths as the pages have them: they are others each time."""
    text = text.replace(f"{folder}{os.sep}", "")
    for pattern, instead in PLACEHOLDERS:
        text = re.sub(pattern, instead, text)
    return text


def shell(home: Path) -> dict[str, str]:
    """The environment of a person whose home this is, with both programs on the path."""
    programs = home / "bin"
    programs.mkdir()
    for name, module in (("akmc", "akmc"), ("akm-run", "akm_run")):
        (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" -m {module} "$@"\n')
        (programs / name).chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}


@pytest.mark.parametrize("page", ["language.md", "running.md", "config.md"])
def test_commands_show_what_the_page_shows(page: str, tmp_path: Path) -> None:
    env = shell(tmp_path)
    text, count = (DOCS / page).read_text(), 0
    for title, body in sections(page):
        folder = tmp_path / re.sub(r"\W+", "-", title)
        if CONSOLE.search(body) is None:
            continue
        for example in examples(body):
            (folder / example.name).parent.mkdir(parents=True, exist_ok=True)
            (folder / example.name).write_text(example.text)
        (folder / ".akm").mkdir(parents=True, exist_ok=True)  # the scope, also where no repository is around
        for block in CONSOLE.finditer(body):
            now, run_id = "", ""
            for line in block[1].splitlines():
                if line.startswith("$ "):
                    words = f"{line[2:].replace('RUN_ID', run_id)} 2>&1"
                    said = subprocess.run(["sh", "-c", words], cwd=folder, env=env, capture_output=True, text=True)
                    assert said.returncode == 0, said.stdout
                    run_id = (re.findall(r"^run (\S+) ", said.stdout, re.MULTILINE) or [run_id])[0]
                    now += f"{line}\n{as_shown(said.stdout, folder)}"
                    count += 1
            text = text.replace(block[0], f"```console\n{now}```")
    assert count > 1
    if os.environ.get("AKMC_UPDATE_GOLDEN"):
        (DOCS / page).write_text(text)
    assert (DOCS / page).read_text() == text, "run it with AKMC_UPDATE_GOLDEN=1 and read the diff"


def test_the_first_commands_of_the_readme_work(tmp_path: Path) -> None:
    (block,) = re.findall(
        r"^## After that\n\n```sh\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL
    )
    first, _, rest = block.partition("\n")
    assert first.startswith("PATH=$PWD/.venv/bin:$PATH ")  # here it is where the tests run
    done = subprocess.run(["sh", "-ec", rest], cwd=tmp_path, env=shell(tmp_path), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "completed  workflows/hello" in done.stdout
    assert 'params {"who":"you"}' in done.stdout


def test_the_configs_of_the_page_are_configs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "none"))
    schemas = {
        "config.json": json.loads((SCHEMAS / "akm-config.json").read_text()),
        "models.json": json.loads((SCHEMAS / "akm-models.json").read_text()),
    }
    (tmp_path / ".akm").mkdir()
    found = [example for _, body in sections("config.md") for example in examples(body)]
    for example in found:
        jsonschema.Draft7Validator(schemas[Path(example.name).name]).validate(json.loads(example.text))
        (tmp_path / ".akm" / "config.json").unlink(missing_ok=True)
        (tmp_path / example.name).write_text(example.text)
        if example.name.endswith("models.json"):
            (tmp_path / ".akm" / "config.json").write_text("{}")
        assert load_config(tmp_path) is not None
    assert len(found) >= 6


def test_every_json_block_of_the_config_page_is_one_of_them() -> None:
    assert (DOCS / "config.md").read_text().count("```json") == sum(
        len(examples(body)) for _, body in sections("config.md")
    )
