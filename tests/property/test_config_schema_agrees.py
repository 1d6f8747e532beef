"""The published schemas of the config and of models.json accept what their reader accepts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from near_misses import near_misses

from akm_schemas import bounds, config_keys, config_schema
from akmc_passes.config import ConfigError, read_config, read_models
from akmc_passes.config_reader import Reader

URL: Final = "http://127.0.0.1:9/v1/chat/completions"
LLM: Final = {"kind": "llm", "endpoint": URL, "model": "tiny"}
AGENT: Final = {"kind": "agent", "platform": "claude"}
# What JSON Schema cannot say, by a word of the reader's message, with one config that shows it.
BEYOND_JSON_SCHEMA: Final[dict[str, Any]] = {
    "is no URL": {"engines": {"x": {**LLM, "endpoint": "http://[::1/chat/completions"}}},
    "takes 0 to 65536 bytes": None,  # see the test of sizes below
    "not exact": {"engines": {"x": {**LLM, "extraParams": {"seed": bounds.SAFE_INTEGER + 1}}}},
}
ENDPOINTS: Final = (
    URL,
    "HTTPS://Example.com/chat/completions",
    "https://münchen.example/chat/completions",
    "http://h/chat/completions/",
    "http://h/xchat/completions",
    "http:///chat/completions",
    "http://:80/chat/completions",
    "http://h:99999/chat/completions",
    "http://u@h/chat/completions",
    "http://h/a@b/chat/completions",
    "http://h/chat/completions?",
    "http://h/chat/completions#",
    "http://h\\@e/chat/completions",
    " http://h/chat/completions",
    "http://h /chat/completions",
    "http://h\u202e/chat/completions",
    "http://h/\u3000/chat/completions",
    "ftp://h/chat/completions",
    "h/chat/completions",
    "http://h/chat/completions\n",
)
KEYS: Final = ("$A", "${A}", "${A", "$A}", "$1", "$", "A", "sk-1", "$A ", "$A\n", "${A_1}")
NAMES: Final = tuple(
    key.name
    for record in (config_keys.CONFIG, config_keys.LLM_ENGINE, config_keys.AGENT_ENGINE, config_keys.WORKFLOW)
    for key in record.keys
)


def _reader(value: Any) -> Reader:
    return Reader(Path("config.json"), json.dumps(value, ensure_ascii=False))


def _agree(value: Any, schema: dict[str, Any], read: Any) -> bool:
    """Hold both verdicts together; whether they are "accepted"."""
    said = ""
    try:
        read(_reader(value))
    except ConfigError as error:
        said = error.message
    faults = [error.message for error in jsonschema.Draft7Validator(schema).iter_errors(value)]
    if said and not faults:
        assert any(word in said for word in BEYOND_JSON_SCHEMA), (value, said)
    else:
        assert bool(said) == bool(faults), (value, said, faults)
    return not said


def _config_agrees(value: Any) -> bool:
    return _agree(value, config_schema.config(), lambda reader: read_config(reader, Path("/b")))


TEXTS = st.sampled_from(["x", "far-out", "local", "a.b", "é"])
MODEL: st.SearchStrategy[Any] = TEXTS | st.builds(lambda name: {"engine": name}, TEXTS)
COLUMNS = st.dictionaries(st.sampled_from(["*", "llm", "claude", "engine", ""]), MODEL, max_size=3)
ALIASES = st.dictionaries(TEXTS, COLUMNS, max_size=2)
LLM_ENGINES = st.fixed_dictionaries(
    {"kind": st.just("llm"), "endpoint": st.sampled_from(ENDPOINTS), "model": TEXTS},
    optional={
        "apiKey": st.sampled_from(KEYS),
        "timeoutMs": st.integers(1, 9),
        "concurrency": st.integers(1, 64),
        "temperature": st.floats(0, 2) | st.integers(0, 2),
        "supportsJsonSchema": st.booleans(),
        "extraParams": st.dictionaries(st.sampled_from(["seed", "max_tokens", "Api-Key", "a"]), st.just({"Token": 1})),
        "modelAliases": st.dictionaries(TEXTS, MODEL | COLUMNS, max_size=2),
    },
)
AGENT_ENGINES = st.fixed_dictionaries(
    {"kind": st.just("agent"), "platform": st.sampled_from(config_keys.PLATFORMS)},
    optional={
        "bin": TEXTS,
        "args": st.lists(st.sampled_from(["", "-x"]), max_size=2),
        "workspace": st.sampled_from(["sub", "/x", "..", "a/../b", "~", "C:x", "a\\b", "a\tb"]),
        "llmEngine": TEXTS,
        "model": TEXTS,
    },
)
CONFIGS = st.fixed_dictionaries(
    {},
    optional={
        "$schema": TEXTS,
        "engines": st.dictionaries(
            st.sampled_from(["local", "a-b", "a--b", "akm-x", "A", "x" * 63, "x" * 64, "x\n"]),
            LLM_ENGINES | AGENT_ENGINES,
            max_size=3,
        ),
        "defaults": st.fixed_dictionaries({}, optional={"engine": TEXTS, "llmEngine": TEXTS}),
        "workflow": st.fixed_dictionaries({}, optional={"maxConcurrency": st.integers(0, 65), "judgeEngine": TEXTS}),
        "bundles": st.dictionaries(TEXTS, TEXTS, max_size=2),
        "modelAliases": ALIASES,
    },
)


@settings(max_examples=100)
@given(near_misses(CONFIGS, NAMES, 2))
def test_the_config_schema_and_the_reader_agree(value: Any) -> None:
    _config_agrees(value)


@settings(max_examples=60)
@given(near_misses(st.fixed_dictionaries({"version": st.just(1)}, optional={"aliases": ALIASES}), ("version",), 2))
def test_the_models_schema_and_the_reader_agree(value: Any) -> None:
    _agree(value, config_schema.models(), read_models)


@pytest.mark.parametrize("endpoint", ENDPOINTS)
def test_endpoints(endpoint: str) -> None:
    _config_agrees({"engines": {"x": {**LLM, "endpoint": endpoint}}})


@pytest.mark.parametrize("key", KEYS)
def test_credentials_by_name(key: str) -> None:
    assert _config_agrees({"engines": {"x": {**LLM, "apiKey": key}}}) == (key in ("$A", "${A}", "${A_1}"))


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"engines": {"x": LLM, "y": AGENT, "z": {**AGENT, "platform": "opencode-sdk", "llmEngine": "x"}}},
        {"engines": {"x": {**AGENT, "platform": "command", "bin": "b"}}},
        {"engines": {"x": {**LLM, "modelAliases": {"a": "m", "b": {"engine": "y"}, "c": {"engine": "y", "*": "m"}}}}},
        {"modelAliases": {"a": {"engine": "m", "*": {"engine": "x"}}}},
    ],
)
def test_what_both_accept(value: Any) -> None:
    assert _config_agrees(value)


@pytest.mark.parametrize("word", sorted(word for word, value in BEYOND_JSON_SCHEMA.items() if value))
def test_each_gap_is_one(word: str) -> None:
    value = BEYOND_JSON_SCHEMA[word]
    assert not list(jsonschema.Draft7Validator(config_schema.config()).iter_errors(value))
    with pytest.raises(ConfigError, match=word):
        read_config(_reader(value), Path("/b"))


def test_request_members_have_a_size() -> None:
    value = {"engines": {"x": {**LLM, "extraParams": {"a": "x" * bounds.EXTRA_PARAMS_BYTES.high}}}}
    assert not _config_agrees(value)
