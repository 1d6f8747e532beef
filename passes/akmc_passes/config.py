"""The config: found, read strictly, merged (spec 2, section 3).

The project's file wins over the user's: engine by engine, bundle by bundle, alias by alias, and key by key elsewhere.
Paths enter only as ``bundles`` and never a plan.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path as FilePath
from typing import TypeVar

from msgspec import Struct

from akm_schemas import bounds, config_keys
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.keys import Record
from akmc_passes.alias_table import Aliases, read_aliases
from akmc_passes.config_places import FILE, FOLDER, MODELS, project_config, user_folder
from akmc_passes.config_reader import ConfigError, Faults, Reader, below, read_settings
from akmc_passes.engine_config import EngineConfig, read_engine
from akmc_passes.paths import absolute
from akmc_passes.words import quoted

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
        reader = read_settings(project, named=explicit is not None)
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
    """One file as a Config of its own; relative bundle paths start at the folder ``base``. Raises ConfigError with every
    fault of the file."""
    faults = Faults()
    found = _document(reader, config_keys.CONFIG, faults)
    defaults = reader.known(found.get("defaults", {}), "defaults", config_keys.names(config_keys.DEFAULTS), faults)
    config = Config(
        engines=_engines(reader, found.get("engines", {}), faults),
        default_engine=_name(reader, defaults, "defaults", "engine", faults),
        default_llm_engine=_name(reader, defaults, "defaults", "llmEngine", faults),
        workflow=_workflow(reader, found.get("workflow", {}), faults),
        bundles=_bundles(reader, found.get("bundles", {}), base, faults),
        aliases=(faults.attempt(lambda: read_aliases(reader, found.get("modelAliases", {}), "modelAliases"), {}),),
        files=(reader.file,),
    )
    faults.settle()
    return config


def _document(reader: Reader, shape: Record, faults: Faults) -> JsonObject:
    """The keys of ``shape`` in the file's object."""
    found = reader.known(reader.document(), "", config_keys.names(shape), faults)
    if "$schema" in found:
        faults.attempt(lambda: reader.text_of(found["$schema"], "$schema"), "")
    return found


def _engines(reader: Reader, value: Json, faults: Faults) -> dict[str, EngineConfig]:
    engines: dict[str, EngineConfig] = {}
    nothing: JsonObject = {}
    for name, inner in faults.attempt(lambda: reader.mapping(value, "engines"), nothing).items():
        read = partial(read_engine, reader, name, inner, f"engines.{name}")
        engine = faults.attempt(read, None)
        if engine is not None:
            engines[name] = engine
    return engines


def _name(reader: Reader, found: JsonObject, where: str, key: str, faults: Faults) -> str | None:
    return faults.attempt(lambda: reader.text_of(found[key], below(where, key)), None) if key in found else None


def _workflow(reader: Reader, value: Json, faults: Faults) -> Workflow:
    found = reader.known(value, "workflow", config_keys.names(config_keys.WORKFLOW), faults)

    def width(key: str) -> int | None:
        if key not in found:
            return None
        return faults.attempt(lambda: reader.integer(found[key], f"workflow.{key}", bounds.CONCURRENCY), None)

    judge = _name(reader, found, "workflow", "judgeEngine", faults)
    return Workflow(width("maxConcurrency"), width("defaultMapConcurrency"), judge)


def _bundles(reader: Reader, value: Json, base: FilePath, faults: Faults) -> dict[str, FilePath]:
    paths: dict[str, FilePath] = {}
    nothing: JsonObject = {}
    for name, inner in faults.attempt(lambda: reader.mapping(value, "bundles"), nothing).items():
        where = f"bundles.{name}"
        if re.fullmatch(config_keys.BUNDLE_NAME.body, name) is None:
            rule = config_keys.BUNDLE_NAME.hint
            faults.found.append(
                reader.fault(where, f"{quoted(name)} is no name of a bundle, as no ref can say it: {rule}")
            )
        path = faults.attempt(partial(reader.text_of, inner, where), None)
        if path is not None:
            paths[name] = absolute(base / path)
    return paths


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
    faults, version = Faults(), config_keys.MODELS_VERSION
    found = _document(reader, config_keys.MODELS, faults)
    faults.settle()
    if found.get("version") != version or isinstance(found.get("version"), bool):
        raise reader.fault("version" if "version" in found else "", f'expected "version": {version}')
    return read_aliases(reader, found.get("aliases", {}), "aliases")


@cache
def _shipped_models() -> Aliases:
    from importlib import resources  # on use: a check without a config reads no models

    text = resources.files("akmc_passes").joinpath(MODELS).read_text("utf-8")
    return read_models(Reader(FilePath(MODELS), text))
