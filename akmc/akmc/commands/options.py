"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

_F = TypeVar("_F", bound=Callable[..., Any])


def bundle_and_config(function: _F) -> _F:
    """``--bundle DIR`` and ``--config FILE``."""
    config = click.option(
        "--config",
        type=click.Path(path_type=Path),
        help="The config file (default: the nearest .akm/config.json over the user's).",
    )
    bundle = click.option(
        "--bundle", type=click.Path(path_type=Path), help="The bundle (default: found from each file's folder)."
    )
    return bundle(config(function))


def format_option(names: Iterable[str], *, help: str = "Output format.") -> Callable[[_F], _F]:
    """``--format NAME`` as ``format_name``; the first of ``names`` is the default."""
    choices = list(names)
    return click.option(
        "--format", "format_name", type=click.Choice(choices), default=choices[0], show_default=True, help=help
    )
