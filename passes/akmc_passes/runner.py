"""A configured engine as a frozen runner."""

from __future__ import annotations

from typing import cast

from msgspec import UNSET

from akm_schemas.plan import AgentEngine, Engine, LlmEngine
from akmc_passes.config import Config
from akmc_passes.engine_config import AgentEngineConfig, EngineConfig, LlmEngineConfig

LOOPBACK_WIDTH = 1
REMOTE_WIDTH = 4


def freeze_engine(engine: EngineConfig, config: Config) -> Engine:
    """The engine as a plan carries it; credentials are names of variables."""
    if isinstance(engine, LlmEngineConfig):
        return LlmEngine(
            name=engine.name,
            endpoint=engine.endpoint,
            api_key=UNSET if engine.api_key is None else engine.api_key,
        )
    fallback = llm_fallback(engine, config)
    return AgentEngine(
        name=engine.name,
        platform=engine.platform,
        bin=UNSET if engine.bin is None else engine.bin,
        args=list(engine.args) or UNSET,
        workspace=UNSET if engine.workspace is None else engine.workspace,
        llm_engine=UNSET if fallback is None else cast(LlmEngine, freeze_engine(fallback, config)),
    )


def llm_fallback(engine: AgentEngineConfig, config: Config) -> LlmEngineConfig | None:
    """The llm engine of an ``opencode-sdk`` engine: its own, else the config's ``defaults.llmEngine``."""
    if engine.platform != "opencode-sdk":
        return None
    name = engine.llm_engine or config.default_llm_engine
    found = config.engines.get(name) if name is not None else None
    return found if isinstance(found, LlmEngineConfig) else None


def width_of(engine: EngineConfig, config: Config) -> int | None:
    """How many requests an engine takes at once; ``None``: no limit of its own."""
    if isinstance(engine, AgentEngineConfig):
        fallback = llm_fallback(engine, config)
        return None if fallback is None else width_of(fallback, config)
    if engine.concurrency is not None:
        return engine.concurrency
    from akmc_passes.loopback import is_loopback  # on use: most plans have no llm engine

    return LOOPBACK_WIDTH if is_loopback(engine.endpoint) else REMOTE_WIDTH
