"""Model names and aliases (spec 2, section 3, "Models")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from akmc_passes.alias_table import AliasColumns, Aliases, ByEngine
from akmc_passes.engine_config import EngineConfig, LlmEngineConfig

LLM_COLUMN: Final = "llm"
ANY_COLUMN: Final = "*"


class AliasGap(Struct, frozen=True):
    """An alias that is known and has no model for the engine; ``help`` says what to write."""

    message: str
    help: str


def columns_for(engine: EngineConfig) -> tuple[str, ...]:
    """The columns that an alias is looked up by: the engine's name, its platform or ``llm``, then ``*``."""
    own = LLM_COLUMN if isinstance(engine, LlmEngineConfig) else engine.platform
    return (engine.name, own, ANY_COLUMN)


def resolve_model(
    model: str, engine: EngineConfig, engines: Mapping[str, EngineConfig], tables: tuple[Aliases, ...]
) -> str | AliasGap:
    """The exact model of ``model`` on ``engine``: the first table that has the alias decides, whole; a name that no
    table has is an exact model."""
    columns = next((table[model] for table in (engine.aliases, *tables) if model in table), None)
    if columns is None:
        return model
    column = next((name for name in columns_for(engine) if name in columns), None)
    if column is None:
        return _gap(model, engine, columns)
    found = columns[column]
    return found if isinstance(found, str) else _model_of(model, column, found, engines)


def _gap(model: str, engine: EngineConfig, columns: AliasColumns) -> AliasGap:
    looked_for = ", ".join(f'"{name}"' for name in columns_for(engine))
    there = ", ".join(f'"{name}"' for name in sorted(columns)) or "(none)"
    return AliasGap(
        f'the model alias "{model}" has no column for the engine "{engine.name}": looked for {looked_for}, found {there}',
        f'add "{engine.name}": MODEL to the alias "{model}", or name an exact model',
    )


def _model_of(alias: str, column: str, by: ByEngine, engines: Mapping[str, EngineConfig]) -> str | AliasGap:
    """The model of the engine that a column names; that model is exact, for there are no chains."""
    engine = engines.get(by.name)
    if engine is None:
        message = f'the column "{column}" of the model alias "{alias}" names the engine "{by.name}", which is not there'
        return AliasGap(message, "name a configured engine, or a model")
    if engine.model is None:
        message = f'the column "{column}" of the model alias "{alias}" names the engine "{by.name}", which has no model'
        return AliasGap(message, f'give the engine "{by.name}" a model, or name a model in the column')
    return engine.model
