"""Generates the parsers of ``*.lark``: a build hook for hatchling, and a command for a checkout.

Holds before: lark is installed (a build requirement). Holds after: ``_generated/<name>_parser.py`` are what
Lark's standalone tool makes of the grammars beside this file. The build runs this file by its path, so it imports
nothing of its own package; an installed package needs neither hatchling nor lark for its parsers.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GRAMMARS: Final = {
    "reference": ("reference", "asset_ref", "duration"),
    "body": ("body",),
    "run": ("run",),
}
"""Grammar name (``<name>.lark``) to its start rules."""


def generated_path(name: str, folder: Path) -> Path:
    """Where the parser of grammar ``name`` is written; ``folder`` holds the grammars."""
    return folder / "_generated" / f"{name}_parser.py"


def standalone_source(name: str, folder: Path) -> str:
    """The source text of the standalone parser of ``folder/<name>.lark``, in this process.

    Raises ``lark.exceptions.LarkError`` for a faulty grammar and ``OSError`` when it cannot be read.
    """
    from lark import Lark
    from lark.tools.standalone import gen_standalone

    grammar = (folder / f"{name}.lark").read_text(encoding="utf-8")
    parser = Lark(grammar, parser="lalr", lexer="contextual", start=list(GRAMMARS[name]), maybe_placeholders=True)
    out = io.StringIO()
    write: Any = gen_standalone  # the tool carries no types
    write(parser, out=out)
    lines = (line.rstrip() for line in out.getvalue().splitlines())
    return "\n".join(line for line in lines if line) + "\n"


def generate(name: str, folder: Path) -> str:
    """The same, byte for byte alike on every run: Lark numbers its states in the order of sets of texts.

    Raises ``subprocess.CalledProcessError`` when the generating child fails (its traceback goes to stderr).
    """
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, str(Path(__file__).resolve()), name, str(folder)]
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE).stdout.decode("utf-8")


def write_parsers(folder: Path) -> list[Path]:
    """Write every parser that is not up to date; returns the paths of all of them."""
    paths = []
    for name in GRAMMARS:
        path = generated_path(name, folder)
        text = generate(name, folder)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")
        paths.append(path)
    return paths


def get_build_hook() -> type[BuildHookInterface[Any]]:
    """The hook class that hatchling asks a build script for."""
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    class ParserBuildHook(BuildHookInterface[Any]):
        """Writes the parsers before a wheel is made (an editable one too) and lists them as artifacts."""

        PLUGIN_NAME = "custom"

        def initialize(self, version: str, build_data: dict[str, Any]) -> None:  # noqa: ARG002 (the hook's signature)
            root = Path(self.root)
            for path in write_parsers(root / "grammar" / "akmc_grammar"):
                # Git ignores the generated files, and hatchling ships no ignored file unless it is an artifact.
                build_data["artifacts"].append("/" + path.relative_to(root).as_posix())

        def clean(self, versions: list[str]) -> None:  # noqa: ARG002 (the hook's signature)
            folder = Path(self.root) / "grammar" / "akmc_grammar"
            for name in GRAMMARS:
                generated_path(name, folder).unlink(missing_ok=True)

    return ParserBuildHook


def main(arguments: list[str]) -> int:
    """Without arguments: generate the parsers beside this file. With a grammar's name and folder: print its parser."""
    if arguments:
        name, folder = arguments
        sys.stdout.buffer.write(standalone_source(name, Path(folder)).encode("utf-8"))
        return 0
    for path in write_parsers(Path(__file__).resolve().parent):
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
