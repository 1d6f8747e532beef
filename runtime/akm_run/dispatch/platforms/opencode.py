"""OpenCode, checked against 1.18.33 (opencode.ai/docs: CLI, config, providers).

``opencode run --format json`` reads the message on stdin when it is no terminal, and prints one event a line: ``text``
events carry the parts of what the model says, ``step_start`` begins each of its steps, ``step_finish`` ends them with
the tokens used (``total``, or the kinds one by one), ``error`` carries a failure. The answer is the text of the last
step that has any. Models are written ``provider/model``; permissions are the user's configuration or the engine's
``args``.
"""

from __future__ import annotations

from typing import Final

from akm_run.dispatch.platforms.contract import CommandLine, Reader, Reading
from akm_run.dispatch.platforms.envelopes import FOLDERS, NETWORK, Fields, added, fields, json_lines, text, total
from akm_schemas.plan import AgentEngine

PROGRAM: Final[str | None] = "opencode"
CREDENTIALS: Final = (
    *("OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY"),
    *("OPENROUTER_API_KEY", "GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY", "TOGETHER_API_KEY"),
    *("FIREWORKS_API_KEY", "CEREBRAS_API_KEY", "AZURE_API_KEY", "AWS_BEARER_TOKEN_BEDROCK"),
)
INLINE_CONFIG: Final = "OPENCODE_CONFIG_CONTENT"
SETTINGS: Final = (
    *("OPENCODE_CONFIG", INLINE_CONFIG, "OPENCODE_CONFIG_DIR", "OPENCODE_PERMISSION", "OPENCODE_DISABLE_AUTOUPDATE"),
    *("AWS_PROFILE", "AWS_REGION", "AZURE_RESOURCE_NAME", "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT"),
    *FOLDERS,
    *NETWORK,
)


def arguments(engine: AgentEngine, model: str | None) -> tuple[str, ...]:
    """The words after the program."""
    named = () if model is None else ("--model", model)
    more = engine.args if isinstance(engine.args, list) else ()
    return ("run", "--format", "json", *named, *more)


def command_line(engine: AgentEngine, model: str | None) -> CommandLine:
    """The run command with events as JSON Lines."""
    return CommandLine(arguments(engine, model), CREDENTIALS, SETTINGS)


def read(stdout: str) -> Reading:
    """What the last speaking step said; raises UnreadableOutput."""
    answer: list[str] = []
    fresh = True
    failure: str | None = None
    tokens: int | None = None
    for event in json_lines(stdout):
        match event.get("type"):
            case "step_start":
                fresh = True
            case "text":
                if fresh:
                    answer, fresh = [], False
                answer.append(text(fields(event, "part").get("text")))
            case "step_finish":
                tokens = added(tokens, _tokens(fields(event, "part", "tokens")))
            case "error":
                failure = _failure(fields(event, "error"))
    return Reading("".join(answer), failure, tokens)


READ: Final[Reader | None] = read


def _tokens(counts: Fields) -> int | None:
    if "total" in counts:
        return total(counts, "total")
    return added(total(counts, "input", "output", "reasoning"), total(fields(counts, "cache"), "read", "write"))


def _failure(error: Fields) -> str:
    message = text(fields(error, "data").get("message")) or text(error.get("message"))
    return message or text(error.get("name")) or "no reason given"
