"""Codex CLI, checked against 0.171.0 (developers.openai.com/codex: non-interactive mode, CLI reference).

``codex exec --json`` reads the prompt on stdin where none of its words is one, and prints one event a line: the last
``item.completed`` with an item of type ``agent_message`` is the answer, ``turn.completed`` carries the usage (cached
tokens are part of the input), ``turn.failed`` and ``error`` carry a message. It is told to work outside a git
repository too, for a unit's directory need not be one. Its sandbox is the one that the user's configuration or the
engine's ``args`` (``--sandbox``) name; by default that is read-only.
"""

from __future__ import annotations

from typing import Final

from akm_run.dispatch.platforms.contract import CommandLine, Reader, Reading
from akm_run.dispatch.platforms.envelopes import NETWORK, added, fields, json_lines, text, total
from akm_schemas.plan import AgentEngine

PROGRAM: Final[str | None] = "codex"
CREDENTIALS: Final = ("CODEX_API_KEY", "OPENAI_API_KEY", "AZURE_OPENAI_API_KEY")
SETTINGS: Final = ("CODEX_HOME", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_PROJECT", *NETWORK)


def command_line(engine: AgentEngine, model: str | None) -> CommandLine:
    """The exec command with events as JSON Lines."""
    named = () if model is None else ("--model", model)
    more = engine.args if isinstance(engine.args, list) else ()
    return CommandLine(("exec", "--json", "--skip-git-repo-check", *named, *more), CREDENTIALS, SETTINGS)


def read(stdout: str) -> Reading:
    """The last message of the agent; raises UnreadableOutput."""
    answer: str = ""
    failure: str | None = None
    tokens: int | None = None
    for event in json_lines(stdout):
        match event.get("type"):
            case "item.completed":
                item = fields(event, "item")
                if item.get("type") == "agent_message":
                    answer = text(item.get("text"))
            case "turn.completed":
                tokens, failure = added(tokens, total(fields(event, "usage"), "input_tokens", "output_tokens")), None
            case "turn.failed":
                failure = text(fields(event, "error").get("message")) or "no reason given"
            case "error":
                failure = text(event.get("message")) or "no reason given"
    return Reading(answer, failure, tokens)


READ: Final[Reader | None] = read
