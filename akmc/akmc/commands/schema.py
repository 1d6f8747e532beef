"""``akmc schema [NAME]``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from akmc.console import err, out, out_bytes
from akmc.faults import CommandFault
from akmc.help import HelpfulCommand

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

EPILOG = """\
\b
Examples:
  akmc schema                       list the published schemas
  akmc schema akm-workflow          print one
  akmc schema -o .akm/schemas       write all of them where editors find them
"""
SUFFIX = ".json"


@click.command(cls=HelpfulCommand, epilog=EPILOG)
@click.argument("name", required=False)
@click.option(
    "-o",
    "--output",
    "folder",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write NAME and what it refers to into DIR; without NAME, every schema.",
)
def command(name: str | None, folder: Path | None) -> None:
    """Print the published JSON Schema NAME; without NAME, list all schemas."""
    schemas = published()
    if folder is not None:
        wanted = list(schemas) if name is None else with_references(schemas, asked(name, schemas))
        write(schemas, wanted, folder)
    elif name is None:
        width = max(map(len, schemas))
        out("".join(f"{each:<{width}}  {title_of(schemas[each])}\n" for each in schemas))
    else:
        out_bytes(schemas[asked(name, schemas)].read_bytes())


def published() -> dict[str, Traversable]:
    """Every published schema by its name (the file's name without ``.json``), sorted."""
    from importlib.resources import files

    found = {
        item.name.removesuffix(SUFFIX): item
        for item in (files("akm_schemas") / "published").iterdir()
        if item.name.endswith(SUFFIX)
    }
    found["akm-diff"] = files("akmc") / "diff" / "diff.schema.json"
    return dict(sorted(found.items()))


def asked(word: str, schemas: Mapping[str, Traversable]) -> str:
    """The name that ``word`` means: with or without ``.json`` and the leading ``akm-``. Else a usage fault."""
    bare = word.removesuffix(SUFFIX)
    for name in (bare, f"akm-{bare}", f"akmc-{bare}"):
        if name in schemas:
            return name
    from akmc_grammar.suggest import did_you_mean

    hint = did_you_mean(bare, schemas) or "akmc schema lists them"
    raise CommandFault(f'there is no schema "{word}"', help=hint)


def title_of(schema: Traversable) -> str:
    """The schema's own title."""
    import json

    return str(json.loads(schema.read_bytes())["title"])


def with_references(schemas: Mapping[str, Traversable], name: str) -> list[str]:
    """``name``, and the schemas beside it that it refers to."""
    text = schemas[name].read_text(encoding="utf-8")
    return [name, *(other for other in schemas if other != name and f'"{other}{SUFFIX}#' in text)]


def write(schemas: Mapping[str, Traversable], names: list[str], folder: Path) -> None:
    """Put the named schemas into ``folder``, over what is there."""
    from akmc.files import made, write_atomically
    from akmc.render.escape import visible

    try:
        with made(folder):
            for count, name in enumerate(names):
                path = folder / f"{name}{SUFFIX}"
                try:
                    write_atomically(path, schemas[name].read_bytes())
                except CommandFault as fault:
                    help = f"schemas written before: {count} of {len(names)}" if count else fault.help
                    raise CommandFault(fault.message, help=help) from fault
                err(f'akmc: wrote "{visible(str(path))}"')
    except OSError as error:
        help = "name a directory that can be written to"
        raise CommandFault(f'cannot make "{folder}": {error.strerror or error}', help=help) from error
