"""Configured engines (spec 2, section 3, "Engines")."""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias, cast

from msgspec import Struct, field

from akm_schemas import bounds, config_keys
from akm_schemas.canonical import CanonicalError, canonical_bytes
from akm_schemas.endpoints import endpoint_fault
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.keys import ENGINE
from akm_schemas.schema_patterns import CWD
from akmc_passes.alias_table import Aliases, read_columns
from akmc_passes.config_reader import Reader, below
from akmc_passes.words import quoted

Platform: TypeAlias = Literal["claude", "opencode", "codex", "gemini", "opencode-sdk", "command"]
PLATFORMS: Final = config_keys.PLATFORMS

TUNING: Final = {
    "temperature": "temperature",
    "maxTokens": "max_tokens",
    "supportsJsonSchema": "supports_json_schema",
    "extraParams": "extra_params",
    "contextLength": "context_length",
    "enableThinking": "enable_thinking",
}
"""Config spelling of llm tuning to the spelling in workflow sources."""

_LLM_KEYS: Final = config_keys.names(config_keys.LLM_ENGINE)
_AGENT_KEYS: Final = config_keys.names(config_keys.AGENT_ENGINE)
_VARIABLE: Final = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_WORKSPACE: Final = re.compile(CWD.body)


class LlmEngineConfig(Struct, frozen=True):
    """``kind: llm``. ``api_key`` is the name of an environment variable; ``tuning`` is spelt as in sources."""

    name: str
    endpoint: str
    model: str
    api_key: str | None = None
    timeout_ms: int | None = None
    concurrency: int | None = None
    tuning: JsonObject = field(default_factory=dict)
    aliases: Aliases = field(default_factory=dict)


class AgentEngineConfig(Struct, frozen=True):
    """``kind: agent``. ``workspace`` is relative; ``llm_engine`` names an llm engine (``opencode-sdk`` only)."""

    name: str
    platform: Platform
    bin: str | None = None
    args: tuple[str, ...] = ()
    workspace: str | None = None
    model: str | None = None
    timeout_ms: int | None = None
    llm_engine: str | None = None
    aliases: Aliases = field(default_factory=dict)


EngineConfig: TypeAlias = LlmEngineConfig | AgentEngineConfig


def read_engine(reader: Reader, name: str, value: Json, where: str) -> EngineConfig:
    """One entry of ``engines``; raises ConfigError."""
    if not re.fullmatch(ENGINE, name) or name.startswith("akm-") or not bounds.ENGINE_NAME.holds(len(name)):
        rule = 'lower-case words joined by single dashes, at most 63 characters, not starting with "akm-"'
        raise reader.fault(where, f"{quoted(name)} is no engine name: {rule}")
    found = reader.mapping(value, where)
    if "kind" not in found:
        raise reader.fault(where, 'lacks the key "kind" ("agent" or "llm")')
    if reader.choice(found["kind"], below(where, "kind"), config_keys.KINDS) == "llm":
        return _read_llm(reader, name, reader.closed(found, where, _LLM_KEYS), where)
    return _read_agent(reader, name, reader.closed(found, where, _AGENT_KEYS), where)


def _read_llm(reader: Reader, name: str, found: JsonObject, where: str) -> LlmEngineConfig:
    for key in ("endpoint", "model"):
        if key not in found:
            raise reader.fault(where, f'an engine of kind "llm" lacks the key "{key}"')
    at = below(where, "apiKey")
    key_match = _VARIABLE.fullmatch(reader.text_of(found["apiKey"], at)) if "apiKey" in found else None
    if "apiKey" in found and key_match is None:
        # the text may be a credential: it is never echoed
        raise reader.fault(
            at, "takes only the name of an environment variable, as $VAR or ${VAR}, never the key itself"
        )
    return LlmEngineConfig(
        name=name,
        endpoint=_endpoint(reader, found["endpoint"], below(where, "endpoint")),
        model=reader.text_of(found["model"], below(where, "model")),
        api_key=None if key_match is None else key_match[1] or key_match[2],
        timeout_ms=_optional_integer(reader, found, where, "timeoutMs", bounds.TIMEOUT_MS),
        concurrency=_optional_integer(reader, found, where, "concurrency", bounds.CONCURRENCY),
        tuning={TUNING[key]: _tuning(reader, key, found[key], below(where, key)) for key in TUNING if key in found},
        aliases=_engine_aliases(reader, found, where),
    )


def _read_agent(reader: Reader, name: str, found: JsonObject, where: str) -> AgentEngineConfig:
    if "platform" not in found:
        raise reader.fault(where, 'an engine of kind "agent" lacks the key "platform"')
    platform = cast(Platform, reader.choice(found["platform"], below(where, "platform"), PLATFORMS))
    if platform == "command" and "bin" not in found:
        raise reader.fault(where, 'an engine of platform "command" lacks the key "bin"')
    if "llmEngine" in found and platform != "opencode-sdk":
        raise reader.fault(below(where, "llmEngine"), f'goes only with platform "opencode-sdk", found "{platform}"')

    def text(key: str) -> str | None:
        return reader.text_of(found[key], below(where, key)) if key in found else None

    bin, args = text("bin"), below(where, "args")
    return AgentEngineConfig(
        name=name,
        platform=platform,
        bin=None if bin is None else _without_nul(reader, [bin], below(where, "bin"))[0],
        args=tuple(_without_nul(reader, reader.texts(found.get("args", []), args), args)),
        workspace=_workspace(reader, found, where),
        model=text("model"),
        timeout_ms=_optional_integer(reader, found, where, "timeoutMs", bounds.TIMEOUT_MS),
        llm_engine=text("llmEngine"),
        aliases=_engine_aliases(reader, found, where),
    )


def _endpoint(reader: Reader, value: Json, where: str) -> str:
    """An http(s) URL that ends in /chat/completions and carries neither credentials, query nor fragment."""
    text = reader.text_of(value, where)
    if fault := endpoint_fault(text):
        raise reader.fault(where, fault)
    return text


def _without_nul(reader: Reader, words: list[str], where: str) -> list[str]:
    """Words of a command line, which end at a NUL for the system."""
    if any("\0" in word for word in words):
        raise reader.fault(where, "a word of a command line cannot hold a NUL character")
    return words


def _workspace(reader: Reader, found: JsonObject, where: str) -> str | None:
    """A contained relative path: a plan holds no absolute one."""
    if "workspace" not in found:
        return None
    text = reader.text_of(found["workspace"], below(where, "workspace"))
    if not _WORKSPACE.fullmatch(text) or not bounds.CWD_LENGTH.holds(len(text)):
        message = f"expected a relative path without .., \\ or ~, found {quoted(text)}"
        raise reader.fault(below(where, "workspace"), message)
    return text


def _tuning(reader: Reader, key: str, value: Json, where: str) -> Json:
    if key == "temperature":
        return reader.number(value, where)
    if key in ("supportsJsonSchema", "enableThinking"):
        return reader.boolean(value, where)
    if key != "extraParams":
        return reader.integer(value, where, bounds.MAX_TOKENS)
    return _extra_params(reader, reader.mapping(value, where), where)


def _extra_params(reader: Reader, found: JsonObject, where: str) -> JsonObject:
    """Request members that belong neither to the engine nor to credentials."""
    from akmc_grammar.frontmatter_rules import OWNED_ANYWHERE, OWNED_TOP_LEVEL  # on use: it reads YAML

    try:
        size = len(canonical_bytes(found))
    except CanonicalError as error:
        raise reader.fault(where, str(error)) from None
    if not bounds.EXTRA_PARAMS_BYTES.holds(size):
        raise reader.fault(where, f"takes {bounds.EXTRA_PARAMS_BYTES.says()}, found {size}")
    stack: list[tuple[str, Json, bool]] = [(where, found, True)]
    while stack:
        at, here, top = stack.pop()
        if isinstance(here, list):
            stack.extend((at, item, False) for item in here)
        elif isinstance(here, dict):
            for name, value in here.items():
                bare = re.sub(r"[^a-z0-9]", "", name.lower())
                if bare in OWNED_ANYWHERE or (top and bare in OWNED_TOP_LEVEL):
                    raise reader.fault(below(at, name), "belongs to the engine, or would carry a secret or a header")
                stack.append((below(at, name), value, False))
    return found


def _optional_integer(reader: Reader, found: JsonObject, where: str, key: str, bound: bounds.Bound) -> int | None:
    return reader.integer(found[key], below(where, key), bound) if key in found else None


def _engine_aliases(reader: Reader, found: JsonObject, where: str) -> Aliases:
    at = below(where, "modelAliases")
    table = reader.mapping(found.get("modelAliases", {}), at)
    return {alias: read_columns(reader, value, below(at, alias), lone=True) for alias, value in table.items()}
