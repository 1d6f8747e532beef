"""Reading params: every type, and no value in any message."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akm_run.commands.params import effective_params
from akm_run.faults import UsageFault
from akm_run.show.secrets_warning import secret_warnings

if TYPE_CHECKING:
    from tests.conftest import Run
    from tests.runtime.conftest import PlanMaker


def read(plans: PlanMaker, schema: dict[str, Any], *tokens: str) -> Any:
    return effective_params(plans.plan(plans.step("a"), params={"x": schema}), tokens, None).get("x")


@pytest.mark.parametrize(
    ("schema", "tokens", "value"),
    [
        ({"type": "string"}, ["--x", "1"], "1"),
        ({"type": "string"}, ["--x=-foo"], "-foo"),
        ({"type": "string"}, ["--x="], ""),
        ({"type": "string"}, ["--x", "-"], "-"),
        ({"type": "string"}, ["--x", "a=b"], "a=b"),
        ({"type": "integer"}, ["--x", "7"], 7),
        ({"type": "integer"}, ["--x", "1.0"], 1),
        ({"type": "integer"}, ["--x", "1e2"], 100),
        ({"type": "integer"}, ["--x", "-5"], -5),
        ({"type": "integer"}, ["--x=-5"], -5),
        ({"type": "number"}, ["--x", "-1.5E-1"], -0.15),
        ({"type": "boolean"}, ["--x"], True),
        ({"type": "boolean"}, ["--x", "false"], False),
        ({"type": "null"}, ["--x", "null"], None),
        ({"type": "array"}, ["--x", "a"], ["a"]),
        ({"type": "array"}, ["--x", "a", "--x", "b c"], ["a", "b c"]),
        ({"type": "array"}, ["--x", '[1,"two",null]'], [1, "two", None]),
        ({"type": "array", "items": {"type": "integer"}}, ["--x", "1", "--x", "2"], [1, 2]),
        ({"type": "array", "items": {"type": "integer"}}, ["--x", "3"], [3]),
        ({"type": "array", "items": {"type": "object"}}, ["--x", '{"a":1}', "--x", "{}"], [{"a": 1}, {}]),
        ({"type": "object"}, ["--x", '{"b":1}'], {"b": 1}),
        ({"type": ["integer", "string"]}, ["--x", "5"], 5),
        ({"type": ["string", "integer"]}, ["--x", "5"], "5"),
        ({"type": ["integer", "string"], "minimum": 9}, ["--x", "5"], "5"),
        ({"type": ["array", "string"]}, ["--x", "a"], "a"),
        ({"type": ["array", "string"]}, ["--x", "a", "--x", "b"], ["a", "b"]),
        ({"type": ["boolean", "string"]}, ["--x"], True),
        ({"enum": [1, 2]}, ["--x", "2"], 2),
        ({}, ["--x", "2"], "2"),
        ({}, ["--x", "true"], "true"),
        ({}, ["--x", '{"b":1}'], {"b": 1}),
        ({}, ["--x", '[1,"a"]'], [1, "a"]),
        ({}, ["--x", "[not json"], "[not json"),
        ({"description": "d"}, ["--x", '{"b":1}'], {"b": 1}),
        ({"properties": {"b": {"type": "integer"}}}, ["--x", '{"b":1}'], {"b": 1}),
        ({"required": ["b"]}, ["--x", '{"b":1}'], {"b": 1}),
        ({"required": ["b"]}, ["--x", "text"], "text"),
        ({"items": {"type": "integer"}}, ["--x", "[1]"], [1]),
        ({"minimum": 2}, ["--x", "3"], 3),
        ({"maxLength": 20}, ["--x", '{"b":1}'], '{"b":1}'),
        ({"enum": [{"a": 1}]}, ["--x", '{"a":1}'], {"a": 1}),
        ({"type": "integer", "default": 3}, [], 3),
        ({"type": "integer", "default": 3}, ["--x", "4"], 4),
        ({"type": "integer"}, [], None),
    ],
)
def test_flags_are_read_by_their_declared_type(
    plans: PlanMaker, schema: dict[str, Any], tokens: list[str], value: Any
) -> None:
    found = read(plans, schema, *tokens)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("schema", "tokens"),
    [
        ({"type": "integer"}, ["--x", "hunter2"]),
        ({"type": "integer"}, ["--x", " 5hunter2 "]),
        ({"type": "integer"}, ["--x", "1_0"]),
        ({"type": "integer"}, ["--x", "\uff15"]),
        ({"type": "integer"}, ["--x", "007"]),
        ({"type": "integer"}, ["--x", "1.5"]),
        ({"type": "integer"}, ["--x", "true"]),
        ({"type": "integer"}, ["--x", "9" * 30]),
        ({"type": "integer", "maximum": 10}, ["--x", "99173"]),
        ({"type": "number"}, ["--x", "1e999"]),
        ({"type": "number"}, ["--x", "NaN"]),
        ({"type": "number"}, ["--x", "1", "--x", "2"]),
        ({"type": "boolean"}, ["--x", "hunter2"]),
        ({"type": "string", "enum": ["fast"]}, ["--x", "hunter2"]),
        ({"type": "string"}, ["--x", "-hunter2"]),
        ({"type": "string"}, ["--x"]),
        ({"type": "string"}, ["--x", "hunter2", "--x", "hunter2"]),
        ({"type": "string"}, ["--x", "a", "hunter2"]),
        ({"type": "string"}, ["hunter2"]),
        ({"type": "string"}, ["--x", "hunter2\udcff"]),
        ({"type": "array"}, ["--x", "[hunter2"]),
        ({"type": "array", "items": {"type": "integer"}}, ["--x", "1", "--x", "hunter2"]),
        ({"type": "object"}, ["--x", '{"hunter2":1,"hunter2":2}']),
        ({"type": "object", "additionalProperties": False}, ["--x", '{"hunter2":1}']),
        ({"type": "object"}, ["--x", "[1]"]),
        ({"type": "string"}, ["--y", "hunter2"]),
        ({"type": "string"}, ["--X", "hunter2"]),
        ({"type": "string"}, ["--", "hunter2"]),
    ],
)
def test_refusals_are_usage_faults_and_echo_nothing(
    plans: PlanMaker, schema: dict[str, Any], tokens: list[str]
) -> None:
    with pytest.raises(UsageFault) as refused:
        read(plans, schema, *tokens)
    told = f"{refused.value} {refused.value.help}"
    values = [
        word for token in tokens for word in (token, token.partition("=")[2]) if word and not token.startswith("--")
    ]
    assert not [value for value in (*values, "hunter2", "99173") if len(value) > 3 and value in told], told


@given(st.integers(-(2**53), 2**53))
def test_every_safe_integer_is_read_back(plans: PlanMaker, number: int) -> None:
    assert read(plans, {"type": "integer"}, f"--x={number}") == number
    assert read(plans, {"type": "integer"}, "--x", str(number)) == number


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3),
    )
)
def test_arrays_as_json_are_read_back(plans: PlanMaker, value: Any) -> None:
    assert read(plans, {"type": "array"}, "--x=" + json.dumps([value])) == [value]


@pytest.mark.parametrize(
    ("schema", "tokens", "says"),
    [
        ({"type": "integer"}, ["--x", "9007199254740993"], "--x: the number is beyond +-2^53"),
        ({"type": "number"}, ["--x", "9" * 40], "--x: the number is beyond +-2^53"),
        ({"type": "object"}, ["--x", '{"a":1,"a":2}'], "--x: not strict JSON: a name is given twice in one object"),
        ({"type": "object"}, ["--x", '{"a":NaN}'], "--x: not strict JSON: NaN is no JSON number"),
        ({"type": "array"}, ["--x", "[1"], "--x: not strict JSON: not JSON:"),
        ({"type": "string"}, ["--x", "-v"], "write --x=VALUE where it begins with -"),
        ({"type": "string"}, ["--x", "-v", "--y", "1"], "write --x=VALUE where it begins with -"),
    ],
)
def test_refusals_say_the_reason(plans: PlanMaker, schema: dict[str, Any], tokens: list[str], says: str) -> None:
    with pytest.raises(UsageFault) as refused:
        read(plans, schema, *tokens)
    assert says in f"{refused.value}\n{refused.value.help}"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b'{"x": {"k": 1, "k": 2}}', '(in param "x"): a name is given twice in one object'),
        (b'{"x": 1, "x": 2}', 'the name "x" is given twice'),
        (b'{"x": [NaN]}', '(in param "x"): NaN is no JSON number'),
        (b'{"x": "\\ud800"}', '(in param "x"): the text holds a lone surrogate'),
        (b'{"x": 9007199254740993}', '(in param "x"): an integer beyond +-2^53'),
        (b'{"x": }', "at byte 6: not JSON"),
        (b"\xff", "at byte 0: not UTF-8"),
        (b'{"hunter2": 1, "hunter2": 2}', ": a name is given twice in one object"),
    ],
)
def test_a_params_file_is_refused_with_reason_and_place(plans: PlanMaker, text: bytes, says: str) -> None:
    plan = plans.plan(plans.step("a"), params={"x": {}})
    with pytest.raises(UsageFault) as refused:
        effective_params(plan, [], text)
    assert says in str(refused.value)
    assert "hunter2" not in str(refused.value)


def test_a_misspelt_flag_names_the_nearest(plans: PlanMaker) -> None:
    plan = plans.plan(plans.step("a"), params={"mode": {"type": "string"}, "n": {"type": "integer"}})
    for token, wanted in (
        ("--mod", 'did you mean "--mode"?'),
        ("--Mode", 'did you mean "--mode"?'),
        ("--zzz", "mode, n"),
    ):
        with pytest.raises(UsageFault) as refused:
            effective_params(plan, [token, "fast"], None)
        assert token in str(refused.value) and wanted in (refused.value.help or "")


def test_flags_win_over_the_file_over_defaults(plans: PlanMaker) -> None:
    schemas = {name: {"type": "integer", "default": 1} for name in "abc"}
    plan = plans.plan(plans.step("s"), params=schemas)
    assert effective_params(plan, ["--a", "3"], b'{"a": 2, "b": 2}') == {"a": 3, "b": 2, "c": 1}


@pytest.mark.parametrize(
    "text",
    [b"", b"[1]", b'{"a": 1, "a": 1}', b'{"a": "hunter2"}', b'{"zz": 1}', b'{"a": NaN}', b'\xef\xbb\xbf{"a": 1}'],
)
def test_a_params_file_is_one_strict_object(plans: PlanMaker, text: bytes) -> None:
    plan = plans.plan(plans.step("s"), params={"a": {"type": "integer"}})
    with pytest.raises(UsageFault, match="--params-file") as refused:
        effective_params(plan, [], text)
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("where", ["over", "input", "route", "binding"])
def test_a_param_that_a_reference_needs_is_asked_for(plans: PlanMaker, where: str) -> None:
    binding = {"kind": "reference", "name": "t", "from": plans.reference("params.x"), "schema": {}}
    steps = {
        "over": [plans.step("m", over="params.x")],
        "input": [plans.step("m", inputs=["params.x"])],
        "route": [plans.route("r", "params.x", [("a", "m")]), plans.step("m")],
        "binding": [plans.step("m", plans.unit(bindings=[binding]))],
    }[where]
    plan = plans.plan(*steps, params={"x": {}})
    with pytest.raises(UsageFault, match=r'param "x" is missing: params\.x'):
        effective_params(plan, [], None)
    assert effective_params(plan, ["--x", "v"], None) == {"x": "v"}


def test_a_param_that_an_option_hides_is_asked_for_in_the_file(
    run_program: Run, tmp_path: Path, plans: PlanMaker
) -> None:
    data = plans.data(plans.step("m", inputs=["params.timeout"]), params={"timeout": {"type": "integer"}})
    (tmp_path / "plan.json").write_bytes(data)
    stderr = run_program("akm-run", "plan.json", expect=2).stderr
    assert 'give it in --params-file (integer): "--timeout" is an option of akm-run' in stderr
    (tmp_path / "params.json").write_text('{"timeout": 3}')
    run_program("akm-run", "plan.json", "--params-file", "params.json")


@pytest.mark.parametrize(
    ("params", "path"),
    [
        ({"api_token": "x"}, "params.api_token"),
        ({"o": {"deep": [{"API-Key": 1}]}}, "params.o.deep[0].API-Key"),
        ({"note": "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB"}, "params.note"),
        ({"note": "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaa"}, None),
        ({"max_tokens": 4000}, "params.max_tokens"),
        ({"note": "sk-short"}, None),
        ({"note": "an ordinary sentence with many different words"}, None),
    ],
)
def test_secret_looking_params_are_warned_about_by_path(params: dict[str, Any], path: str | None) -> None:
    warnings = secret_warnings(params)
    assert [warning.partition(" ")[0] for warning in warnings] == ([] if path is None else [path])
    assert "0123456789" not in " ".join(warnings)
