"""Every row of what freezing resolves about engines, models, tuning, widths and judges (spec 2, section 3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

URL = "http://127.0.0.1:9/v1/chat/completions"
FAR = "https://api.example.com/v1/chat/completions"
ENGINES = {
    "local": {"kind": "llm", "endpoint": URL, "model": "tiny", "temperature": 0.5, "maxTokens": 9},
    "far": {"kind": "llm", "endpoint": FAR, "model": "huge", "apiKey": "$FAR_KEY", "timeoutMs": 77000},
    "wide": {"kind": "llm", "endpoint": URL, "model": "tiny", "concurrency": 7},
    "coder": {"kind": "agent", "platform": "claude", "args": ["-p"], "timeoutMs": 5, "modelAliases": {"own": "m-own"}},
    "sdk": {"kind": "agent", "platform": "opencode-sdk", "llmEngine": "far"},
    "lost": {"kind": "agent", "platform": "opencode-sdk", "llmEngine": "coder"},
}


def _config(**more: Any) -> dict[str, Any]:
    return {"engines": ENGINES, **more}


def _source(unit: str = "{}", head: str = "", gate: str = "") -> str:
    return f"---\n{head}steps:\n  - {{id: ask, unit: {unit}}}\n---\n## ask\nAsk.\n{gate}"


@pytest.mark.parametrize(
    ("unit", "head", "default", "engine"),
    [
        ("{engine: far}", "defaults: {engine: wide}\n", "local", "far"),
        ("{}", "defaults: {engine: wide}\n", "local", "wide"),
        ("{}", "", "local", "local"),
    ],
)
def test_engine_by_rank(check: Callable[..., Any], unit: str, head: str, default: str, engine: str) -> None:
    checked = check(_source(unit, head), config=_config(defaults={"engine": default}))
    assert checked.at("steps.0.unit.target.engine.name") == engine


def test_no_engine_names_the_step(check: Callable[..., Any]) -> None:
    checked = check(_source(), config=_config())
    assert checked.printed == (
        '3:10 no-engine: the step "ask" has no engine; configured: "coder", "far", "local", "lost", "sdk", "wide"\n'
        '  help: name one in "unit.engine", in "defaults.engine" of the workflow, or in "defaults.engine" of the config'
    )
    assert checked.program.plan is None


def test_without_config_engines_stay_open_until_the_freeze(check: Callable[..., Any]) -> None:
    checked = check(_source("{engine: nobody, env: [env/gone]}"))
    assert checked.rules == []
    assert checked.program.open
    assert check(_source("{engine: nobody, env: [env/gone]}"), freeze=True).rules == [
        ("env-unresolved", 3),
        ("unknown-engine", 3),
    ]


@pytest.mark.parametrize(
    ("unit", "head", "default", "rule", "line"),
    [
        ("{engine: lokal}", "", None, "unknown-engine", 3),
        ("{}", "defaults: {engine: lokal}\n", None, "unknown-engine", 2),
        ("{}", "", "lokal", "unknown-config-engine", 3),
        ("{engine: lost}", "", None, "unknown-config-engine", 3),
    ],
)
def test_unknown_engines(
    check: Callable[..., Any], unit: str, head: str, default: str | None, rule: str, line: int
) -> None:
    config = _config(defaults={"engine": default}) if default else _config()
    checked = check(_source(unit, head), config=config)
    assert checked.rules == [(rule, line)]
    assert 'did you mean "local"?' in checked.printed or "llmEngine" in checked.printed


def test_a_document_default_that_is_unknown_is_said_once(check: Callable[..., Any]) -> None:
    text = "---\ndefaults: {engine: gone}\nsteps:\n  - {id: a}\n  - {id: b}\n---\n## a\nA.\n## b\nB.\n"
    assert check(text, config=_config()).rules == [("unknown-engine", 2)]


def test_the_runner_is_frozen_without_secrets(check: Callable[..., Any]) -> None:
    far = check(_source("{engine: far}"), config=_config())
    assert far.at("steps.0.unit.target.engine") == {
        "kind": "llm",
        "name": "far",
        "endpoint": FAR,
        "apiKey": "FAR_KEY",
    }
    sdk = check(_source("{engine: sdk}"), config=_config())
    assert sdk.at("steps.0.unit.target.engine.llmEngine.name") == "far"
    coder = check(_source("{engine: coder}"), config=_config())
    assert coder.at("steps.0.unit.target.engine") == {
        "kind": "agent",
        "name": "coder",
        "platform": "claude",
        "args": ["-p"],
    }


ALIASES = {
    "by-name": {"local": "exact", "llm": "no", "*": "no"},
    "by-platform": {"claude": "for-claude", "llm": "for-llm", "*": "any"},
    "any": {"*": "any"},
    "borrowed": {"*": {"engine": "far"}},
    "chained": {"*": {"engine": "coder"}},
    "nowhere": {"*": {"engine": "gone"}},
    "narrow": {"codex": "x"},
    "own": {"*": "shadowed"},
}


@pytest.mark.parametrize(
    ("model", "engine", "resolved"),
    [
        ("exactly-this", "local", "exactly-this"),
        ("by-name", "local", "exact"),
        ("by-name", "far", "no"),
        ("by-platform", "coder", "for-claude"),
        ("by-platform", "far", "for-llm"),
        ("by-platform", "sdk", "any"),
        ("borrowed", "local", "huge"),
        ("own", "coder", "m-own"),
        ("own", "local", "shadowed"),
        ("fast", "coder", "claude-haiku-4-5"),
    ],
)
def test_models_and_aliases(check: Callable[..., Any], model: str, engine: str, resolved: str) -> None:
    checked = check(_source(f"{{engine: {engine}, model: {model}}}"), config=_config(modelAliases=ALIASES))
    assert checked.at("steps.0.unit.target.model") == resolved


@pytest.mark.parametrize("model", ["narrow", "chained", "nowhere", "fast"])
def test_alias_gaps(check: Callable[..., Any], model: str) -> None:
    checked = check(_source(f"{{engine: local, model: {model}}}"), config=_config(modelAliases=ALIASES))
    assert checked.rules == [("model-alias-gap", 3)]
    assert checked.program.plan is None


@pytest.mark.parametrize(
    ("unit", "head", "model"),
    [
        ("{engine: local, model: u}", "defaults: {model: d}\n", "u"),
        ("{engine: local}", "defaults: {model: d}\n", "d"),
        ("{engine: local}", "", "tiny"),
    ],
)
def test_model_by_rank(check: Callable[..., Any], unit: str, head: str, model: str) -> None:
    assert check(_source(unit, head), config=_config()).at("steps.0.unit.target.model") == model


def test_tuning_by_rank(check: Callable[..., Any]) -> None:
    text = _source("{engine: local, llm: {temperature: 0}}", "defaults: {llm: {temperature: 1, context_length: 5}}\n")
    assert check(text, config=_config()).at("steps.0.unit.target.llm") == {
        "temperature": 0,
        "contextLength": 5,
        "maxTokens": 9,
    }


def test_llm_on_an_agent_engine(check: Callable[..., Any]) -> None:
    text = """---
defaults: {llm: {temperature: 1}}
steps:
  - {id: a, unit: {engine: coder}}
  - {id: b, unit: {engine: local}}
  - {id: c, unit: {engine: sdk, llm: {temperature: 0}}}
  - {id: d, unit: {exec: {command: [make]}}}
---
""" + "".join(f"## {name}\nA.\n" for name in "abcd")
    checked = check(text, config=_config())
    assert checked.rules == [("llm-on-agent-engine", 2), ("llm-on-agent-engine", 6)]
    assert '"a" on "coder", "c" on "sdk"' in checked.printed


def test_empty_llm_changes_nothing(check: Callable[..., Any]) -> None:
    text = _source("{engine: coder, llm: {}}", "defaults: {llm: {}}\n")
    assert check(text, config=_config()).rules == []


def test_exec_steps_trigger_no_rule(check: Callable[..., Any]) -> None:
    head = "defaults: {engine: gone, model: narrow, llm: {temperature: 1}}\n"
    checked = check(_source("{exec: {command: [make]}}", head), config=_config(modelAliases=ALIASES), freeze=True)
    assert checked.rules == []
    assert checked.at("steps.0.unit.target.kind") == "exec"


@pytest.mark.parametrize(
    ("unit", "head", "timeout"),
    [
        ("{engine: far, timeout: 3s}", "defaults: {timeout: 2m}\n", 3000),
        ("{engine: far, timeout: none}", "defaults: {timeout: 2m}\n", None),
        ("{engine: far}", "defaults: {timeout: 2m}\n", 120_000),
        ("{engine: far}", "defaults: {timeout: none}\n", None),
        ("{engine: far}", "", 77_000),
        ("{engine: local}", "", 600_000),
        ("{engine: coder}", "", 5),
        ("{engine: sdk}", "", None),
        ("{exec: {command: [make]}}", "", 600_000),
        ("{exec: {command: [make]}}", "defaults: {timeout: 1}\n", 1),
    ],
)
def test_timeout_by_rank(check: Callable[..., Any], unit: str, head: str, timeout: int | None) -> None:
    assert check(_source(unit, head), config=_config()).at("steps.0.unit.timeoutMs") == timeout


@pytest.mark.parametrize(("engine", "width"), [("local", 1), ("far", 4), ("wide", 7), ("sdk", 4), ("coder", None)])
def test_engine_width(check: Callable[..., Any], engine: str, width: int | None) -> None:
    target = check(_source(f"{{engine: {engine}}}"), config=_config()).at("steps.0.unit.target")
    assert target.get("concurrency") == width


@pytest.mark.parametrize(("authored", "configured", "width"), [("", None, 4), ("", 2, 2), (", concurrency: 1", 2, 1)])
def test_map_width(check: Callable[..., Any], authored: str, configured: int | None, width: int) -> None:
    text = (
        "---\nparams: {rows: {type: array}}\nsteps:\n"
        f"  - {{id: a, map: {{over: params.rows{authored}, unit: {{exec: {{command: [make]}}}}}}}}\n---\n## a\nA.\n"
    )
    config = _config(workflow={"defaultMapConcurrency": configured} if configured else {})
    assert check(text, config=config).at("steps.0.map.concurrency") == width


def test_the_judge_is_frozen(check: Callable[..., Any]) -> None:
    text = _source("{engine: coder}", gate="### gate\n- Done.\n")
    checked = check(text, config=_config(workflow={"judgeEngine": "local", "maxConcurrency": 6}))
    judge = checked.at("steps.0.gate.judge")
    assert (judge["engine"]["name"], judge["model"], judge["llm"]) == (
        "local",
        "tiny",
        {"temperature": 0.5, "maxTokens": 9},
    )
    assert judge["concurrency"] == 1 and "prompt" not in judge and judge["template"] == "none"
    assert checked.at("execution.maxConcurrency") == 6


@pytest.mark.parametrize(
    ("judge", "rule"), [(None, "no-judge-engine"), ("gone", "unknown-config-engine"), ("lost", "unknown-config-engine")]
)
def test_a_rubric_needs_a_judge(check: Callable[..., Any], judge: str | None, rule: str) -> None:
    text = _source("{exec: {command: [make]}}", gate="### gate\n- Done.\n")
    checked = check(text, config=_config(workflow={"judgeEngine": judge} if judge else {}))
    assert [name for name, _ in checked.rules] == [rule]
    assert checked.rules[0][1] == 7
    blank = _source("{exec: {command: [make]}}", gate="### gate\n\n")
    assert check(blank, config=_config()).rules == []


def test_env_on_an_llm_engine(check: Callable[..., Any]) -> None:
    files = {"env/ci.env": "A=1\n"}
    text = _source("{engine: local, env: [env/ci]}")
    assert check(text, config=_config(), files=files).rules == [("env-on-llm-engine", 3)]
    assert check(_source("{engine: coder, env: [env/ci]}"), config=_config(), files=files).rules == []


def test_nothing_cascades_from_a_broken_unit(check: Callable[..., Any]) -> None:
    checked = check(_source("{exec: {command: make}}"), config=_config())
    assert [name for name, _ in checked.rules] == ["exec-shell-string"]
    checked = check(_source("{engine: 5}"), config=_config())
    assert [name for name, _ in checked.rules] == ["wrong-type"]
