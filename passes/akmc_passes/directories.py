"""Working directories stay in the bundle, links followed.

Before: working directories are relative and contained as texts. After: one that a link leads out of the bundle is
reported. What is not there yet cannot be judged; the interpreter looks again, from its workspace. The program is
unchanged.
"""

from __future__ import annotations

from msgspec import UNSET

from akmc_grammar.places import Place
from akmc_passes.contract import Context, Program
from akmc_passes.ir_walk import unit_of, unit_path
from akmc_passes.words import quoted

NAME: str = "directories"
AFTER: tuple[str, ...] = ()
EMITS: tuple[str, ...] = ("exec-cwd-escape", "working-directory-escape")

RULES = {"markdown": "exec-cwd-escape", "github-yaml": "working-directory-escape"}


def run(program: Program, context: Context) -> Program:
    """Check every working directory of the program."""
    ir = program.document.ir
    if ir is None:
        return program
    for index, step in enumerate(ir.steps):
        run = unit_of(step).exec
        path = (*unit_path(step, index), "exec", "cwd")
        if run is not UNSET and isinstance(run.cwd, str) and not program.document.is_poisoned(path):
            check_directory(context, RULES[ir.source_format], program.place(*path), run.cwd)
    return program


def check_directory(context: Context, rule: str, place: Place, directory: str) -> None:
    """Report a working directory that leads out of the bundle."""
    bundle = context.bundle
    if bundle is None or bundle.contains(bundle.root / directory):
        return
    message = f"{quoted(directory)} is, or lies behind, a link that leads out of the bundle"
    context.sink.report(rule, place, message, help="name a directory inside the tree")
