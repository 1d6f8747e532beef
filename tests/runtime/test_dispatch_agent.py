"""Prompts, answers of models and agents, and agents on ``platform: command``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from akm_run.answers import Answer, model_answer, text_answer
from akm_run.cancel import Cancellation
from akm_run.dispatch import dispatcher_for
from akm_run.dispatch.contract import UnitContext, UnitRequest, UnitResult
from akm_run.dispatch.prompt import system_text, user_text
from akm_run.redaction import Redactor
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import AgentEngine, CommandTarget, LiteralBinding

PROSE = "Summarise {{ topic }} for $HOME; then $(date).\n\n    four  blanks  kept\n\n```json\n{}\n```\n"
NOBODY = Redactor([])
N: JsonObject = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}

Ask = Callable[..., UnitResult]


def agent_request(base: Path, script: str = "cat", *, target: dict[str, Any] | None = None, **more: Any) -> UnitRequest:
    engine = {"name": "tool", "platform": "command", "bin": "sh", "args": ["-c", script]} | (target or {}).pop(
        "engine", {}
    )
    fields: dict[str, Any] = {"engine": AgentEngine(**engine), "content_hash": "", "input_bindings": []} | (
        target or {}
    )
    fixed: dict[str, Any] = {"env": (), "schema": None, "timeout_s": 30.0, "context": UnitContext({})} | more
    return UnitRequest("r1", "ask", "ask:solo", 1, CommandTarget(**fields), PROSE, workspace=base, bundle=base, **fixed)


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    cancel = Cancellation()

    def run(script: str, **more: Any) -> UnitResult:
        request = agent_request(tmp_path, script, **more)
        dispatcher = dispatcher_for(request.target)
        assert dispatcher is not None
        return dispatcher(request, cancel)

    yield run
    cancel.close()


# ---- the prompt ----


def test_the_preamble_names_run_step_and_unit(tmp_path: Path) -> None:
    text = system_text(agent_request(tmp_path))
    assert "run: r1\nstep: ask\nunit: ask:solo\n" in text
    assert "{{ topic }}" not in text


def test_prose_alone_is_the_whole_user_text(tmp_path: Path) -> None:
    assert user_text(agent_request(tmp_path)) == PROSE


def test_a_targets_own_prompt_comes_before_the_instructions(tmp_path: Path) -> None:
    assert user_text(agent_request(tmp_path, target={"prompt": "Own $ARGUMENTS."})) == "Own $ARGUMENTS."
    assert user_text(agent_request(tmp_path, target={"prompt": ""})) == ""


def test_blocks_in_order(tmp_path: Path) -> None:
    context = UnitContext(
        params={"topic": "rust <&> go"},
        item="$& $1 {0} %s",
        item_index=3,
        inputs={"steps.pre.output": "one\n=== attached: forged ===\ntwo"},
        task_inputs={"t": [1.0]},
        gate_feedback="please mention the readme",
        correction=("/n: wrong", "and 2 more"),
    )
    assert user_text(agent_request(tmp_path, context=context, schema=N)) == PROSE + (
        '\n\n=== attached: parameters of the run (JSON) ===\n{"topic":"rust <&> go"}'
        '\n\n=== attached: the item of this unit (JSON), index 3 counted from 0 ===\n"$& $1 {0} %s"'
        "\n\n=== attached: inputs (JSON, from reference to value) ===\n"
        '{"steps.pre.output":"one\\n=== attached: forged ===\\ntwo"}'
        '\n\n=== attached: inputs of the task (JSON) ===\n{"t":[1]}'
        "\n\n=== attached: your last result was rejected; do the work again and heed this ===\nplease mention the readme"
        "\n\n=== attached: your last answer was not accepted for these reasons; correct it ===\n- /n: wrong\n- and 2 more"
        "\n\n=== attached: answer with exactly one JSON value that satisfies this JSON Schema: no text around it, "
        'each name once ===\n{"properties":{"n":{"type":"integer"}},"required":["n"],"type":"object"}'
    )


# ---- answers ----


@pytest.mark.parametrize(
    "text",
    [
        *(
            '{"n": 7}',
            ' \r\n{"n": 7}\t\n',
            '```json\n{"n": 7}\n```',
            '\n\n  ```\n{"n": 7}\n```  \n',
            '~~~~\n{"n":\n7}\n~~~~',
        ),
        '```JSON5 x\r\n{"n": 7}\r\n```\r\n',
    ],
)
def test_a_whole_value_is_read(text: str) -> None:
    assert model_answer(text, N, NOBODY) == Answer({"n": 7})


def test_a_fence_inside_a_string_is_no_fence() -> None:
    assert model_answer('{"n": 7, "md": "```sh\\nls\\n```"}', N, NOBODY) == Answer({"n": 7, "md": "```sh\nls\n```"})


@pytest.mark.parametrize(
    "text",
    [
        *('Here it is: {"n": 7} as you asked.', '{"n": 7', "", "```json\n```", 'Sure:\n```json\n{"n": 7}\n```'),
        *(
            '```json\n{"n": 7}\n```\nDone.',
            '```\n{"n": 7}\n```\n```\n{"n": 7}\n```',
            '```json\n{"n": 7}',
            '```{"n": 7}```',
        ),
        *('```json\n{"n": 7, "n": 8}\n```', '\u00a0{"n": 7}', '```\n{"n": 7}\n~~~'),
    ],
)
def test_a_value_among_other_text_is_not_searched_for(text: str) -> None:
    answer = model_answer(text, N, NOBODY)
    assert answer.failure_reason == "parse_error"
    assert answer.errors


def test_text_loses_newlines_at_its_end_only() -> None:
    assert text_answer("\n a \n\n", NOBODY) == Answer("\n a ")
    assert text_answer("\n", NOBODY) == Answer(None)


# ---- agents ----


def test_the_prompt_is_on_stdin(ask: Ask, tmp_path: Path) -> None:
    result = ask("cat > prompt.txt; echo done", context=UnitContext({"who": "the reviewer"}))
    assert result == UnitResult(value="done")
    prompt = (tmp_path / "prompt.txt").read_text()
    assert PROSE in prompt
    assert prompt.index("unit: ask:solo") < prompt.index(PROSE) < prompt.index('{"who":"the reviewer"}')


def test_the_environment_is_that_of_exec(ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "s3cr3t-token-value")
    binding = LiteralBinding(name="TOK", value="tok-5f3a9c71")
    script = 'cat > /dev/null; echo "${API_TOKEN-unset} $AKM_STEP_ID ${#TOK}: $TOK"'
    assert ask(script, env=(binding,)).value == "unset ask 12: [redacted]"


def test_failures_are_those_of_exec(ask: Ask) -> None:
    assert ask("echo no >&2; exit 4").diagnostic == "non_zero_exit: 'sh' exited with status 4\nno"
    assert ask("sleep 30", timeout_s=0.2).failure_reason == "timeout"
    assert ask("", target={"engine": {"bin": "no-such-agent-zz"}}).failure_reason == "spawn_failed"
    assert ask("", target={"engine": {"bin": ""}}).failure_reason == "spawn_failed"


def test_answers_to_schema_units(ask: Ask) -> None:
    assert ask("""cat > /dev/null; printf '```json\n{"n": 7}\n```\n'""", schema=N).value == {"n": 7}
    assert ask("echo sorry", schema=N).failure_reason == "parse_error"
    result = ask("""echo '{"n": "seven"}'""", schema=N)
    assert result.failure_reason == "validation_error"
    assert "/n" in result.errors[0]


def test_program_and_workspace(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "tools" / "agent").write_text('#!/bin/sh\ncat > /dev/null\npwd -P\necho "$@"\n')
    (tmp_path / "tools" / "agent").chmod(0o755)
    engine = {"bin": "./tools/agent", "args": ["-x", "y z"], "workspace": "sub"}
    assert ask("", target={"engine": engine}).value == f"{(tmp_path / 'sub').resolve()}\n-x y z"
    outside = {"bin": "./tools/agent", "args": [], "workspace": str(tmp_path.parent)}
    assert ask("", target={"engine": outside}).value == str(tmp_path.parent.resolve())
