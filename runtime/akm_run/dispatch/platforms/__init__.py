"""The coding agents that units can run on, one module each: command line, environment, and how the output is read.

What a module says of its program was taken from the program's own public documentation and its ``--help``, and checked
against the version that its docstring names.
"""

from __future__ import annotations

from typing import assert_never

from akm_run.dispatch.platforms.contract import Platform
from akm_schemas.plan import AgentEngine


def platform_of(engine: AgentEngine) -> Platform:
    """The module of an engine's platform, imported when it is first needed."""
    match engine.platform:
        case "claude":
            from akm_run.dispatch.platforms import claude

            return claude
        case "codex":
            from akm_run.dispatch.platforms import codex

            return codex
        case "gemini":
            from akm_run.dispatch.platforms import gemini

            return gemini
        case "opencode":
            from akm_run.dispatch.platforms import opencode

            return opencode
        case "opencode-sdk":
            from akm_run.dispatch.platforms import opencode_sdk

            return opencode_sdk
        case "command":
            from akm_run.dispatch.platforms import command

            return command
        case _:
            assert_never(engine.platform)
