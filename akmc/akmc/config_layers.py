"""Which config files count, and what they come to name by name."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from akm_schemas.config_keys import CONFIG, names
from akm_schemas.json_types import Json, JsonObject
from akmc.config_edit import dotted_name
from akmc.faults import CONFIG as CONFIG_STATUS
from akmc.faults import CommandFault
from akmc_passes.config import FILE, FOLDER, ConfigError, project_base, project_config, read_config, user_folder
from akmc_passes.config_reader import read_settings


@dataclass(frozen=True, slots=True)
class Setting:
    """One value of the config as it counts, and the file that says so."""

    path: tuple[str, ...]
    value: Json
    file: Path

    @property
    def name(self) -> str:
        """The dotted name, as ``get`` takes it."""
        return dotted_name(self.path)


def user_file() -> Path:
    """The user's config file."""
    return user_folder(os.environ) / FILE


def project_file(start: Path) -> Path:
    """The project's config file, or where it would be: in the bundle around ``start``, else in ``start``."""
    from akmc_passes.bundle import find_bundle

    found = project_config(start)
    if found is not None:
        return found
    bundle = find_bundle(start)
    return (start if bundle is None else bundle.root) / FOLDER / FILE


def layers(config: Path | None, *, user: bool) -> list[tuple[Path, JsonObject]]:
    """The files that count with their values, strongest first; each is checked whole. A faulty one is a fault (78)."""
    files = [user_file()] if user else [file for file in (config or project_config(Path()), user_file()) if file]
    found: list[tuple[Path, JsonObject]] = []
    try:
        for file in dict.fromkeys(files):
            reader = read_settings(file, named=file == config)
            if reader is None and file == config:
                raise ConfigError(file, "", "there is no such file")
            if reader is not None:
                read_config(reader, project_base(file))
                found.append((file, reader.document()))
    except ConfigError as error:
        raise CommandFault(str(error), status=CONFIG_STATUS, help="mend the config") from error
    return found


def settings(found: Sequence[tuple[Path, JsonObject]]) -> Iterator[Setting]:
    """What counts, section by section and name by name, sorted: the first file that has a name wins whole."""
    for section in sorted(names(CONFIG)):
        winners: dict[str, Setting] = {}
        for file, document in reversed(found):
            value = document.get(section, {})
            if isinstance(value, dict):
                for name, inner in value.items():
                    winners[name] = Setting((section, name), inner, file)
        for name in sorted(winners):
            yield winners[name]


def leaves(setting: Setting) -> Iterator[Setting]:
    """A setting as its single values; an empty object and a list are values."""
    if isinstance(setting.value, dict) and setting.value:
        for name, value in sorted(setting.value.items()):
            yield from leaves(Setting((*setting.path, name), value, setting.file))
    else:
        yield setting


def merged(found: Sequence[tuple[Path, JsonObject]]) -> JsonObject:
    """The config as it counts, as one object."""
    whole: dict[str, dict[str, Json]] = {}
    for setting in settings(found):
        section, name = setting.path
        whole.setdefault(section, {})[name] = setting.value
    return {**whole}
