"""Gemini CLI, checked against 0.61.0 (geminicli.com/docs: headless mode, authentication, trusted folders).

Without a terminal ``gemini --output-format json`` reads the prompt on stdin and prints one object: ``response`` is the
text, ``stats.models`` counts tokens for each model that was used, ``error`` is set for a failure (which some releases
print on stderr instead). It refuses a directory that nobody trusts; to trust it is for a person to decide, with
``--skip-trust`` in the engine's ``args`` or ``GEMINI_CLI_TRUST_WORKSPACE``, and so is ``--approval-mode``.
"""

from __future__ import annotations

from typing import Final

from akm_run.dispatch.platforms.contract import CommandLine, Reader, Reading
from akm_run.dispatch.platforms.envelopes import NETWORK, added, fields, one_object, text, total
from akm_schemas.plan import AgentEngine

PROGRAM: Final[str | None] = "gemini"
CREDENTIALS: Final = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
SETTINGS: Final = (
    *("GEMINI_CLI_HOME", "GEMINI_CLI_TRUST_WORKSPACE", "GEMINI_CLI_TRUSTED_FOLDERS_PATH", "GEMINI_SANDBOX"),
    *("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
    *("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"),
    *NETWORK,
)


def command_line(engine: AgentEngine, model: str | None) -> CommandLine:
    """Headless mode with one JSON object."""
    named = () if model is None else ("--model", model)
    more = engine.args if isinstance(engine.args, list) else ()
    return CommandLine(("--output-format", "json", *named, *more), CREDENTIALS, SETTINGS)


def read(stdout: str) -> Reading:
    """The response; raises UnreadableOutput."""
    result = one_object(stdout)
    tokens: int | None = None
    for model in fields(result, "stats", "models").values():
        tokens = added(tokens, total(fields(model, "tokens"), "total"))
    failure = fields(result, "error")
    if failure:
        return Reading(error=text(failure.get("message")) or "no reason given", tokens=tokens)
    return Reading(text(result.get("response")), tokens=tokens)


READ: Final[Reader | None] = read
