"""The config: found, read strictly, merged (spec 2, section 3).

The project's file wins over the user's: engine by engine, bundle by bundle, alias by alias, and key by key elsewhere.
Paths enter only as ``bundles`` and never a plan.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path as FilePath
from typing import TypeVar

from msgspec import Struct

from akm_schemas import bounds, config_keys
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.keys import Record
from akmc_passes.alias_table import Aliases, read_aliases
from akmc_passes.config_places import FILE, FOLDER, MODELS, project_config, user_folder
from akmc_passes.config_reader import ConfigError, Reader, below, read_settings
from akmc_passes.engine_config import EngineConfig, read_engine
from akmc_passes.paths import absolute

__all__ = [
    "FILE",
    "FOLDER",
    "MODELS",
    "Config",
    "ConfigError",
    "Workflow",
    "load_config",
    "project_config",
    "read_config",
    "read_models",
    "user_folder",
]

_T = TypeVar("_T")


class Workflow(Struct, frozen=True):
    """The ``workflow`` settings; ``None`` where the config is silent."""

    max_concurrency: int | None = None
    default_map_concurrency: int | None = None
    judge_engine: str | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """The merged config. ``bundles`` are absolute; ``aliases`` the tables in the order that they are asked."""

    engines: Mapping[str, EngineConfig] = field(default_factory=dict)
    default_engine: str | None = None
    default_llm_engine: str | None = None
    workflow: Workflow = field(default_factory=Workflow)
    bundles: Mapping[str, FilePath] = field(default_factory=dict)
    aliases: tuple[Aliases, ...] = ()
    files: tuple[FilePath, ...] = ()


def load_config(
    start: FilePath, explicit: FilePath | None = None, environ: Mapping[str, str] | None = None
) -> Config | None:
    """The config for a source in the folder ``start``: ``explicit`` (``--config``), else the nearest
    ``.akm/config.json`` upwards, over the user's; ``None`` when neither is there. Raises ConfigError."""
    project = explicit if explicit is not None else project_config(start)
    user = user_folder(os.environ if environ is None else environ) / FILE
    layers: list[tuple[Reader, FilePath]] = []
    if project is not None:
        reader = read_settings(project)
        if reader is None:
            raise ConfigError(project, "", "there is no such file")
        layers.append((reader, project_base(project)))
    if project is None or not _same_file(project, user):
        reader = read_settings(user)
        if reader is not None:
            layers.append((reader, user.parent))
    if not layers:
        return None
    return _merge([read_config(reader, base) for reader, base in layers], _model_tables(layers, user.parent))


def project_base(file: FilePath) -> FilePath:
    """Where relative ``bundles`` paths of a config start: the folder that holds ``.akm``, else the one of the file."""
    folder = absolute(file).parent
    return folder.parent if folder.name == FOLDER else folder


def _same_file(first: FilePath, second: FilePath) -> bool:
    return os.path.realpath(first) == os.path.realpath(second)


def read_config(reader: Reader, base: FilePath) -> Config:
    """One file as a Config of its own; relative bundle paths start at the folder ``base``. Raises ConfigError."""
    found = _document(reader, config_keys.CONFIG)
    engines = reader.mapping(found.get("engines", {}), "engines")
    defaults = reader.closed(found.get("defaults", {}), "defaults", config_keys.names(config_keys.DEFAULTS))
    return Config(
        engines={name: read_engine(reader, name, value, f"engines.{name}") for name, value in engines.items()},
        default_engine=_name(reader, defaults, "defaults", "engine"),
        default_llm_engine=_name(reader, defaults, "defaults", "llmEngine"),
        workflow=_workflow(
            reader, reader.closed(found.get("workflow", {}), "workflow", config_keys.names(config_keys.WORKFLOW))
        ),
        bundles=_bundles(reader, found.get("bundles", {}), base),
        aliases=(read_aliases(reader, found.get("modelAliases", {}), "modelAliases"),),
        files=(reader.file,),
    )


def _document(reader: Reader, shape: Record) -> JsonObject:
    """The file's object, with the keys of ``shape`` alone."""
    found = reader.closed(reader.document(), "", config_keys.names(shape))
    if "$schema" in found:
        reader.text_of(found["$schema"], "$schema")
    return found


def _name(reader: Reader, found: JsonObject, where: str, key: str) -> str | None:
    return reader.text_of(found[key], below(where, key)) if key in found else None


def _workflow(reader: Reader, found: JsonObject) -> Workflow:
    def width(key: str) -> int | None:
        return reader.integer(found[key], f"workflow.{key}", bounds.CONCURRENCY) if key in found else None

    return Workflow(
        width("maxConcurrency"), width("defaultMapConcurrency"), _name(reader, found, "workflow", "judgeEngine")
    )


def _bundles(reader: Reader, value: Json, base: FilePath) -> dict[str, FilePath]:
    found = reader.mapping(value, "bundles")
    paths = {name: reader.text_of(path, f"bundles.{name}") for name, path in found.items()}
    return {name: absolute(base / path) for name, path in paths.items()}


def _merge(layers: list[Config], models: tuple[Aliases, ...]) -> Config:
    """``layers``, strongest first, as one; ``models`` are the tables of models.json files, strongest first."""
    engines: dict[str, EngineConfig] = {}
    bundles: dict[str, FilePath] = {}
    for layer in reversed(layers):
        engines.update(layer.engines)
        bundles.update(layer.bundles)
    flows = [layer.workflow for layer in layers]
    return Config(
        engines=engines,
        default_engine=_first([layer.default_engine for layer in layers]),
        default_llm_engine=_first([layer.default_llm_engine for layer in layers]),
        workflow=Workflow(
            _first([flow.max_concurrency for flow in flows]),
            _first([flow.default_map_concurrency for flow in flows]),
            _first([flow.judge_engine for flow in flows]),
        ),
        bundles=bundles,
        aliases=(*(table for layer in layers for table in layer.aliases), *models),
        files=tuple(file for layer in layers for file in layer.files),
    )


def _first(values: list[_T | None]) -> _T | None:
    return next((value for value in values if value is not None), None)


def _model_tables(layers: list[tuple[Reader, FilePath]], user: FilePath) -> tuple[Aliases, ...]:
    """The tables of the models.json beside each config file, the user's even without a config, then the shipped one."""
    folders = [absolute(reader.file).parent for reader, _ in layers]
    if not any(_same_file(folder, user) for folder in folders):
        folders.append(user)
    readers = [reader for folder in folders if (reader := read_settings(folder / MODELS)) is not None]
    return (*(read_models(reader) for reader in readers), _shipped_models())


def read_models(reader: Reader) -> Aliases:
    """The table of a models.json; raises ConfigError."""
    found, version = _document(reader, config_keys.MODELS), config_keys.MODELS_VERSION
    if found.get("version") != version or isinstance(found.get("version"), bool):
        raise reader.fault("version" if "version" in found else "", f'expected "version": {version}')
    return read_aliases(reader, found.get("aliases", {}), "aliases")


@cache
def _shipped_models() -> Aliases:
    from importlib import resources  # on use: a check without a config reads no models

    text = resources.files("akmc_passes").joinpath(MODELS).read_text("utf-8")
    return read_models(Reader(FilePath(MODELS), text))
