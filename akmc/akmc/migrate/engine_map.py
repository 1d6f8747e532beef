"""The mapping file of ``--engines``: what the old ``runner`` and ``profile`` names are called as engines."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from akm_schemas.bounds import ENGINE_NAME
from akm_schemas.json_types import JsonObject
from akm_schemas.keys import ENGINE
from akmc.faults import CommandFault
from akmc.migrate.model import Notes
from akmc.session.store import read_regular
from akmc_grammar.yaml_tree import Entry
from akmc_grammar.yaml_tree import Mapping as YamlMapping

INHERIT = "inherit"
_EXAMPLE = 'one JSON object such as {"agent": "claude", "fast-profile": "local-llm"}'


@dataclass(frozen=True, slots=True)
class EngineMap:
    """Old runner or profile name to engine name; empty without a mapping file."""

    names: Mapping[str, str] = field(default_factory=dict)

    def engine_of(self, bag: YamlMapping, what: str, notes: Notes) -> str | None:
        """The engine of a bag's ``profile``, else of its ``runner``; names without an entry are listed.

        ``runner: inherit`` says what having none says. ``what`` names the bag for people.
        """
        found: str | None = None
        for key in ("profile", "runner"):
            entry = bag.entry(key)
            name = None if entry is None else str(getattr(entry.value, "value", ""))
            if entry is None or name is None or (key == "runner" and name == INHERIT):
                continue
            engine = self.names.get(name)
            if engine is None:
                known = "no --engines file is given" if not self.names else "the --engines file has no entry for it"
                notes.keep(entry.key.span, f"{key} of {what}", name, known)
            elif found is None:
                found = engine
            elif engine != found:
                self._overruled(entry, name, engine, found, what, notes)
        return found

    def _overruled(self, entry: Entry, name: str, engine: str, found: str, what: str, notes: Notes) -> None:
        why = f'its engine would be "{engine}", but the profile\'s engine "{found}" goes before it'
        notes.keep(entry.key.span, f"runner of {what}", name, why)


def read_engine_map(path: Path | None) -> EngineMap:
    """The mapping file at ``path``; ``CommandFault`` when it cannot be read or names what is no engine."""
    if path is None:
        return EngineMap()
    try:
        value = json.loads(read_regular(path))
    except OSError as error:
        raise CommandFault(f'--engines: cannot read "{path}": {error.strerror or error}') from error
    except (ValueError, RecursionError) as error:
        raise CommandFault(f'--engines: "{path}" is not JSON', help=f"write {_EXAMPLE}") from error
    if not isinstance(value, dict):
        raise CommandFault(f'--engines: "{path}" holds no JSON object', help=f"write {_EXAMPLE}")
    return EngineMap(_checked(path, value))


def _checked(path: Path, value: JsonObject) -> dict[str, str]:
    names: dict[str, str] = {}
    for name, engine in value.items():
        legal = isinstance(engine, str) and re.fullmatch(ENGINE, engine) and ENGINE_NAME.holds(len(engine))
        if not isinstance(engine, str) or not legal or engine.startswith("akm-"):
            found = json.dumps(engine, ensure_ascii=False)
            help = 'lower-case words joined by single dashes, at most 63 characters, not starting with "akm-"'
            raise CommandFault(f'--engines: "{path}" maps "{name}" to {found}, which is no engine name', help=help)
        names[name] = engine
    return names
