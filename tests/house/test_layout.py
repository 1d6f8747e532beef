"""The house: one package per folder, the arrows, what the wheel brings."""

from __future__ import annotations

import importlib.metadata
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = {
    "akmc": "akmc",
    "grammar": "akmc_grammar",
    "schemas": "akm_schemas",
    "passes": "akmc_passes",
    "runtime": "akm_run",
}
COMPILER = ("akmc", "akmc_passes", "akmc_grammar", "lark", "ruamel", "jsonschema", "networkx")


@pytest.mark.parametrize("folder", sorted(FOLDERS))
def test_each_folder_holds_exactly_one_package(folder: str) -> None:
    entries = {path.name for path in (ROOT / folder).iterdir() if path.name != "__pycache__"}
    assert entries == {FOLDERS[folder], "README.md"}
    assert (ROOT / folder / FOLDERS[folder] / "__init__.py").is_file()
    assert (ROOT / folder / FOLDERS[folder] / "py.typed").is_file()


@pytest.mark.parametrize("folder", [*sorted(FOLDERS), "fuzz"])
def test_each_folder_says_in_thirty_lines_what_it_is(folder: str) -> None:
    assert 3 <= len((ROOT / folder / "README.md").read_text().splitlines()) <= 30


def test_top_level_is_the_given_one() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout: there is no list of tracked files")
    top = {name.split("/")[0] for name in listed.stdout.splitlines()}
    allowed = {*FOLDERS, "tests", "fuzz", "docs", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"}
    assert {name for name in top if not name.startswith(".")} <= allowed


def test_the_distribution_brings_the_five_packages_and_nothing_else() -> None:
    files = importlib.metadata.files("akmc") or []
    top = {file.parts[0] for file in files if not file.parts[0].startswith("..")}
    packages = {name for name in top if not name.endswith(".dist-info")}
    if any(name.endswith(".pth") for name in packages):
        pytest.skip("an editable install has a .pth file instead of the packages")
    assert packages == set(FOLDERS.values())


def test_the_interpreter_never_imports_the_compiler() -> None:
    code = (
        "import sys, pkgutil, importlib, akm_run\n"
        "for found in pkgutil.walk_packages(akm_run.__path__, 'akm_run.'):\n"
        "    if not found.name.endswith('__main__'):\n"
        "        importlib.import_module(found.name)\n"
        f"bad = sorted(name for name in sys.modules if name.split('.')[0] in {COMPILER!r})\n"
        "print(bad)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_of_both_programs_loads_no_heavy_library() -> None:
    for module in ("akmc", "akm_run"):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", module, "--help"], capture_output=True, text=True, check=True
        )
        loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in done.stderr.splitlines() if "|" in line}
        heavy = {"lark", "ruamel", "jsonschema", "networkx", "httpx", "rich"}
        assert loaded & heavy == set(), module
        assert "click" in loaded
