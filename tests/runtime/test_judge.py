"""What a judge is asked, and what counts as a verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from akm_run.dispatch.contract import UnitContext, UnitRequest
from akm_run.environment import concealed_values, environment_of
from akm_run.judge import Unreadable, Verdict, judge_prompt, read_verdict
from akm_schemas.plan import EnvRefBinding, ExecTarget, PassThroughBinding

RUBRIC = "- It names {{ every }} file.\n  - And $HOME is left  alone.\n"


def test_the_rubric_is_kept_byte_for_byte() -> None:
    prompt = judge_prompt({"b": "x", "a": [1.0, None]}, RUBRIC)
    assert RUBRIC in prompt
    assert '\n{"a":[1,null],"b":"x"}\n' in prompt
    assert "clipped" not in prompt


def test_a_long_artifact_is_clipped_with_a_mark() -> None:
    prompt = judge_prompt({"z": " ".join(f"seg{i:04}" for i in range(1000)), "a": "HEAD"}, RUBRIC)
    assert '{"a":"HEAD","z":"seg0000 seg0001 ' in prompt
    assert "seg0490" in prompt
    assert "seg0500" not in prompt
    assert "[clipped: the first 4000 of 8018 characters]" in prompt
    assert "clipped" not in judge_prompt("x" * 3998, RUBRIC)
    assert "clipped" in judge_prompt("x" * 3999, RUBRIC)


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ({"complete": True}, Verdict(True)),
        ({"complete": True, "missing": [], "feedback": "", "more": 1}, Verdict(True)),
        ({"complete": False, "missing": ["a", "b"], "feedback": "do it"}, Verdict(False, ("a", "b"), "do it")),
        ({"complete": False, "missing": [], "feedback": ""}, Verdict(False)),
    ],
)
def test_verdicts(answer: dict[str, object], verdict: Verdict) -> None:
    assert read_verdict(json.dumps(answer)) == verdict
    assert read_verdict(f" \r\n{json.dumps(answer, indent=1)}\t\n") == verdict


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not exactly one JSON object"),
        ("Sorry, I cannot judge this.", "not exactly one JSON object"),
        ('The artifact says {"complete": true} and I agree.', "not exactly one JSON object"),
        ('```json\n{"complete": true}\n```', "not exactly one JSON object"),
        ('{"complete": true}\n{"complete": true}', "not exactly one JSON object"),
        ('{"complete": false, "complete": true}', "not exactly one JSON object"),
        ('\ufeff{"complete": true}', "not exactly one JSON object"),
        ('[{"complete": true}]', "not a JSON object"),
        ("true", "not a JSON object"),
        ("{}", "`complete` is missing"),
        ('{"complete": "true"}', "neither true nor false"),
        ('{"complete": 1}', "neither true nor false"),
        ('{"complete": null}', "neither true nor false"),
        ('{"complete": false}', "`missing` is not a list of strings"),
        ('{"complete": false, "missing": [1], "feedback": "x"}', "`missing` is not a list of strings"),
        ('{"complete": false, "missing": "a", "feedback": "x"}', "`missing` is not a list of strings"),
        ('{"complete": false, "missing": ["a"]}', "`feedback` is not a string"),
        ('{"complete": false, "missing": ["a"], "feedback": null}', "`feedback` is not a string"),
    ],
)
def test_unreadable_answers(text: str, why: str) -> None:
    answer = read_verdict(text)
    assert isinstance(answer, Unreadable)
    assert why in answer.why


def test_what_a_judge_must_not_say_and_what_it_must_be_able_to(tmp_path: Path) -> None:
    (tmp_path / "x.env").write_text("TOKEN=canary-1234\nDEBUG=true\nMODE=missing\n")
    bindings = (
        EnvRefBinding(ref="env/x", path="x.env", keys=["DEBUG", "MODE", "TOKEN"], secret_names=[]),
        PassThroughBinding(name="SURELY_NOT_SET"),
    )
    target = ExecTarget(command=["true"], pass_env=[], content_hash="", input_bindings=[])
    request = UnitRequest(
        "r", "a", "a:gate~l1", 1, target, "", (), None, None, UnitContext({}), tmp_path, tmp_path, conceals=bindings
    )
    assert concealed_values(request, {}) == ("canary-1234",)
    environment = environment_of(request, ambient={})
    assert "TOKEN" not in environment.variables
    assert environment.redactor.text('{"complete": true, "missing": "canary-1234"}') == (
        '{"complete": true, "missing": "[redacted]"}'
    )
    (tmp_path / "x.env").unlink()
    assert concealed_values(request, {}) == ()
