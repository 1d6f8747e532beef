"""The table of the interpreter's options is what the interpreter has."""

from __future__ import annotations

import click

from akm_run.commands.run_command import command
from akmc_passes.run_options import RUN_OPTIONS


def test_every_option_of_the_interpreter_is_in_the_table() -> None:
    names = {
        word.removeprefix("--")
        for param in command.params
        if isinstance(param, click.Option)
        for word in param.opts
        if word.startswith("--")
    }
    assert {"params-file", "timeout"} <= names
    assert names <= RUN_OPTIONS
