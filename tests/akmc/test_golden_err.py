"""Golden outputs: what ``akmc check`` prints for each source in ``tests/golden/err`` is exactly ``<name>.out``.

``<name>.md`` and ``<name>.yml`` are checked as ``workflows/<name>.md`` and ``.yml``; a folder ``<name>`` is a bundle that
is checked as a whole. ``<name>.config.json`` is the config where there is one. ``<name>.recipe.yaml`` makes its files
(see ``prepare`` in conftest.py) and names the command, for what is too large to be kept or happens at a moment.
``AKMC_UPDATE_GOLDEN=1 pytest tests/akmc/test_golden_err.py`` writes the outputs anew; read the diff before it is kept.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from akmc.cli import run
from akmc_grammar.rules import RULES

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "err"
UPDATE = os.environ.get("AKMC_UPDATE_GOLDEN") == "1"
SOURCES = {
    path.name if path.is_dir() else path.stem: path
    for path in sorted(GOLDEN.iterdir())
    if path.is_dir() or path.suffix in (".md", ".yml")
}
RECIPES = {path.name.removesuffix(".recipe.yaml"): path for path in sorted(GOLDEN.glob("*.recipe.yaml"))}
# The mistakes that newcomers make most: each has one message.
TEN = sorted(name for name in SOURCES if name.startswith("ten-"))
_HEAD = re.compile(r"^(?:error|warning|note)\[(AKM\d{4}) ([a-z0-9-]+)\]: ", re.MULTILINE)
Prepare = Callable[[Iterable[object]], Callable[[Sequence[str]], "tuple[int, str, str]"]]
Capture = pytest.CaptureFixture[bytes]


def put(name: str) -> list[str]:
    """Write the source of a golden into the working directory; the arguments of ``akmc check``."""
    source = SOURCES[name]
    config = GOLDEN / f"{name}.config.json"
    paths: list[str] = []
    if source.is_dir():
        shutil.copytree(source, ".", symlinks=True, dirs_exist_ok=True)
    else:
        path = Path("workflows", source.name)
        path.parent.mkdir()
        path.write_bytes(source.read_bytes())
        paths = [str(path)]
    if config.exists():
        Path(".akm").mkdir()
        Path(".akm/config.json").write_bytes(config.read_bytes())
    return paths


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, without the user's own config."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("NO_COLOR", "1")
    return tmp_path


@pytest.mark.parametrize("name", SOURCES)
def test_output_is_exact(name: str, here: Path, capsysbinary: Capture) -> None:
    status = run(["check", *put(name)])
    captured = capsysbinary.readouterr()
    found = captured.out.decode()
    golden = GOLDEN / f"{name}.out"
    assert status == (1 if "error[" in found else 0), captured.err.decode()
    if UPDATE:
        golden.write_text(found, "utf-8")
    assert found == golden.read_text("utf-8")
    assert _HEAD.search(found)


@pytest.mark.parametrize("name", RECIPES)
def test_output_of_a_recipe_is_exact(name: str, here: Path, prepare: Prepare) -> None:
    recipe = YAML(typ="safe", pure=True).load(RECIPES[name])
    program, *words = shlex.split(recipe["run"])
    assert program == "akmc"
    status, out, err = prepare(recipe["recipe"])(words)
    found = out if words[0] == "check" else out + err  # compile says it on standard error
    golden = GOLDEN / f"{name}.out"
    if UPDATE:
        golden.write_text(found, "utf-8")
    assert found == golden.read_text("utf-8")
    heads = _HEAD.findall(found)
    assert heads and len(re.findall(r"^ += help: ", found, re.MULTILINE)) == len(heads)
    assert status == recipe["status"], err


@pytest.mark.parametrize("name", SOURCES)
def test_every_finding_says_what_to_do(name: str, here: Path, capsysbinary: Capture) -> None:
    run(["check", *put(name), "--format", "json"])
    found = json.loads(capsysbinary.readouterr().out)["diagnostics"]
    assert found
    assert [(item["rule"], item["message"]) for item in found if not item["help"]] == []


@pytest.mark.parametrize("name", TEN)
def test_each_of_the_ten_mistakes_has_one_message(name: str, here: Path, capsysbinary: Capture) -> None:
    run(["check", *put(name), "--format", "json"])
    (finding,) = json.loads(capsysbinary.readouterr().out)["diagnostics"]
    assert finding["severity"] == "error"


def test_the_ten_are_ten() -> None:
    assert len(TEN) == 10


def test_every_rule_has_a_golden() -> None:
    shown = {name for path in GOLDEN.glob("*.out") for _, name in _HEAD.findall(path.read_text("utf-8"))}
    assert sorted(set(RULES) - shown) == []


def test_no_output_is_left_of_a_golden_that_is_gone() -> None:
    assert {path.stem for path in GOLDEN.glob("*.out")} == {*SOURCES, *RECIPES}
