"""What freezing resolves, row by row of spec 2, section 3, where engines, tasks, commands and tables meet."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Compose = Callable[..., Any]
Check = Callable[..., Any]

NEAR = "http://127.0.0.1:9/v1/chat/completions"
FAR = "https://api.example.com/v1/chat/completions"
ENGINES: dict[str, dict[str, Any]] = {
    "near": {"kind": "llm", "endpoint": NEAR, "model": "tiny", "temperature": 0.5, "maxTokens": 9},
    "far": {"kind": "llm", "endpoint": FAR, "model": "huge"},
    "many": {"kind": "llm", "endpoint": FAR, "model": "huge", "concurrency": 9},
    "coder": {"kind": "agent", "platform": "claude", "model": "c-model"},
    "bare": {"kind": "agent", "platform": "codex"},
    "sdk": {"kind": "agent", "platform": "opencode-sdk"},
    "sdk-near": {"kind": "agent", "platform": "opencode-sdk", "llmEngine": "near"},
}


def config(**more: Any) -> dict[str, Any]:
    return {"engines": ENGINES, "defaults": {"engine": "near"}, **more}


def source(unit: str = "{}", head: str = "", gate: str = "") -> str:
    return f"---\n{head}steps:\n  - {{id: ask, unit: {unit}}}\n---\n## ask\nAsk.\n{gate}"


def workflow(*steps: str) -> str:
    lines = "".join(f"      - {step}\n" for step in steps)
    return f"name: A\non: {{workflow_dispatch: {{}}}}\njobs:\n  main:\n    runs-on: [self-hosted]\n    steps:\n{lines}"


# ---- a composed task ranks as the unit; a command's own model below the document's ----


@pytest.mark.parametrize(
    ("task", "engine", "model", "timeout"),
    [
        ("", "near", "tiny", 600_000),
        ("engine: far\n", "far", "huge", 600_000),
        ("engine: coder\n", "coder", "c-model", None),
        ("engine: bare\n", "bare", None, None),
        ("engine: far\nmodel: exact\n", "far", "exact", 600_000),
        ("timeout: 1234\n", "near", "tiny", 1234),
        ("engine: coder\ntimeout: 5\n", "coder", "c-model", 5),
    ],
)
def test_a_task_names_engine_model_and_timeout(
    compose: Compose, task: str, engine: str, model: str | None, timeout: int | None
) -> None:
    files = {
        "workflows/a.yml": workflow("{id: t, uses: tasks/t}"),
        "tasks/t.yml": f"version: 4\nuses: commands/c\n{task}",
        "commands/c.md": "Ask.\n",
    }
    made = compose(files, config=config())
    target = made.target(0)
    assert (target["engine"]["name"], target.get("model")) == (engine, model)
    assert made.plan["steps"][0]["unit"]["timeoutMs"] == timeout


@pytest.mark.parametrize(
    ("task", "command", "model"),
    [
        ("", "", "tiny"),
        ("", "---\nmodel: of-command\n---\n", "of-command"),
        ("model: of-task\n", "---\nmodel: of-command\n---\n", "of-task"),
        ("model: fast\n", "", "small"),
        ("", "---\nmodel: fast\n---\n", "small"),
    ],
)
def test_models_of_tasks_and_commands(compose: Compose, task: str, command: str, model: str) -> None:
    files = {
        "workflows/a.yml": workflow("{id: t, uses: tasks/t}"),
        "tasks/t.yml": f"version: 4\nuses: commands/c\n{task}",
        "commands/c.md": f"{command}Ask.\n",
    }
    assert compose(files, config=config(modelAliases={"fast": {"near": "small"}})).target(0)["model"] == model


def test_the_tuning_of_a_task_over_that_of_the_engine(compose: Compose) -> None:
    files = {
        "workflows/a.yml": workflow("{id: t, uses: tasks/t}"),
        "tasks/t.yml": "version: 4\nuses: commands/c\ninference: {temperature: 0, context_length: 7}\n",
        "commands/c.md": "Ask.\n",
    }
    made = compose(files, config=config())
    assert made.target(0)["llm"] == {"temperature": 0, "contextLength": 7, "maxTokens": 9}
    broken = compose(files, config=config(defaults={"engine": "coder"}))
    assert ("llm-on-agent-engine", "workflows/a.yml", 7) in broken.rules


# ---- aliases: tables in order, the first that knows the alias wins whole ----


def test_the_first_table_with_an_alias_wins_whole(check: Check) -> None:
    own = {"near": {**ENGINES["near"], "modelAliases": {"a": "of-engine"}}, "far": ENGINES["far"]}
    tables = {"a": {"*": "of-config"}, "b": {"claude": "only-claude"}}
    beside = json.dumps({"version": 1, "aliases": {"b": {"*": "beside"}, "c": {"*": "beside"}}})
    files = {".akm/models.json": beside}
    settings = config(engines=own, modelAliases=tables)

    def model(name: str) -> Any:
        return check(source(f"{{model: {name}}}"), config=settings, files=files)

    assert model("a").at("steps.0.unit.target.model") == "of-engine"
    assert check(source("{engine: far, model: a}"), config=settings).at("steps.0.unit.target.model") == "of-config"
    assert model("b").rules == [("model-alias-gap", 3)]
    assert model("c").at("steps.0.unit.target.model") == "beside"
    assert model("unheard-of").at("steps.0.unit.target.model") == "unheard-of"


def test_a_column_by_engine_takes_an_exact_model(check: Check) -> None:
    engines = {**ENGINES, "far": {**ENGINES["far"], "model": "fast"}}
    tables = {"fast": {"*": "resolved"}, "borrow": {"*": {"engine": "far"}}, "none": {"*": {"engine": "bare"}}}
    settings = config(engines=engines, modelAliases=tables)
    assert check(source("{model: borrow}"), config=settings).at("steps.0.unit.target.model") == "fast"
    assert check(source("{engine: far}"), config=settings).at("steps.0.unit.target.model") == "resolved"
    gap = check(source("{model: none}"), config=settings)
    assert gap.rules == [("model-alias-gap", 3)] and '"bare", which has no model' in gap.printed


@pytest.mark.parametrize(
    ("engine", "model"),
    [("near", "by-llm"), ("coder", "by-claude"), ("bare", "by-any"), ("sdk", "by-any"), ("far", "by-name")],
)
def test_columns_by_name_then_kind_then_any(check: Check, engine: str, model: str) -> None:
    columns = {"far": "by-name", "llm": "by-llm", "claude": "by-claude", "*": "by-any"}
    settings = config(modelAliases={"x": columns})
    checked = check(source(f"{{engine: {engine}, model: x}}"), config=settings)
    assert checked.at("steps.0.unit.target.model") == model


# ---- widths ----


@pytest.mark.parametrize(
    ("engine", "fallback", "width"),
    [
        ("near", None, 1),
        ("far", None, 4),
        ("many", None, 9),
        ("coder", None, None),
        ("sdk", None, None),
        ("sdk", "far", 4),
        ("sdk", "many", 9),
        ("sdk-near", None, 1),
        ("sdk-near", "far", 1),
        ("coder", "far", None),
    ],
)
def test_engine_widths(check: Check, engine: str, fallback: str | None, width: int | None) -> None:
    defaults = {"llmEngine": fallback} if fallback else {}
    target = check(source(f"{{engine: {engine}}}"), config=config(defaults=defaults)).at("steps.0.unit.target")
    assert target.get("concurrency") == width


@pytest.mark.parametrize(
    ("host", "width"),
    [
        ("localhost", 1),
        ("a.localhost", 1),
        ("127.9.9.9", 1),
        ("[0:0:0:0:0:0:0:1]", 1),
        ("0.0.0.0", 1),
        ("[::]", 1),
        ("[::ffff:127.1.2.3]", 1),
        ("[::127.0.0.1]", 4),
        ("localhost.example.com", 4),
        ("10.0.0.1", 4),
    ],
)
def test_widths_by_endpoint(check: Check, host: str, width: int) -> None:
    engine = {"kind": "llm", "endpoint": f"http://{host}:8080/v1/chat/completions", "model": "m"}
    checked = check(source("{engine: e}"), config={"engines": {"e": engine}})
    assert checked.at("steps.0.unit.target.concurrency") == width


# ---- judges ----


@pytest.mark.parametrize(
    ("judge", "model", "llm"),
    [("near", "tiny", {"temperature": 0.5, "maxTokens": 9}), ("coder", "aliased", None), ("bare", None, None)],
)
def test_the_judge_is_an_engine_as_configured(check: Check, judge: str, model: str | None, llm: Any) -> None:
    settings = config(workflow={"judgeEngine": judge}, modelAliases={"c-model": {"claude": "aliased"}})
    head = "defaults: {model: of-document, timeout: 3s, llm: {temperature: 1}}\n"
    gate = check(source("{}", head, "### gate\n- Done.\n"), config=settings).at("steps.0.gate")
    assert (gate["judge"].get("model"), gate["judge"].get("llm")) == (model, llm)
    assert gate["maxLoops"] == 1 and gate["judge"]["inputBindings"] == []


@pytest.mark.parametrize(("unit", "loops", "warned"), [("{exec: {command: [make]}}", 1, True), ("{}", 3, False)])
def test_a_fixed_command_never_loops(check: Check, unit: str, loops: int, warned: bool) -> None:
    text = source(unit, gate="### gate\n- Done.\n").replace("unit:", "gate: {max_loops: 3}, unit:")
    checked = check(text, config=config(workflow={"judgeEngine": "near"}))
    assert checked.at("steps.0.gate.maxLoops") == loops
    assert ("exec-gate-loops" in [name for name, _ in checked.rules]) == warned


# ---- tuning ----


def test_tuning_that_is_null_has_the_wrong_type(check: Check) -> None:
    for head, unit in (("", "{llm: null}"), ("defaults: {llm: null}\n", "{}")):
        assert [name for name, _ in check(source(unit, head), config=config()).rules] == ["wrong-type"]


# ---- nothing needed, nothing asked ----


def test_exec_script_and_child_steps_need_no_config(compose: Compose) -> None:
    files = {
        "workflows/a.yml": workflow(
            "{id: r, run: make}", "{id: s, uses: scripts/x.sh}", "{id: c, uses: workflows/kid}"
        ),
        "scripts/x.sh": "ls\n",
        "workflows/kid.yml": workflow("{id: k, run: make kid}"),
    }
    made = compose(files, freeze=True)
    assert made.rules == []
    assert [step["unit"]["timeoutMs"] for step in made.plan["steps"]] == [600_000, 600_000, None]
    assert made.plan["planHash"]


def test_env_names_are_frozen_and_values_never(check: Check) -> None:
    env = 'B=geheim\nA=${secret:token}\nexport C="x ${secret:other}"\n# ${secret:comment}\n'
    text = source("{exec: {command: [make]}, env: [env/ci]}")
    checked = check(text, files={"env/ci.env": env}, freeze=True)
    (binding,) = checked.at("steps.0.unit.env")
    assert binding == {
        "kind": "env-ref",
        "ref": "env/ci",
        "path": "env/ci.env",
        "keys": ["A", "B", "C"],
        "secretNames": ["other", "token"],
    }
    assert "geheim" not in json.dumps(checked.plan)
