"""Tables of model aliases: ``{alias: {column: model}}`` (spec 2, section 3, "Models")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from msgspec import Struct

from akm_schemas.json_types import Json
from akmc_passes.config_reader import Reader, below


class ByEngine(Struct, frozen=True):
    """An alias column that takes the model of the engine called ``name``."""

    name: str


AliasColumns: TypeAlias = Mapping[str, "str | ByEngine"]
Aliases: TypeAlias = Mapping[str, AliasColumns]


def read_aliases(reader: Reader, value: Json, where: str) -> Aliases:
    """``{alias: {column: model}}``; raises ConfigError."""
    table = reader.mapping(value, where)
    return {alias: read_columns(reader, columns, below(where, alias)) for alias, columns in table.items()}


def read_columns(reader: Reader, value: Json, where: str, *, lone: bool = False) -> AliasColumns:
    """The columns of one alias. ``lone``: an engine's own table may write the model alone."""
    if lone and (isinstance(value, str) or _is_indirection(value)):
        return {"*": _column(reader, value, where)}
    columns = reader.mapping(value, where)
    return {column: _column(reader, model, below(where, column)) for column, model in columns.items()}


def _is_indirection(value: Json) -> bool:
    return isinstance(value, dict) and list(value) == ["engine"]


def _column(reader: Reader, value: Json, where: str) -> str | ByEngine:
    if isinstance(value, dict):
        if not _is_indirection(value):
            raise reader.fault(where, 'expected a model or {"engine": NAME}')
        return ByEngine(reader.text_of(value["engine"], below(where, "engine")))
    return reader.text_of(value, where)
