"""What the config promises of engines holds for whoever can hash: each pinned plan with one value changed and every
hash made right again is refused, and the message names the place."""

from __future__ import annotations

from typing import Any, Final

import pytest

ENDPOINT: Final = "steps.0.unit.target.engine.endpoint"
GONE: Final = "(removed)"  # no value of a plan
LLM: Final = "steps[0].unit.target"
SDK: Final = "steps[4].unit.target"

ENDPOINTS: Final = {
    "user": ("http://user@h/v1/chat/completions", "must not carry a user name or password"),
    "password": ("http://u:hunter2@h/v1/chat/completions", "must not carry a user name or password"),
    "empty user": ("http://@h/v1/chat/completions", "must not carry a user name or password"),
    "query": ("http://h/v1/chat/completions?key=hunter2", "a query or a fragment"),
    "empty query": ("http://h/v1/chat/completions?", "a query or a fragment"),
    "fragment": ("http://h/v1/chat/completions#x", "a query or a fragment"),
    "file": ("file:///v1/chat/completions", "expected an http or https URL"),
    "ftp": ("ftp://h/v1/chat/completions", "expected an http or https URL"),
    "scheme-relative": ("//h/v1/chat/completions", "expected an http or https URL"),
    "no host": ("http:///v1/chat/completions", "with a host"),
    "other ending": ("http://h/v1/completions", "ends in /chat/completions"),
    "ending in the host": ("http://chat/completions", "ends in /chat/completions"),
    "port": ("http://h:99999/v1/chat/completions", "is no URL"),
    "brackets": ("http://[::1/v1/chat/completions", "is no URL"),
    "blank": ("http://h/a b/chat/completions", "blanks"),
    "line break": ("http://h/a\n/chat/completions", "blanks"),
    "NUL": ("http://h\0/chat/completions", "blanks"),
    "backslash": ("http://evil\\@h/chat/completions", "user name"),
    "backslash in the host": ("http://evil\\h/chat/completions", "backslash"),
    "hidden character": ("http://h\u202e/chat/completions", "format characters"),
    "empty": ("", "with a host"),
}


@pytest.mark.parametrize("name", sorted(ENDPOINTS))
@pytest.mark.parametrize(
    ("plan", "at", "where"),
    [
        ("engines", ENDPOINT, f"{LLM}.engine.endpoint"),
        ("engines", "steps.0.gate.judge.engine.endpoint", "steps[0].gate.judge.engine.endpoint"),
        ("agents", "steps.4.unit.target.engine.llmEngine.endpoint", f"{SDK}.engine.llmEngine.endpoint"),
    ],
    ids=["unit", "judge", "sdk"],
)
def test_endpoints(kit: Any, name: str, plan: str, at: str, where: str) -> None:
    text, reason = ENDPOINTS[name]
    error = kit.broken(plan, at, text)
    assert error.path == where and reason in error.message
    assert "hunter2" not in str(error)


# Name: plan, place, value, the place in the message, words of the reason.
PROMISES: Final[dict[str, tuple[str, str, Any, str, str]]] = {
    # engines
    "an engine name": ("engines", "steps.0.unit.target.engine.name", "Fast", f"{LLM}.engine.name", "no name of an"),
    "a key instead of its name": (
        "engines",
        "steps.0.unit.target.engine.apiKey",
        "$FAST_KEY",
        f"{LLM}.engine.apiKey",
        "the name of an environment variable",
    ),
    "an llm engine without model": ("engines", "steps.0.unit.target.model", GONE, f"{LLM}.model", "needs a model"),
    "an empty model": ("engines", "steps.0.unit.target.model", "", f"{LLM}.model", "leaving it out"),
    "an llm engine without width": ("engines", "steps.0.unit.target.concurrency", GONE, f"{LLM}.concurrency", "width"),
    "a judge without width": (
        "engines",
        "steps.0.gate.judge.concurrency",
        GONE,
        "steps[0].gate.judge.concurrency",
        "width",
    ),
    "width 0": ("engines", "steps.0.unit.target.concurrency", 0, f"{LLM}.concurrency", "expected 1 to 64"),
    "width 65": ("engines", "steps.0.unit.target.concurrency", 65, f"{LLM}.concurrency", "expected 1 to 64"),
    "width of an agent": ("agents", "steps.0.unit.target.concurrency", 2, f"{LLM}.concurrency", "no width of its own"),
    "an sdk engine without the width behind it": (
        "agents",
        "steps.4.unit.target.concurrency",
        GONE,
        f"{SDK}.concurrency",
        "needs a width",
    ),
    "a platform": ("agents", "steps.0.unit.target.engine.platform", "bash", f"{LLM}.engine.platform", "'bash'"),
    "a command engine without program": (
        "engines",
        "steps.1.unit.target.engine.bin",
        GONE,
        "steps[1].unit.target.engine.bin",
        "needs the program",
    ),
    "an empty program": ("agents", "steps.2.unit.target.engine.bin", "", "steps[2].unit.target.engine.bin", "name"),
    "NUL in a program": (
        "agents",
        "steps.2.unit.target.engine.bin",
        "a\0",
        "steps[2].unit.target.engine.bin",
        "NUL",
    ),
    "NUL in an argument": ("agents", "steps.0.unit.target.engine.args.1", "a\0", f"{LLM}.engine.args[1]", "NUL"),
    "no arguments": ("agents", "steps.0.unit.target.engine.args", [], f"{LLM}.engine.args", "leaving it out"),
    **{
        f"workspace {text[:9]!r}": (
            "agents",
            "steps.1.unit.target.engine.workspace",
            text,
            "steps[1].unit.target.engine.workspace",
            reason,
        )
        for text, reason in {
            "": "1 to 1024 characters",
            "/srv": "is absolute",
            "../x": 'climbs out with ".."',
            "a/../..": 'climbs out with ".."',
            "C:/x": "names a drive",
            "~/x": 'holds a "~"',
            "a\\b": "holds a backslash",
            "a\0b": "control character",
            "x" * 1025: "found 1025",
        }.items()
    },
    "an llm engine behind another platform": (
        "agents",
        "steps.4.unit.target.engine.platform",
        "opencode",
        f"{SDK}.engine.llmEngine",
        "belongs to opencode-sdk",
    ),
    "tuning of an agent": ("agents", "steps.0.unit.target.llm", {"maxTokens": 1}, f"{LLM}.llm", "no llm engine"),
    "no tuning": ("engines", "steps.0.unit.target.llm", {}, f"{LLM}.llm", "leaving it out"),
    "0 tokens": ("engines", "steps.0.unit.target.llm.maxTokens", 0, f"{LLM}.llm.maxTokens", "out of range"),
    "a context of 0": ("engines", "steps.0.unit.target.llm.contextLength", 0, f"{LLM}.llm.contextLength", "out of"),
    **{
        f"extra member {name}": (
            "engines",
            "steps.0.unit.target.llm.extraParams",
            {name: 1},
            f"{LLM}.llm.extraParams.{name}",
            "belongs to the engine, or would carry a secret",
        )
        for name in ("model", "messages", "stream", "Max_Tokens", "responseFormat", "Authorization", "api-key", "toKen")
    },
    "an extra member below": (
        "engines",
        "steps.0.unit.target.llm.extraParams",
        {"a": [{"Set-Cookie": 1}]},
        f"{LLM}.llm.extraParams.a[0].Set-Cookie",
        "would carry a secret",
    ),
    "many extra members": (
        "engines",
        "steps.0.unit.target.llm.extraParams",
        {"a": "x" * 65_536},
        f"{LLM}.llm.extraParams",
        "0 to 65536 bytes",
    ),
    "an option that nothing takes": (
        "composed",
        "steps.5.unit.target.options.shell",
        "x",
        "steps[5].unit.target.options.shell",
        "takes no option",
    ),
    "tools that are a text": (
        "composed",
        "steps.5.unit.target.options.tools",
        "read",
        "steps[5].unit.target.options.tools",
        "a list of texts",
    ),
    "no tools": ("composed", "steps.5.unit.target.options.tools", [], "steps[5].unit.target.options.tools", "a list"),
    "an agent that is a list": (
        "composed",
        "steps.5.unit.target.options.agent",
        ["a"],
        "steps[5].unit.target.options.agent",
        "a text",
    ),
    "options of an llm engine": (
        "composed",
        "steps.3.unit.target.options",
        {"agent": "a"},
        "steps[3].unit.target.options.agent",
        '"llm" takes no option',
    ),
}


@pytest.mark.parametrize("name", sorted(PROMISES))
def test_a_broken_promise_is_found_behind_right_hashes(kit: Any, name: str) -> None:
    plan, at, value, where, reason = PROMISES[name]
    error = kit.broken(plan, at, kit.REMOVED if value == GONE else value)
    assert (error.path, error.kind in ("bounds", "malformed")) == (where, True), error
    assert reason in error.message
