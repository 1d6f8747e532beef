"""Nothing is forgotten: every pass has tests, every rule a page and an owner, every option a mention."""

from __future__ import annotations

import os
import pathlib

import click
import pytest

from akm_run.commands import COMMANDS as RUN_COMMANDS
from akm_run.commands import group as run_group
from akmc.cli import COMMANDS
from akmc.group import LazyGroup
from akmc_grammar.rules import RULES
from akmc_passes.pipeline import PIPELINE

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "commands.md"
EXIT_CODES = ROOT / "docs" / "exit-codes.md"
FRONT_END_OWNERS = {"yaml", "frontmatter", "body", "yaml_workflow", "task", "session", "suppression"}


def commands() -> dict[str, click.Command]:
    """Every command of both programs by its full name."""
    found: dict[str, click.Command] = {}
    for program, names, table in (("akmc", COMMANDS, LazyGroup("akmc")), ("akm-run", RUN_COMMANDS, run_group())):
        context = click.Context(table, info_name=program)
        for name in names:
            command = table.get_command(context, name)
            assert command is not None
            found[f"{program} {name}"] = command
    return found


def value_of(parameter: click.Option) -> str:
    """What an option takes: its choices, its range, or the word that help shows for it."""
    kind = parameter.type
    if parameter.is_flag:
        return ""
    if isinstance(kind, click.Choice):
        return ", ".join(f"`{choice}`" for choice in kind.choices)
    if isinstance(kind, click.IntRange):
        return f"{kind.min} or more" if kind.max is None else f"{kind.min} to {kind.max}"
    return parameter.metavar or kind.name.upper()


def option_rows(command: click.Command) -> list[str]:
    """One line per option: names, what it takes, and help."""
    rows = []
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            names = ", ".join(f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts])
            needed = " Required." if parameter.required else ""
            rows.append(f"| {names} | {value_of(parameter)} | {(parameter.help or '').strip()}{needed} |")
    return rows


def usage(name: str, command: click.Command) -> str:
    """How it is typed, as help shows it; ``akm-run run`` may leave its name out."""
    words = " ".join(command.collect_usage_pieces(click.Context(command, info_name=name)))
    return f"{name.removesuffix(' run')} {words}"


def statuses(name: str) -> str:
    """The exit statuses of a command, from the page that explains them (tests/akmc/test_docs_exit_codes.py)."""
    text = EXIT_CODES.read_text()
    heads = [line.split("|")[2:-1] for line in text.splitlines() if line.startswith("| Command |")]
    (row,) = (line for line in text.splitlines() if line.startswith(f"| `{name}` |"))
    cells = [cell.strip() for cell in row.split("|")[2:-1]]
    head = heads[0] if name.startswith("akmc ") else heads[1]
    return ", ".join(status.strip() for status, cell in zip(head, cells, strict=True) if cell)


def page() -> str:
    """docs/commands.md as it should be."""
    lines = [
        "# Commands",
        "",
        "Written by the tests from the programs' own help; `NAME --help` shows an example of each command.",
        "What each [exit status](exit-codes.md) means is a page of its own. Completion for your shell:",
        '`eval "$(_AKMC_COMPLETE=bash_source akmc)"`, and `_AKM_RUN_COMPLETE` for `akm-run` (`zsh_source` and',
        "`fish_source` likewise).",
        "",
    ]
    for name, command in commands().items():
        text = (command.help or "").split("\n\n")[0].replace("\n", " ").strip()
        lines += [f"## {name}", "", text, "", "```text", usage(name, command), "```", ""]
        lines += ["| Option | Takes | Meaning |", "| --- | --- | --- |", *option_rows(command), ""]
        lines += [f"Exit status: {statuses(name)}.", ""]
    return "\n".join(lines)


def test_every_option_is_mentioned_in_the_commands_page() -> None:
    if os.environ.get("AKMC_UPDATE_GOLDEN"):
        PAGE.write_text(page())
    assert PAGE.read_text() == page(), "run it with AKMC_UPDATE_GOLDEN=1 and read the diff"


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_shows_an_example_and_explains_its_options(name: str) -> None:
    command = commands()[name]
    text = command.get_help(click.Context(command, info_name=name))
    assert "Example" in text
    assert all(option.help for option in command.params if isinstance(option, click.Option))


@pytest.mark.parametrize("name", [step.NAME for step in PIPELINE])
def test_every_pass_has_tests_and_a_specification(name: str) -> None:
    step = next(step for step in PIPELINE if name == step.NAME)
    assert list((ROOT / "tests" / "passes").glob(f"test_{name}*.py"))
    text = step.__doc__ or ""
    assert "Before:" in text
    assert "After:" in text


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_rule_has_a_page_and_an_owner_that_exists(rule: str) -> None:
    assert (ROOT / "docs" / "rules" / f"{rule}.md").is_file()
    owner = RULES[rule].owner
    assert owner in FRONT_END_OWNERS | {step.NAME for step in PIPELINE}
    for step in PIPELINE:
        if owner == step.NAME:
            assert rule in step.EMITS


def test_codes_and_names_are_unique_and_well_formed() -> None:
    codes = [rule.code for rule in RULES.values()]
    assert len(set(codes)) == len(codes)
    assert all(code.startswith("AKM") and len(code) == 7 and code[3:].isdigit() for code in codes)
