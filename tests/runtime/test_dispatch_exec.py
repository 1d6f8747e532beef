"""exec units end to end: environment, directory, artifact, failures, redaction."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from akm_run.cancel import Cancellation
from akm_run.dispatch import dispatcher_for, local
from akm_run.dispatch.contract import UnitContext, UnitRequest, UnitResult
from akm_run.dispatch.outcome import UnitFault
from akm_run.environment import context_variables, environment_of
from akm_schemas.bounds import CONTEXT_TOTAL_BYTES, CONTEXT_VARIABLE_BYTES, STDOUT_BYTES
from akm_schemas.plan import Binding, EnvRefBinding, ExecTarget, LiteralBinding, PassThroughBinding

Perform = Callable[..., UnitResult]


def exec_request(
    base: Path, *argv: str, cwd: str | None = None, pass_env: list[str] | None = None, **more: Any
) -> UnitRequest:
    where = {} if cwd is None else {"cwd": cwd}
    target = ExecTarget(command=list(argv), pass_env=pass_env or [], content_hash="", input_bindings=[], **where)
    fixed: dict[str, Any] = {"env": (), "schema": None, "timeout_s": 30.0, "context": UnitContext({})} | more
    return UnitRequest("r1", "a", "a:solo", 1, target, "Do it.", workspace=base, bundle=base, **fixed)


@pytest.fixture
def perform(tmp_path: Path) -> Iterator[Perform]:
    cancel = Cancellation()

    def run(*argv: str, cancelled: bool = False, **more: Any) -> UnitResult:
        request = exec_request(tmp_path, *argv, **more)
        dispatcher = dispatcher_for(request.target)
        assert dispatcher is not None
        if cancelled:
            cancel.set()
        return dispatcher(request, cancel)

    yield run
    cancel.close()


def env_file(tmp_path: Path, text: str, *keys: str) -> tuple[Binding, ...]:
    (tmp_path / "env").mkdir(exist_ok=True)
    (tmp_path / "env" / "x.env").write_text(text)
    return (EnvRefBinding(ref="env/x", path="env/x.env", keys=list(keys), secret_names=[]),)


# ---- the artifact ----


@pytest.mark.parametrize(
    ("printed", "value"),
    [(r"one\n\n two \n\n\n", "one\n\n two "), (r"a\r\nb\r\n", "a\r\nb\r"), (r"\n\n", None), ("", None), (" ", " ")],
)
def test_only_final_newlines_go(perform: Perform, printed: str, value: str | None) -> None:
    assert perform("printf", printed) == UnitResult(value=value)


def test_argv_is_literal(perform: Perform, tmp_path: Path) -> None:
    word = "; touch made | cat $(id) * > out && echo `id` ${HOME}"
    assert perform("printf", "%s", word).value == word
    assert list(tmp_path.iterdir()) == []


def test_invalid_utf8_is_replaced_with_a_notice(perform: Perform) -> None:
    result = perform("printf", r"ok \377 \357\277\275 end")
    assert result.value == "ok \ufffd \ufffd end"
    assert result.notices == ("stdout is not valid UTF-8: U+FFFD stands in 1 place",)
    assert perform("printf", r"\357\277\275").notices == ()


def test_overflow_is_cut_at_a_character(perform: Perform) -> None:
    result = perform("python3", "-c", f"import sys; sys.stdout.write('x' + 'é' * {STDOUT_BYTES.high // 2})")
    assert isinstance(result.value, str)
    kept, mark, rest = result.value.partition("[__akm_exec_output_truncated__]")
    assert kept == "x" + "é" * (STDOUT_BYTES.high // 2 - 1) + "\n"
    assert mark
    assert str(STDOUT_BYTES.high + 1) in rest
    assert str(STDOUT_BYTES.high - 1) in rest
    assert result.notices == ()


# ---- units with a schema ----

COUNT = {"type": "object", "required": ["count"], "properties": {"count": {"type": "integer", "minimum": 1}}}


def test_a_json_value(perform: Perform) -> None:
    assert perform("printf", r'\n {"count": 2} \n\n', schema=COUNT).value == {"count": 2}


@pytest.mark.parametrize(
    "printed",
    [
        *('{"count": 1} done', "{'count': 1}", '{"count": 1, "count": 1}', '{"count": NaN}', "", '{"count": 1'),
        *(r"```json\n{}\n```", r"\357\273\277{}", r'"\377"', r'"\\ud800"', "9007199254740993", "[" * 600 + "]" * 600),
    ],
)
def test_what_is_not_one_json_value(perform: Perform, printed: str) -> None:
    result = perform("printf", printed, schema={})
    assert result.failure_reason == "parse_error"
    assert result.value is None
    assert result.diagnostic is not None
    assert result.diagnostic.startswith("parse_error: stdout is not ")


def test_a_schema_miss_names_the_place(perform: Perform) -> None:
    result = perform("sh", "-c", """echo '{"count": 0}'; echo note >&2""", schema=COUNT)
    assert result.failure_reason == "validation_error"
    assert len(result.errors) == 1
    assert "/count" in result.errors[0]
    assert result.diagnostic is not None
    assert "/count" in result.diagnostic
    assert result.diagnostic.endswith("\nnote")


def test_at_most_fifty_misses(perform: Perform) -> None:
    result = perform("printf", json.dumps(["x"] * 80), schema={"type": "array", "items": {"type": "integer"}})
    assert len(result.errors) == 51
    assert result.errors[-1] == "and 30 more"
    assert result.diagnostic is not None
    assert len(result.diagnostic) <= 2000


def test_overflow_with_a_schema(perform: Perform) -> None:
    result = perform("python3", "-c", f"print('\"' + 'y' * {STDOUT_BYTES.high} + '\"')", schema={})
    assert result.failure_reason == "exec_output_limit"
    assert result.diagnostic is not None
    assert str(STDOUT_BYTES.high + 3) in result.diagnostic


# ---- failures ----


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("echo boom >&2; exit 3", "non_zero_exit: 'sh' exited with status 3\nboom"),
        ("echo half; kill -9 $$", "non_zero_exit: 'sh' was killed by SIGKILL (signal 9)"),
    ],
)
def test_bad_ends(perform: Perform, text: str, says: str) -> None:
    assert perform("sh", "-c", text) == UnitResult(failure_reason="non_zero_exit", diagnostic=says)


def test_diagnostic_keeps_the_tail(perform: Perform) -> None:
    text = "import sys; sys.stderr.write('START' + 'x' * 5000 + 'END\\n'); sys.exit(4)"
    diagnostic = perform("python3", "-c", text).diagnostic
    assert diagnostic == f"non_zero_exit: 'python3' exited with status 4\n{'x' * 1497}END"


def test_diagnostic_is_bounded(perform: Perform) -> None:
    result = perform("sh", "-c", "head -c 4000 /dev/zero | tr '\\0' e >&2; exit 1", "z" * 3000)
    assert result.diagnostic is not None
    assert len(result.diagnostic) < 2000
    result = perform("z" * 3000)
    assert result.diagnostic is not None
    assert len(result.diagnostic) == 2000
    assert result.diagnostic.endswith("…")


def test_timeout_and_cancel(perform: Perform) -> None:
    result = perform("sh", "-c", "echo on it >&2; sleep 20", timeout_s=0.2)
    assert result == UnitResult(failure_reason="timeout", diagnostic="timeout: 'sh' ran longer than 0.2 s\non it")
    result = perform("touch", "ran", cancelled=True)
    assert result.failure_reason == "aborted"


def test_held_pipes(perform: Perform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("akm_run.dispatch.process.DRAIN_GRACE_S", 0.3)
    result = perform("sh", "-c", "echo part; sleep 20 & exit 0")
    assert (result.value, result.failure_reason) == (None, "exec_capture_incomplete")
    assert perform("sh", "-c", "echo part; sleep 20 & exit 5").failure_reason == "non_zero_exit"
    result = perform("sh", "-c", "echo ok; sleep 20 > /dev/null & exit 0")
    assert (result.value, result.failure_reason) == ("ok", None)
    assert len(result.notices) == 1
    assert "stderr" in result.notices[0]


def test_spawn_failures(perform: Perform) -> None:
    result = perform("no-such-program-zz")
    assert result.failure_reason == "spawn_failed"
    assert result.diagnostic is not None
    assert "no-such-program-zz" in result.diagnostic


# ---- the working directory ----


def test_directories(perform: Perform, tmp_path: Path) -> None:
    (tmp_path / "sub" / "dir").mkdir(parents=True)
    (tmp_path / "alias").symlink_to("sub/dir")
    (tmp_path / "file").touch()
    (tmp_path / "out").symlink_to("/tmp")
    (tmp_path / "dangling").symlink_to("/no/such/place")
    (tmp_path / "loop").symlink_to("loop")
    inner = str((tmp_path / "sub" / "dir").resolve())
    assert perform("pwd", "-P", cwd="sub/dir").value == inner
    assert perform("pwd", "-P", cwd="alias").value == inner
    assert perform("pwd", "-P", cwd=".").value == str(tmp_path.resolve())
    for cwd, reason in (
        ("out", "exec_cwd_escape"),
        ("..", "exec_cwd_escape"),
        ("/", "exec_cwd_escape"),
        ("no/such/place", "spawn_failed"),
        ("dangling", "spawn_failed"),
        ("loop", "spawn_failed"),
        ("file", "spawn_failed"),
    ):
        result = perform("touch", "ran", cwd=cwd)
        assert (cwd, result.failure_reason) == (cwd, reason)
        assert result.diagnostic is not None
        assert cwd in result.diagnostic


def test_a_sibling_with_the_same_beginning_is_outside(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base-2").mkdir()
    with pytest.raises(UnitFault) as raised:
        local.resolve_cwd(tmp_path / "base", "../base-2")
    assert raised.value.reason == "exec_cwd_escape"


# ---- the environment ----


def variables(
    request: UnitRequest, ambient: dict[str, str] | None = None, pass_env: tuple[str, ...] = ()
) -> dict[str, str]:
    return dict(environment_of(request, pass_env, ambient or {}).variables)


CONTEXT = {"AKM_RUN_ID": "r1", "AKM_STEP_ID": "a", "AKM_UNIT_ID": "a:solo", "AKM_PARAMS": "{}"}


def test_it_starts_empty(tmp_path: Path) -> None:
    ambient = {"PATH": "/bin", "TZ": "UTC", "API_TOKEN": "x", "PWD": "/", "AKM_ITEM": "0", "AKM_EVENT_SOURCE": "e"}
    ambient |= {"AKM_CONFIG_DIR": "/c", "AKM_RUN_ID": "ambient", "FOO": "1"}
    taken = {"PATH": "/bin", "TZ": "UTC", "AKM_EVENT_SOURCE": "e"}
    assert variables(exec_request(tmp_path, "true"), ambient) == taken | CONTEXT
    assert variables(exec_request(tmp_path, "true"), ambient, ("FOO", "BAR", "AKM_ITEM")) == taken | CONTEXT | {
        "FOO": "1"
    }


def test_the_process_gets_just_that(perform: Perform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "s3cr3t")
    monkeypatch.setenv("FOO", "öne two")
    result = perform("env", pass_env=["FOO"])
    assert isinstance(result.value, str)
    names = {line.split("=")[0] for line in result.value.split("\n")}
    assert {"FOO", *CONTEXT} <= names
    assert "API_TOKEN" not in names
    assert "FOO=öne two" in result.value


def test_context_variables(tmp_path: Path) -> None:
    context = UnitContext(
        {"b": 3, "a": "ä"}, item=None, item_index=0, inputs={"steps.x.output": None}, task_inputs={"t": 1}
    )
    assert context_variables(exec_request(tmp_path, "true", context=context)) == CONTEXT | {
        "AKM_PARAMS": '{"a":"ä","b":3}',
        "AKM_ITEM": "null",
        "AKM_ITEM_INDEX": "0",
        "AKM_INPUTS": '{"steps.x.output":null}',
        "AKM_TASK_INPUTS": '{"t":1}',
    }


def test_layers(tmp_path: Path) -> None:
    text = "LANG=file\nA=file\nB=file\nAKM_STEP_ID=imposter\nAKM_ITEM=imposter\nAKM_OTHER=kept\n"
    file = env_file(tmp_path, text, "LANG", "A", "B", "AKM_STEP_ID", "AKM_ITEM", "AKM_OTHER")
    literal, passed = LiteralBinding(name="B", value="literal"), PassThroughBinding(name="C")
    request = exec_request(tmp_path, "true", env=(*file, literal, passed, PassThroughBinding(name="UNSET")))
    found = variables(request, {"LANG": "outer", "A": "outer", "C": "outer"}, ("A",))
    assert found == CONTEXT | {"LANG": "file", "A": "file", "B": "literal", "C": "outer", "AKM_OTHER": "kept"}


def test_limits_of_the_context(perform: Perform, tmp_path: Path) -> None:
    def of_size(size: int, **more: Any) -> UnitContext:
        return UnitContext({}, inputs={"i": "é" * ((size - len('{"i":""}')) // 2)}, **more)

    fits = exec_request(tmp_path, "true", context=of_size(CONTEXT_VARIABLE_BYTES.high))
    assert len(variables(fits)["AKM_INPUTS"].encode()) == CONTEXT_VARIABLE_BYTES.high
    assert perform("sh", "-c", 'test -n "$AKM_INPUTS"', context=of_size(CONTEXT_VARIABLE_BYTES.high)).completed
    result = perform("touch", "ran", context=of_size(CONTEXT_VARIABLE_BYTES.high + 2))
    assert result.failure_reason == "exec_context_too_large"
    assert result.diagnostic is not None
    for word in ("AKM_INPUTS", str(CONTEXT_VARIABLE_BYTES.high + 2), str(CONTEXT_VARIABLE_BYTES.high), "POSIX"):
        assert word in result.diagnostic
    together = of_size(CONTEXT_VARIABLE_BYTES.high, task_inputs={"t": "x" * 40_000})
    result = perform("touch", "ran", context=together)
    assert result.failure_reason == "exec_context_too_large"
    assert result.diagnostic is not None
    assert str(CONTEXT_TOTAL_BYTES.high) in result.diagnostic
    assert not (tmp_path / "ran").exists()


def test_other_systems_have_other_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = exec_request(tmp_path, "true", context=UnitContext({"p": "x" * 40_000}))
    assert "AKM_PARAMS" in variables(request)
    monkeypatch.setattr("akm_run.environment.sys.platform", "win32")
    with pytest.raises(UnitFault, match="32767 for one context variable"):
        variables(request)


def test_a_missing_env_file_fails_the_unit(perform: Perform) -> None:
    binding = EnvRefBinding(ref="env/x", path="env/x.env", keys=["A"], secret_names=[])
    result = perform("touch", "ran", env=(binding,))
    assert result.failure_reason == "spawn_failed"
    assert result.diagnostic is not None
    assert "env/x.env is missing" in result.diagnostic


# ---- redaction ----


def test_bound_values_are_scrubbed(perform: Perform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env = env_file(tmp_path, "TOK=tok-5f3a9c71\nPIN=123\n", "TOK", "PIN")
    result = perform("sh", "-c", 'echo "the token is $TOK, pin $PIN"', env=env)
    assert result.value == "the token is [redacted], pin 123"
    assert result.notices == ("not redacted, having fewer than 4 characters or only blanks: the value of PIN",)
    result = perform("sh", "-c", 'echo "no login with $TOK" >&2; exit 1', env=env)
    assert result.diagnostic == "non_zero_exit: 'sh' exited with status 1\nno login with [redacted]"
    monkeypatch.setenv("PASSED", "passed-value")
    assert perform("printenv", "PASSED", pass_env=["PASSED"]).value == "passed-value"
    assert perform("printenv", "PASSED", env=(PassThroughBinding(name="PASSED"),)).value == "[redacted]"


def test_scrubbed_before_the_cut(perform: Perform, tmp_path: Path) -> None:
    env = env_file(tmp_path, "TOK=tok-5f3a9c71\n", "TOK")
    text = "printf %s \"$TOK\" >&2; head -c 1495 /dev/zero | tr '\\0' e >&2; exit 1"
    diagnostic = perform("sh", "-c", text, env=env).diagnostic
    assert diagnostic is not None
    assert diagnostic.endswith("\n" + "[redacted]"[-5:] + "e" * 1495)
    script = f"import os, sys; sys.stdout.write('x' * {STDOUT_BYTES.high - 6} + os.environ['TOK'])"
    value = perform("python3", "-c", script, env=env).value
    assert isinstance(value, str)
    assert "tok-5f" not in value
    assert "x[redacted]\n[__akm_exec_output_truncated__]" in value


def test_schema_units_are_scrubbed_first(perform: Perform, tmp_path: Path) -> None:
    env = env_file(tmp_path, "TOK='pass-9\"word-77'\nPORT=80801\nDEBUG=true\n", "TOK", "PORT", "DEBUG")
    dump = "import json, os; print(json.dumps({'k': os.environ['TOK'], 'ok': True}))"
    assert perform("python3", "-c", dump, env=env, schema={}).value == {"k": "[redacted]", "ok": True}
    schema = {"type": "object", "properties": {"k": {"type": "string", "minLength": 12}}}
    result = perform("python3", "-c", dump, env=env, schema=schema)
    assert result.failure_reason == "validation_error"
    assert "redacted first" in result.errors[0]
    result = perform(
        "printf", '{"k": 80801}', env=env, schema={"type": "object", "properties": {"k": {"type": "integer"}}}
    )
    assert result.failure_reason == "validation_error"
    assert "redacted first" in result.errors[0]
    result = perform("printf", '{"k": 7}', env=env, schema=schema)
    assert result.failure_reason == "validation_error"
    assert "redacted" not in result.errors[0]


def test_a_value_that_is_json_itself(perform: Perform, tmp_path: Path) -> None:
    env = env_file(tmp_path, 'KEY=\'{"user": "ann", "pass": "p"}\'\n', "KEY")
    result = perform("printenv", "KEY", env=env, schema={"type": "object"})
    assert result.failure_reason == "parse_error"
    assert result.diagnostic is not None
    assert "redacted" in result.diagnostic
    assert "ann" not in result.diagnostic


def test_the_locale_does_not_matter(perform: Perform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "LC_ALL", "C")
    assert perform("sh", "-c", 'printf %s "$AKM_PARAMS"', context=UnitContext({"a": "ä€"})).value == '{"a":"ä€"}'
