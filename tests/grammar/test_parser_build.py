"""The generated parsers are what the grammars say, and need no lark."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import akmc_grammar
from akmc_grammar import parser_build

FOLDER = Path(akmc_grammar.__file__).parent


@pytest.mark.parametrize("name", sorted(parser_build.GRAMMARS))
def test_the_installed_parser_is_that_of_the_installed_grammar(name: str) -> None:
    installed = parser_build.generated_path(name, FOLDER).read_text(encoding="utf-8")
    # As trees: the tool reads its own sources through tokenize, whose blanks differ between versions of Python.
    assert ast.dump(ast.parse(installed)) == ast.dump(ast.parse(parser_build.generate(name, FOLDER)))


def test_every_grammar_is_built() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.lark")) == sorted(parser_build.GRAMMARS)


def test_generation_is_the_same_on_every_run() -> None:
    code = "import sys, pathlib; from akmc_grammar.parser_build import generate, GRAMMARS as g;"
    code += "sys.stdout.write(''.join(generate(name, pathlib.Path(sys.argv[1])) for name in sorted(g)))"
    texts = set()
    for seed in ("1", "2", "3"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
        command = [sys.executable, "-c", code, str(FOLDER)]
        texts.add(subprocess.run(command, capture_output=True, check=True, env=environment).stdout)
    assert len(texts) == 1


def test_the_generated_parsers_do_not_import_lark() -> None:
    stems = [parser_build.generated_path(name, FOLDER).stem for name in sorted(parser_build.GRAMMARS)]
    names = [f"akmc_grammar._generated.{stem}" for stem in stems]
    code = f"import sys; import {', '.join(names)}; print([n for n in sys.modules if n.split('.')[0] == 'lark'])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.strip() == "[]"


def test_the_hook_writes_the_parsers_and_lists_them(tmp_path: Path) -> None:
    folder = tmp_path / "grammar" / "akmc_grammar"
    (folder / "_generated").mkdir(parents=True)
    for grammar in FOLDER.glob("*.lark"):
        (folder / grammar.name).write_bytes(grammar.read_bytes())
    hook_class: Any = parser_build.get_build_hook()
    hook = SimpleNamespace(root=str(tmp_path))
    build_data: dict[str, list[str]] = {"artifacts": []}
    hook_class.initialize(hook, "standard", build_data)
    kinds = {"reference": "parser", "run": "parser", "body": "table"}
    paths = [f"/grammar/akmc_grammar/_generated/{name}_{kind}.py" for name, kind in kinds.items()]
    assert build_data["artifacts"] == paths
    for path in paths:
        assert (tmp_path / path[1:]).stat().st_size > (1_000 if "table" in path else 10_000)
    hook_class.clean(hook, ["standard"])
    assert not any((tmp_path / path[1:]).exists() for path in paths)
