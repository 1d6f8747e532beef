"""Claude Code, checked against 2.1.197 (code.claude.com/docs: CLI reference, headless mode, environment variables).

``claude -p --output-format json`` reads the prompt on stdin and prints one object of type ``result``: ``result`` is
the text, ``is_error`` says that it is a failure's, ``usage`` counts the tokens of the whole session. What it may do
without asking is the engine's ``args`` to say (``--permission-mode``, ``--allowedTools``): without them it asks
nobody and refuses.
"""

from __future__ import annotations

from typing import Final

from akm_run.dispatch.platforms.contract import CommandLine, Reader, Reading, UnreadableOutput
from akm_run.dispatch.platforms.envelopes import NETWORK, fields, one_object, text, total
from akm_schemas.plan import AgentEngine

PROGRAM: Final[str | None] = "claude"
CREDENTIALS: Final = (
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN"),
    *("ANTHROPIC_FOUNDRY_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"),
)
SETTINGS: Final = (
    *("ANTHROPIC_BASE_URL", "CLAUDE_CONFIG_DIR"),
    *("CLAUDE_CODE_USE_BEDROCK", "AWS_PROFILE", "AWS_REGION", "ANTHROPIC_BEDROCK_BASE_URL"),
    *("CLAUDE_CODE_USE_VERTEX", "CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID", "ANTHROPIC_VERTEX_BASE_URL"),
    *("GOOGLE_APPLICATION_CREDENTIALS", "CLAUDE_CODE_USE_FOUNDRY", "ANTHROPIC_FOUNDRY_RESOURCE"),
    *NETWORK,
)


def command_line(engine: AgentEngine, model: str | None) -> CommandLine:
    """Print mode with one JSON result."""
    named = () if model is None else ("--model", model)
    more = engine.args if isinstance(engine.args, list) else ()
    return CommandLine(("-p", "--output-format", "json", *named, *more), CREDENTIALS, SETTINGS)


def read(stdout: str) -> Reading:
    """The result object; raises UnreadableOutput."""
    result = one_object(stdout)
    if result.get("type") != "result":
        raise UnreadableOutput('stdout is no object of type "result"')
    counted = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    tokens = total(fields(result, "usage"), *counted)
    said = text(result.get("result"))
    if result.get("is_error") is True or result.get("subtype") != "success":
        return Reading(error=said or text(result.get("subtype")) or "no reason given", tokens=tokens)
    return Reading(said, tokens=tokens)


READ: Final[Reader | None] = read
