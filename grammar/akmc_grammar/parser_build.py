"""Generates the parsers of ``*.lark``: a build hook for hatchling, and a command for a checkout.

Holds before: lark is installed (a build requirement). Holds after: ``_generated/<name>_parser.py`` are what
Lark's standalone tool makes of the grammars beside this file, ``_generated/<name>_table.py`` the LALR tables of those
that ``lalr.py`` runs. The build runs this file by its path, so it imports nothing of its own package; an installed
package needs neither hatchling nor lark for its parsers.
"""

from __future__ import annotations

import io
import sys
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GRAMMARS: Final = {
    "reference": ("reference", "asset_ref", "duration"),
    "run": ("run",),
    "body": ("body",),
}
"""Grammar name (``<name>.lark``) to its start rules."""
TABLES: Final = frozenset({"body"})
"""Grammars whose terminals are found by a scanner of ours: the table is all that is needed of them."""

_SHIFT: Final = 0  # Lark's serialised action: (0, state) shifts or goes, (1, rule) reduces


def generated_path(name: str, folder: Path) -> Path:
    """Where the parser or table of grammar ``name`` is written; ``folder`` holds the grammars."""
    return folder / "_generated" / f"{name}_{'table' if name in TABLES else 'parser'}.py"


def load(name: str, folder: Path) -> Any:
    """The ``lark.Lark`` of ``folder/<name>.lark``.

    Raises ``lark.exceptions.LarkError`` for a faulty grammar and ``OSError`` when it cannot be read.
    """
    from lark import Lark

    grammar = (folder / f"{name}.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", lexer="contextual", start=list(GRAMMARS[name]), maybe_placeholders=True)


def generate(name: str, folder: Path) -> str:
    """The source text of the standalone parser, or of the table, of ``folder/<name>.lark``, the same on every run.

    Raises as ``load`` does, and ``ValueError`` for a grammar that ``lalr.py`` cannot run.
    """
    parser = load(name, folder)
    return _table_text(name, parser) if name in TABLES else _standalone_text(parser)


def _standalone_text(parser: Any) -> str:
    from lark.tools.standalone import gen_standalone

    out = io.StringIO()
    write: Any = gen_standalone  # the tool carries no types
    write(_Canonical(parser), out=out)
    lines = (line.rstrip() for line in out.getvalue().splitlines())
    return "\n".join(line for line in lines if line) + "\n"


def _table_text(name: str, parser: Any) -> str:
    """A module of literals, as ``lalr.Table`` describes it."""
    from lark.grammar import Rule
    from lark.lexer import TerminalDef

    data, memo = parser.memo_serialize([TerminalDef, Rule])
    table = _renumbered(data["parser"]["parser"])
    used = sorted({target["@"] for row in table["states"].values() for action, target in row.values() if action})
    rules = {number: position for position, number in enumerate(used)}
    names = table["tokens"]
    (start,), (end,) = table["start_states"].values(), table["end_states"].values()
    lines = [f'"""The LALR(1) table of {name}.lark, computed by Lark when the package was built."""']
    lines += [f"START, END = {start}, {end}", "STATES: tuple[dict[str, tuple[int, int]], ...] = ("]
    for row in table["states"].values():
        entries = {
            names[token]: (action, target if action == _SHIFT else rules[target["@"]])
            for token, (action, target) in row.items()
        }
        lines.append(f"    {entries!r},")
    lines += [")", "RULES: tuple[tuple[str, str], ...] = ("]
    lines += [f"    {(memo[number]['origin']['name'], _fates(memo[number]))!r}," for number in used]
    return "\n".join([*lines, ")", ""])


def _fates(rule: dict[str, Any]) -> str:
    """What becomes of each symbol of a rule, in the letters of ``lalr.py``."""
    options = rule["options"]
    if rule["alias"] or options["expand1"] or options["template_source"]:
        raise ValueError(f"{rule['origin']['name']}: aliases, ?rules and templates are not for lalr.py")
    letters = []
    for symbol in rule["expansion"]:
        if symbol["__type__"] == "NonTerminal":
            letters.append("s" if symbol["name"].startswith("_") else "k")
        else:
            letters.append("d" if symbol["filter_out"] and not options["keep_all_tokens"] else "k")
    if not options["empty_indices"]:
        return "".join(letters)
    there = iter(letters)  # True marks an optional that this form of the rule leaves out
    return "".join("n" if empty else next(there) for empty in options["empty_indices"])


class _Canonical:
    """A Lark instance that serialises with its LALR table numbered in a fixed order.

    Lark numbers tokens and states in the order of sets, which changes from run to run. Here tokens are in
    alphabetical order and states in that of their first visit from the start states.
    """

    def __init__(self, parser: Any) -> None:
        self._parser = parser

    def memo_serialize(self, types: Any) -> tuple[Any, Any]:
        """What the standalone tool asks for: the parser's data and its memo."""
        data, memo = self._parser.memo_serialize(types)
        data["parser"]["parser"] = _renumbered(data["parser"]["parser"])
        return data, memo


def _renumbered(table: dict[str, Any]) -> dict[str, Any]:
    """The LALR table ``{tokens, states, start_states, end_states}`` with canonical numbers."""
    names: dict[int, str] = table["tokens"]
    numbers = {name: number for number, name in enumerate(sorted(names.values()))}
    by_name = {
        state: sorted(((names[token], action) for token, action in actions.items()), key=itemgetter(0))
        for state, actions in table["states"].items()
    }
    order: dict[int, int] = {}
    waiting = [state for _, state in sorted(table["start_states"].items())]
    while waiting:
        state = waiting.pop(0)
        if state not in order:
            order[state] = len(order)
            waiting += [target for _, (action, target) in by_name[state] if action == _SHIFT]
    return {
        "tokens": {number: name for name, number in numbers.items()},
        "states": {
            order[state]: {
                numbers[name]: (action, order[target] if action == _SHIFT else target)
                for name, (action, target) in by_name[state]
            }
            for state in order
        },
        "start_states": {start: order[state] for start, state in sorted(table["start_states"].items())},
        "end_states": {start: order[state] for start, state in sorted(table["end_states"].items())},
    }


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


def main() -> int:
    """Generate the parsers beside this file."""
    for path in write_parsers(Path(__file__).resolve().parent):
        sys.stdout.write(f"{path}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
