"""The generated parsers are what the grammars say, and need no lark."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib import import_module
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
    names = [f"akmc_grammar._generated.{name}_parser" for name in sorted(parser_build.GRAMMARS)]
    code = f"import sys; import {', '.join(names)}; print([n for n in sys.modules if n.split('.')[0] == 'lark'])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout.strip() == "[]"


def test_the_body_grammar_orders_line_classes() -> None:
    generated: Any = import_module("akmc_grammar._generated.body_parser")
    interactive = generated.Lark_StandAlone().parse_interactive(start="body")
    for kind in ("GATE", "TEXT", "H2", "TEXT", "GATE", "TEXT", "GATE", "H2"):
        interactive.feed_token(generated.Token(kind, ""))
    preamble, first, second = interactive.feed_eof().children
    assert [token.type for token in preamble.children] == ["GATE", "TEXT"]
    assert [token.type for token in first.children[2].children[1].children] == ["TEXT", "GATE"]
    assert second.children[2] is None


def test_the_hook_writes_the_parsers_and_lists_them(tmp_path: Path) -> None:
    folder = tmp_path / "grammar" / "akmc_grammar"
    (folder / "_generated").mkdir(parents=True)
    for grammar in FOLDER.glob("*.lark"):
        (folder / grammar.name).write_bytes(grammar.read_bytes())
    hook_class: Any = parser_build.get_build_hook()
    hook = SimpleNamespace(root=str(tmp_path))
    build_data: dict[str, list[str]] = {"artifacts": []}
    hook_class.initialize(hook, "standard", build_data)
    paths = [f"/grammar/akmc_grammar/_generated/{name}_parser.py" for name in parser_build.GRAMMARS]
    assert build_data["artifacts"] == paths
    assert all((tmp_path / path[1:]).stat().st_size > 10_000 for path in paths)
    hook_class.clean(hook, ["standard"])
    assert not any((tmp_path / path[1:]).exists() for path in paths)
