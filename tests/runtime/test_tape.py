"""Recording what engines answer, and answering from the recording."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from akm_run.parts import Part
from akm_run.tape import Asked, RecordedAnswer, RecordedPart, Recording, nearest_recording

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def document(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


def engine(script: str, part: dict[str, Any], env: list[Any] | None, instructions: str | None) -> None:
    """Make a command target run ``script``."""
    from akm_schemas.hashing import target_hash

    part["engine"] |= {"bin": "sh", "args": ["-c", script]}
    del part["contentHash"]
    part["contentHash"] = target_hash(part, env=env, instructions=instructions)


@pytest.fixture
def asking(tmp_path: Path, plans: PlanMaker) -> Callable[..., None]:
    """Writes a plan: an exec unit, a map over an agent that fails once for an item, a judged child."""

    def write(prompt: str = "Do it.") -> None:
        count = "cat > /dev/null; echo x >> asked.txt; "
        unit = plans.ask(retry={"max": 1, "on": ["non_zero_exit"]}, instructions=prompt)
        script = count + 'if [ "$AKM_ITEM" = 2 ] && [ ! -e once ]; then : > once; exit 3; fi; echo "<$AKM_ITEM>"'
        engine(script, unit["target"], [], prompt)
        judged = plans.step("j", plans.unit("echo", "work"), rubric="- ok")
        engine(count + 'echo "{\\"complete\\": true}"', judged["gate"]["judge"], None, None)
        data = plans.data(
            plans.step("e", plans.unit("sh", "-c", "echo e >> exec.txt")),
            plans.step("m", unit, over="params.l"),
            plans.step("kid", plans.child(plans.data(judged))),
            plans.step("again", plans.child(plans.data(judged))),
            params={"l": {"type": "array", "default": [1, 2]}},
            outputs={"m": "steps.m.output"},
        )
        (tmp_path / "plan.json").write_bytes(data)

    return write


def test_a_recorded_run_is_replayed_for_nothing(run_program: Run, tmp_path: Path, asking: Callable[..., None]) -> None:
    asking()
    first = document(run_program("akm-run", "plan.json", "--record", "tape.jsonl", "--json"))
    assert (first["status"], first["outputs"]) == ("completed", {"m": ["<1>", "<2>"]})
    asked = (tmp_path / "asked.txt").read_text()
    assert len(asked.split()) == 5 == len((tmp_path / "tape.jsonl").read_text().splitlines())
    second = document(run_program("akm-run", "plan.json", "--replay", "tape.jsonl", "--json"))
    for key in ("status", "outputs", "unitsDispatched"):
        assert second[key] == first[key]
    assert (tmp_path / "asked.txt").read_text() == asked
    assert (tmp_path / "exec.txt").read_text() == "e\ne\n"


def test_a_miss_is_loud_and_names_the_nearest(run_program: Run, tmp_path: Path, asking: Callable[..., None]) -> None:
    asking()
    run_program("akm-run", "plan.json", "--record", "tape.jsonl")
    asking("Do it well.")
    missed = run_program("akm-run", "plan.json", "--replay", "tape.jsonl", "--json", expect=1)
    assert "has no answer for m:" in missed.stderr
    assert "of the same unit, and its target differs" in missed.stderr
    assert document(missed)["status"] == "active"
    other = run_program("akm-run", "plan.json", "--l", "[7]", "--replay", "tape.jsonl", expect=1)
    assert "the nearest recording is of m:" in other.stderr
    (tmp_path / "empty.jsonl").touch()
    empty = run_program("akm-run", "plan.json", "--replay", "empty.jsonl", expect=1)
    assert "no recording at all" in empty.stderr
    going_on = document(run_program("akm-run", document(missed)["runId"], "--json"))
    assert going_on["status"] == "completed"


def test_what_record_and_replay_refuse(run_program: Run, tmp_path: Path, asking: Callable[..., None]) -> None:
    asking()
    (tmp_path / "bad.jsonl").write_text('{"unit": 1}\n')
    for words, says in (
        (["--record", "a", "--replay", "b"], "exclude each other"),
        (
            ["--replay", "none"],
            'cannot read --replay "none": No such file or directory\n  help: name a file that --record',
        ),
        (["--record", "none/a"], 'cannot write --record "none/a": No such file or directory\n  help: name a file in'),
        (["--replay", "bad.jsonl"], "line 1 is no recording"),
    ):
        assert says in run_program("akm-run", "plan.json", *words, expect=2).stderr
    assert not (tmp_path / ".akm").exists()


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize(
    ("member", "says"),
    [
        ('"tokens": 99999999999999999999999', "answer.tokens: an integer beyond"),
        ('"tokens": 9007199254740992.5', "answer.tokens"),
        ('"tokens": -6', "answer.tokens"),
        ('"tokens": true', "answer.tokens"),
        ('"tokens": "5"', "answer.tokens"),
        ('"value": 9007199254740993', "answer.value: an integer beyond"),
        ('"value": {"a": [9007199254740993]}', "answer.value.a[0]: an integer beyond"),
        ('"value": 1e400', "answer.value: the number is beyond"),
        ('"value": NaN', "answer.value: NaN is no JSON number"),
        ('"value": {"a": 1, "a": 2}', 'the name "a" is given twice'),
        ('"value": "\\ud800"', "lone surrogate"),
        (f'"value": {nested(513)}', "nested deeper"),
        (f'"value": {nested(5000)}', "nested deeper"),
        (f'"value": {nested(200_000)}', "nested deeper"),
        ('"failureReason": 5', "answer.failureReason"),
        ('"diagnostic": []', "answer.diagnostic"),
        ('"notices": [5]', "answer.notices"),
        ('"errors": "text"', "answer.errors"),
        ('"retryAfterS": -1', "answer.retryAfterS"),
        ('"retryAfterS": 1e300', "answer.retryAfterS"),
        ('"retryAfterS": "1"', "answer.retryAfterS"),
    ],
)
def test_an_answer_that_nobody_recorded_is_refused_before_anything_is_published(
    run_program: Run, tmp_path: Path, asking: Callable[..., None], member: str, says: str
) -> None:
    asking()
    good = '{"unit": "m:0", "inputHash": "x", "parts": [], "answer": {}}\n'
    (tmp_path / "bad.jsonl").write_text(good + good.replace("{}", f"{{{member}}}"))
    said = run_program("akm-run", "plan.json", "--replay", "bad.jsonl", expect=2).stderr
    assert '--replay "bad.jsonl": line 2 is no recording: ' in said
    assert says in said
    assert "help: name a file that --record has written" in said
    assert not (tmp_path / ".akm").exists()


@pytest.mark.parametrize("value", ["9007199254740992", "1e20", "-0.0", nested(512), '"\\ud83d\\ude00"', "null"])
def test_values_as_large_as_they_may_be_are_replayed(
    run_program: Run, tmp_path: Path, plans: PlanMaker, value: str
) -> None:
    unit = plans.ask(output={"description": "anything"})
    engine(f"cat > /dev/null; echo '{value}'", unit["target"], [], unit["instructions"])
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a", unit)))
    first = document(run_program("akm-run", "plan.json", "--record", "tape.jsonl", "--json"))
    second = document(run_program("akm-run", "plan.json", "--replay", "tape.jsonl", "--json"))
    assert second["steps"][0].get("output") == first["steps"][0].get("output") == json.loads(value)


def test_the_nearest_recording_is_of_the_same_attempt_then_unit_then_step() -> None:
    def line(unit: str, *digests: str) -> Recording:
        parts = [RecordedPart(f"p{index}", digest) for index, digest in enumerate(digests)]
        return Recording(unit=unit, input_hash="h", parts=parts, answer=RecordedAnswer())

    asked = Asked("a:solo~r1", "x", [Part("p0", "1"), Part("p1", "2")])
    lines = [line("b:solo", "1", "2"), line("a:0", "1", "2"), line("a:solo", "0", "0"), line("a:solo~r1", "9", "9")]
    while lines:
        assert nearest_recording(asked, lines) is lines[-1]
        lines.pop()
    assert nearest_recording(asked, []) is None
    pair = [line("a:0", "1", "9"), line("a:1", "1", "2")]
    assert nearest_recording(asked, pair) is pair[1]
