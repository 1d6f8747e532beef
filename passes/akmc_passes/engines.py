"""Engines, models, tuning and the judge.

Before: steps name engines and models, or leave them to the document and the config. After: ``program.choices`` holds
the frozen runner of every command unit, ``program.judge`` that of the gates; every step without one, and everything
that its engine cannot carry, is reported.

Runs when a config was found or the program is frozen. Exec, script and child units take nothing from here and trigger
no rule (spec 2, section 3).
"""

from __future__ import annotations

from msgspec.structs import replace

from akmc_grammar.places import Path
from akmc_passes.contract import Choice, Context, Program

NAME: str = "engines"
AFTER: tuple[str, ...] = ("resolve", "composition")
EMITS: tuple[str, ...] = (
    "no-engine",
    "unknown-engine",
    "unknown-config-engine",
    "no-judge-engine",
    "llm-on-agent-engine",
    "model-alias-gap",
    "env-on-llm-engine",
    "composition-invalid",
)

CONFIG_RULES = frozenset(
    {"no-engine", "no-judge-engine", "unknown-config-engine", "model-alias-gap", "config-too-large"}
)
"""Rules that say the config is at fault: ``compile`` exits 78 for them, 2 for others."""


def run(program: Program, context: Context) -> Program:
    """Choose a runner for every command unit and for the gates."""
    ir = program.document.ir
    if ir is None or context.leaves_engines_open:
        return program
    from akmc_passes.chooser import Chooser  # on use: without a config nothing is chosen

    chooser = Chooser(program, context, ir)
    choices: dict[Path, Choice] = {}
    for index, step in enumerate(ir.steps):
        choice = chooser.choose(step, index)
        if choice is not None:
            choices["steps", index] = choice
    chooser.report_default_llm()
    return replace(program, choices=choices, judge=chooser.judge())
