"""``akmc config get|set|unset|list``."""

from __future__ import annotations

from pathlib import Path

import click

from akmc.commands.options import format_option
from akmc.faults import FOUND, OK, CommandFault
from akmc.help import HelpfulCommand

EPILOG = """\
\b
Examples:
  akmc config list                                  what counts here, project over user
  akmc config get defaults.engine
  akmc config set workflow.maxConcurrency 4
  akmc config set engines.local.kind llm engines.local.model tiny \\
      engines.local.endpoint http://127.0.0.1:8080/v1/chat/completions
  akmc config set --user engines.coder '{"kind": "agent", "platform": "claude"}'
  akmc config unset workflow.maxConcurrency
\b
A word with a dot in it stands in double quotes: 'modelAliases."gpt-4.1".llm'.
Exit status: 0 done, 1 not set (get, unset), 2 no such key or no such value, 78 a faulty config.
"""


@click.command(cls=HelpfulCommand, epilog=EPILOG)
@click.argument("action", type=click.Choice(["get", "set", "unset", "list"]))
@click.argument("words", nargs=-1, metavar="[NAME [VALUE]]...")
@click.option("--user", is_flag=True, help="The user's own file instead of the project's.")
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="The project's file (default: the nearest .akm/config.json upwards).",
)
@format_option(["text", "json"], help="How to print values.")
@click.option("--origin", is_flag=True, help="List the file of each value too.")
def command(
    action: str, words: tuple[str, ...], user: bool, config: Path | None, format_name: str, origin: bool
) -> int:
    """Read and change settings: get one by its dotted NAME, set NAME to VALUE, unset NAMEs, or list all."""
    if user and config is not None:
        raise CommandFault("--user and --config exclude each other", help="name one file")
    if action == "set":
        return _set(words, user, config)
    if action == "unset":
        return _unset(words, user, config)
    if action == "get":
        if len(words) != 1:
            raise CommandFault("get takes one NAME", help="for example: akmc config get defaults.engine")
        return _get(words[0], user, config, format_name)
    if words:
        raise CommandFault("list takes no NAME", help=f"akmc config get {words[0]} shows one")
    return _list(user, config, format_name, origin)


def _get(name: str, user: bool, config: Path | None, format_name: str) -> int:
    from akmc.config_edit import at_path, known_path
    from akmc.config_layers import layers, merged
    from akmc.console import err, out
    from akmc.render.escape import json_text

    whole = merged(layers(config, user=user))
    value = at_path(whole, known_path(name, whole))
    if value is None:
        err(f'akmc: "{name}" is not set')
        err("  help: akmc config list shows what is")
        return FOUND
    plain = isinstance(value, str) and format_name == "text"
    out(f"{value}\n" if plain else json_text(value, indent=2) + "\n")
    return OK


def _list(user: bool, config: Path | None, format_name: str, origin: bool) -> int:
    from akmc.config_layers import layers, leaves, merged, settings
    from akmc.console import out
    from akmc.render.escape import json_text, visible

    found = layers(config, user=user)
    if format_name == "json":
        origins = {
            leaf.name: {"value": leaf.value, "file": str(leaf.file)}
            for setting in settings(found)
            for leaf in leaves(setting)
        }
        out(json_text(origins if origin else merged(found), indent=2) + "\n")
        return OK
    for setting in settings(found):
        for leaf in leaves(setting):
            where = f"  ({visible(str(leaf.file))})" if origin else ""
            out(f"{visible(leaf.name)} = {json_text(leaf.value)}{where}\n")
    return OK


def _set(words: tuple[str, ...], user: bool, config: Path | None) -> int:
    from akmc.config_edit import edited
    from akmc.files import made

    if not words or len(words) % 2:
        raise CommandFault("set takes NAME VALUE pairs", help="for example: akmc config set workflow.maxConcurrency 4")
    file = _file(user, config)
    text = edited(file, [(words[at], words[at + 1]) for at in range(0, len(words), 2)])
    try:
        with made(file.parent):
            return _write(file, text, "set", words[::2])
    except OSError as error:
        help = "name a file that can be written with --config"
        raise CommandFault(f'cannot make "{file.parent}": {error.strerror or error}', help=help) from error


def _unset(words: tuple[str, ...], user: bool, config: Path | None) -> int:
    from akmc.config_edit import without
    from akmc.console import err
    from akmc.render.escape import visible

    if not words:
        raise CommandFault("unset takes NAMEs", help="for example: akmc config unset workflow.maxConcurrency")
    file = _file(user, config)
    text = without(file, words)
    if text is None:
        what = f'"{words[0]}" is not set' if len(words) == 1 else "not all of them are set"
        err(f"akmc: {visible(what)} in {visible(_shown(file))}: nothing was written")
        err("  help: akmc config list --origin shows what is set, and where")
        return FOUND
    return _write(file, text, "unset", words)


def _file(user: bool, config: Path | None) -> Path:
    from akmc.config_layers import project_file, user_file

    return user_file() if user else config or project_file(Path())


def _write(file: Path, text: str, done: str, names: tuple[str, ...]) -> int:
    from akmc.console import err
    from akmc.files import write_atomically
    from akmc.render.escape import visible

    write_atomically(file, text.encode())
    err(f"akmc: {done} {visible(', '.join(names))} in {visible(_shown(file))}")
    return OK


def _shown(file: Path) -> str:
    """A file below the working directory from there, whether it was found or is new; any other as it was named."""
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)
