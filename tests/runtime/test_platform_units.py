"""Units on agent platforms: a stand-in program for each, from the command line to the result."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from akm_run.cancel import Cancellation
from akm_run.dispatch import dispatcher_for
from akm_run.dispatch.contract import UnitContext, UnitRequest, UnitResult
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import AgentEngine, CommandTarget, LiteralBinding, LlmEngine

N: JsonObject = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
KEY = "sk-ant-0123456789abcdef"

Ask = Callable[..., UnitResult]


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    cancel = Cancellation()

    def run(script: str, platform: Any = "claude", *, model: str | None = None, **more: Any) -> UnitResult:
        """The result of a unit whose program is ``script``, which finds its words in ``$@``."""
        program = tmp_path / "agent"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        named: dict[str, Any] = {} if model is None else {"model": model}
        engine = AgentEngine(**{"name": "coder", "platform": platform, "bin": "./agent"} | more.pop("engine", {}))
        target = CommandTarget(engine=engine, content_hash="", input_bindings=[], **named)
        fields: dict[str, Any] = {"env": (), "schema": None, "timeout_s": 30.0, "context": UnitContext({})} | more
        request = UnitRequest(
            "r1", "ask", "ask:solo", 1, target, "The  prose.", workspace=tmp_path, bundle=tmp_path, **fields
        )
        dispatcher = dispatcher_for(target)
        assert dispatcher is not None
        return dispatcher(request, cancel)

    yield run
    cancel.close()


def prints(value: Any) -> str:
    """A script that reads its prompt and prints the JSON of ``value``."""
    return f"cat > /dev/null; cat <<'END'\n{json.dumps(value)}\nEND"


def result(text: str, **more: Any) -> dict[str, Any]:
    return {
        "type": "result",
        "subtype": "success",
        "result": text,
        "usage": {"input_tokens": 7, "output_tokens": 3},
        **more,
    }


def test_the_prompt_is_on_stdin_and_the_answer_is_unwrapped(ask: Ask, tmp_path: Path) -> None:
    script = 'cat > prompt.txt; printf "%s\\n" "$@" > words.txt; echo ' + f"'{json.dumps(result('fake answer'))}'"
    assert ask(script, model="m", engine={"args": ["--x", "y z"]}) == UnitResult("fake answer", tokens=10)
    assert (tmp_path / "words.txt").read_text() == "-p\n--output-format\njson\n--model\nm\n--x\ny z\n"
    prompt = (tmp_path / "prompt.txt").read_text()
    assert "unit: ask:solo" in prompt
    assert "\n\nThe  prose.\n" in prompt


def test_answers_are_read_like_those_of_models(ask: Ask) -> None:
    assert ask(prints(result("text\n\n"))).value == "text"
    assert ask(prints(result(""))) == UnitResult(None, tokens=10)
    assert ask(prints(result('```json\n{"n": 7}\n```')), schema=N).value == {"n": 7}
    missed = ask(prints(result('{"n": "seven"}')), schema=N)
    assert (missed.failure_reason, missed.tokens) == ("validation_error", 10)
    assert "/n" in missed.errors[0]
    assert ask(prints(result("sorry")), schema=N).failure_reason == "parse_error"


ENVELOPES: dict[str, tuple[str, ...]] = {  # what each program prints; COUNT is a number of tokens, twice
    "claude": (
        '{"type": "result", "subtype": "success", "result": "x", "usage": {"input_tokens": COUNT, "output_tokens": COUNT}}',
    ),
    "codex": (
        '{"type": "item.completed", "item": {"type": "agent_message", "text": "x"}}',
        '{"type": "turn.completed", "usage": {"input_tokens": COUNT, "output_tokens": COUNT}}',
    ),
    "gemini": (
        '{"response": "x", "stats": {"models": {"a": {"tokens": {"total": COUNT}}, "b": {"tokens": {"total": COUNT}}}}}',
    ),
    "opencode": (
        '{"type": "step_start"}',
        '{"type": "text", "part": {"text": "x"}}',
        '{"type": "step_finish", "part": {"tokens": {"total": COUNT}}}',
        '{"type": "step_finish", "part": {"tokens": {"input": COUNT}}}',
    ),
}


@pytest.mark.parametrize("platform", ENVELOPES)
def test_a_count_that_cannot_be_kept_is_unreported(ask: Ask, platform: str) -> None:
    for count, tokens in (
        (5, 10),
        (2**52, 2**53),
        (2**52 + 1, None),
        (2**63 - 1, None),
        (10**22, None),
        ("9" * 5000, None),
    ):
        printed = "\n".join(ENVELOPES[platform]).replace("COUNT", str(count))
        found = ask(f"cat > /dev/null; cat <<'END'\n{printed}\nEND", platform=platform)
        assert found == UnitResult("x", tokens=tokens), count


def test_failures_that_the_program_reports(ask: Ask) -> None:
    broken = prints(result("API Error: 529", is_error=True))
    found = ask(broken + "\nexit 1")
    assert found.failure_reason == "non_zero_exit"
    assert (found.diagnostic or "").endswith("exited with status 1: API Error: 529")
    assert found.tokens == 10
    found = ask(broken)
    assert found.failure_reason == "non_zero_exit"
    assert "reports a failure: API Error: 529" in (found.diagnostic or "")
    found = ask("cat > /dev/null; echo why >&2; exit 3")
    assert (found.diagnostic or "").endswith("exited with status 3\nwhy")


def test_output_of_another_kind(ask: Ask) -> None:
    found = ask("cat > /dev/null; echo plain text")
    assert found.failure_reason == "llm_invalid_json"
    assert "stdout is not JSON" in (found.diagnostic or "")
    assert "plain text" not in (found.diagnostic or "")
    deep = ask("cat > /dev/null; head -c 200000 /dev/zero | tr '\\0' '['")
    assert "did not print what it should: stdout is nested too deeply; its version may be" in (deep.diagnostic or "")


def test_too_much_output(ask: Ask) -> None:
    found = ask("cat > /dev/null; head -c 9000000 /dev/zero | tr '\\0' x", "codex")
    assert found.failure_reason == "exec_output_limit"


def test_process_rules_are_those_of_exec(ask: Ask) -> None:
    assert ask("sleep 30", timeout_s=0.2).failure_reason == "timeout"
    assert ask("", engine={"bin": "no-such-agent-zz"}).failure_reason == "spawn_failed"


def test_the_environment_is_that_of_exec_and_the_platforms_names(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("OTHER_TOKEN", "other")
    values = "${OTHER_TOKEN-unset} $ANTHROPIC_BASE_URL $ANTHROPIC_API_KEY $TOK $AKM_STEP_ID"
    script = (
        f'cat > /dev/null; echo "{{\\"type\\":\\"result\\",\\"subtype\\":\\"success\\",\\"result\\":\\"{values}\\"}}"'
    )
    binding = LiteralBinding(name="TOK", value="tok-5f3a9c71")
    assert ask(script, env=(binding,)).value == "unset http://127.0.0.1:1 [redacted] [redacted] ask"
    found = ask(f'echo "$ANTHROPIC_API_KEY" >&2; {prints(result(KEY, is_error=True))}\nexit 1')
    assert KEY not in repr(found)
    assert "[redacted]" in (found.diagnostic or "")


def test_a_binding_is_above_a_platforms_own_variables(ask: Ask) -> None:
    llm = LlmEngine(name="local", endpoint="http://h/v1/chat/completions")
    script = """cat > /dev/null
        printf '{"type":"text","part":{"text":%s}}\\n' "$(printf %s "$OPENCODE_CONFIG_CONTENT" | sed 's/.*/"&"/; s/{.*}/json/')"
    """
    inline = {"engine": {"llm_engine": llm}, "model": "m"}
    assert ask(script, "opencode-sdk", **inline).value == "json"
    binding = LiteralBinding(name="OPENCODE_CONFIG_CONTENT", value="mine")
    assert ask(script, "opencode-sdk", env=(binding,), engine={"llm_engine": llm}, model="m").value == "[redacted]"


def test_an_llm_engine_needs_a_model(ask: Ask) -> None:
    llm = LlmEngine(name="local", endpoint="http://h/v1/chat/completions")
    found = ask("", "opencode-sdk", engine={"llm_engine": llm})
    assert found.failure_reason == "spawn_failed"
    assert "set its `model`" in (found.diagnostic or "")
