"""The config: strict, merged, placed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from akm_schemas.bounds import CONFIG_FILE_BYTES
from akmc_passes.config import Config, ConfigError, load_config, user_folder
from akmc_passes.engine_config import AgentEngineConfig, LlmEngineConfig

URL = "http://127.0.0.1:9/v1/chat/completions"
LLM = {"kind": "llm", "endpoint": URL, "model": "tiny"}
CLAUDE = {"kind": "agent", "platform": "claude"}


def _write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value, indent=1))
    return path


def _load(tmp_path: Path, value: object) -> Config:
    file = _write(tmp_path / "p/.akm/config.json", value)
    config = load_config(file.parent.parent / "workflows", environ={"AKM_CONFIG_DIR": str(tmp_path / "user")})
    assert config is not None
    return config


def test_no_config(tmp_path: Path) -> None:
    assert load_config(tmp_path, environ={"AKM_CONFIG_DIR": str(tmp_path / "user")}) is None


def test_everything_is_read(tmp_path: Path) -> None:
    config = _load(
        tmp_path,
        {
            "engines": {
                "local": {
                    **LLM,
                    "apiKey": "${KEY}",
                    "timeoutMs": 5,
                    "concurrency": 3,
                    "temperature": 0.5,
                    "extraParams": {"seed": 1},
                },
                "coder": {
                    "kind": "agent",
                    "platform": "opencode-sdk",
                    "bin": "oc",
                    "args": ["-x"],
                    "workspace": "sub",
                    "model": "m",
                    "llmEngine": "local",
                    "modelAliases": {"fast": "m1", "slow": {"engine": "local"}, "wide": {"opencode-sdk": "m2"}},
                },
            },
            "defaults": {"engine": "local", "llmEngine": "local"},
            "workflow": {"maxConcurrency": 6, "defaultMapConcurrency": 2, "judgeEngine": "local"},
            "bundles": {"team": "../team"},
            "modelAliases": {"best": {"*": "m3"}},
        },
    )
    local = config.engines["local"]
    assert isinstance(local, LlmEngineConfig)
    assert (local.api_key, local.timeout_ms, local.concurrency) == ("KEY", 5, 3)
    assert local.tuning == {"temperature": 0.5, "extra_params": {"seed": 1}}
    coder = config.engines["coder"]
    assert isinstance(coder, AgentEngineConfig)
    assert (coder.bin, coder.args, coder.workspace, coder.llm_engine) == ("oc", ("-x",), "sub", "local")
    assert coder.aliases["fast"] == {"*": "m1"}
    assert (config.default_engine, config.workflow.judge_engine) == ("local", "local")
    assert config.bundles == {"team": tmp_path / "team"}
    assert config.aliases[0] == {"best": {"*": "m3"}}


@pytest.mark.parametrize(
    ("value", "where", "says"),
    [
        ({"enginse": {}}, "enginse", 'did you mean "engines"?'),
        ({"workflow": {"maxConcurency": 1}}, "workflow.maxConcurency", 'did you mean "maxConcurrency"?'),
        ({"workflow": {"maxConcurrency": 65}}, "workflow.maxConcurrency", "1 to 64, found 65"),
        ({"workflow": {"maxConcurrency": True}}, "workflow.maxConcurrency", "found true"),
        ({"engines": {"Local": LLM}}, "engines.Local", "no engine name"),
        ({"engines": {"akm-x": LLM}}, "engines.akm-x", "no engine name"),
        ({"engines": {"x": {}}}, "engines.x", 'lacks the key "kind"'),
        ({"engines": {"x": {"kind": "lm"}}}, "engines.x.kind", 'did you mean "llm"?'),
        ({"engines": {"x": {"kind": "llm", "model": "m"}}}, "engines.x", 'lacks the key "endpoint"'),
        ({"engines": {"x": {**LLM, "endpoint": "ftp://h/chat/completions"}}}, "engines.x.endpoint", "http or https"),
        ({"engines": {"x": {**LLM, "endpoint": "http://h/v1"}}}, "engines.x.endpoint", "/chat/completions"),
        ({"engines": {"x": {**LLM, "endpoint": "http://u:p@h/chat/completions"}}}, "engines.x.endpoint", "password"),
        ({"engines": {"x": {**LLM, "endpoint": URL + "?k=1"}}}, "engines.x.endpoint", "query"),
        ({"engines": {"x": {**LLM, "endpoint": URL + "#f"}}}, "engines.x.endpoint", "fragment"),
        ({"engines": {"x": {**LLM, "endpoint": "http://[::1/chat/completions"}}}, "engines.x.endpoint", "no URL"),
        ({"engines": {"x": {**LLM, "apiKey": "sk-secret"}}}, "engines.x.apiKey", "$VAR"),
        ({"engines": {"x": {**LLM, "bin": "y"}}}, "engines.x.bin", "unknown key"),
        (
            {"engines": {"x": {**LLM, "extraParams": {"a": {"API-Key": 1}}}}},
            "engines.x.extraParams.a.API-Key",
            "secret",
        ),
        ({"engines": {"x": {**LLM, "extraParams": {"max_tokens": 1}}}}, "engines.x.extraParams.max_tokens", "engine"),
        ({"engines": {"x": {**CLAUDE, "llmEngine": "y"}}}, "engines.x.llmEngine", "opencode-sdk"),
        ({"engines": {"x": {**CLAUDE, "concurrency": 2}}}, "engines.x.concurrency", "unknown key"),
        ({"engines": {"x": {**CLAUDE, "workspace": "/abs"}}}, "engines.x.workspace", "relative"),
        ({"engines": {"x": {"kind": "agent", "platform": "command"}}}, "engines.x", 'lacks the key "bin"'),
        ({"modelAliases": {"a": {"x": {"engine": "y", "z": 1}}}}, "modelAliases.a.x", '{"engine": NAME}'),
        ({"bundles": {"team": 3}}, "bundles.team", "expected a string"),
        ("[]", "", "expected an object"),
        ('{"a": 1, "a": 2}', "", "twice"),
    ],
)
def test_faults(tmp_path: Path, value: Any, where: str, says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, value)
    assert caught.value.where == where
    assert says in str(caught.value)
    assert "sk-secret" not in str(caught.value)


def test_every_fault_of_a_file_is_told(tmp_path: Path) -> None:
    value = {
        "engnes": {},
        "workflow": {"judgeEngine": 3, "maxConcurrency": 0, "x": 1},
        "engines": {"fast": {"kind": "llm"}, "Bad": {}, "good": LLM},
        "bundles": {"a//b": "x", "team": 3},
        "defaults": [],
    }
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, value)
    assert sorted(error.where for error in caught.value.every) == [
        "bundles.a//b",
        "bundles.team",
        "defaults",
        "engines.Bad",
        "engines.fast",
        "engnes",
        "workflow.judgeEngine",
        "workflow.maxConcurrency",
        "workflow.x",
    ]
    assert all(error.text in str(caught.value) for error in caught.value.every)


@pytest.mark.parametrize("name", ["a//b", "a b", "", "-x", ".x", "\u00e9", "a\n"])
def test_a_bundle_that_no_ref_can_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="is no name of a bundle"):
        _load(tmp_path, {"bundles": {name: "x"}})


def test_faults_have_lines(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, '{\n "defaults": {\n  "engin": "x"\n }\n}\n')
    assert (caught.value.line, caught.value.column) == (3, 3)
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, '{\n "defaults": \n}\n')
    assert caught.value.line == 3


@pytest.mark.parametrize(
    ("text", "where", "place"),
    [
        ('{"engin": {},\n "a": 1, "engin": {}}', "", (2, 10)),
        ('{"a": {"a": 1}, "b": ["a", {"a": "a"}],\n  "\\u0061" : {}}', "", (2, 3)),
        ('{"engines": {"x": {"\u00e9": "}\\"{"},\n"y": {"bin": {"bin": 1},\n"bin": 2}}}', "engines.y", (3, 1)),
        ('{"engines": {},\n "timeout": NaN}', "timeout", (2, 2)),
    ],
)
def test_what_json_cannot_carry_has_a_place(tmp_path: Path, text: str, where: str, place: tuple[int, int]) -> None:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, text)
    assert (caught.value.where, caught.value.line, caught.value.column) == (where, *place)
    assert f"config.json:{place[0]}:{place[1]}: " in str(caught.value)


def test_a_file_without_end_is_no_config(tmp_path: Path) -> None:
    (tmp_path / "endless.json").touch()
    os.truncate(tmp_path / "endless.json", CONFIG_FILE_BYTES.high + 1)
    with pytest.raises(ConfigError, match=f"is longer than {CONFIG_FILE_BYTES.high} bytes"):
        load_config(tmp_path, explicit=tmp_path / "endless.json")


def test_the_nearest_project_wins_over_the_user(tmp_path: Path) -> None:
    _write(tmp_path / "user/config.json", {"engines": {"a": LLM, "b": LLM}, "defaults": {"engine": "a"}})
    _write(tmp_path / ".akm/config.json", {"defaults": {"engine": "outer"}})
    project = {"engines": {"a": {**LLM, "model": "big"}}, "workflow": {"judgeEngine": "a"}}
    config = _load(tmp_path, project)
    assert sorted(config.engines) == ["a", "b"]
    assert (config.engines["a"].model, config.default_engine) == ("big", "a")
    assert [file.parent.name for file in config.files] == [".akm", "user"]


def test_an_explicit_file_stands_for_the_project(tmp_path: Path) -> None:
    _write(tmp_path / "p/.akm/config.json", {"defaults": {"engine": "near"}})
    file = _write(tmp_path / "conf/two.json", {"bundles": {"team": "team"}})
    config = load_config(tmp_path / "p", file, {"AKM_CONFIG_DIR": str(tmp_path / "user")})
    assert config is not None
    assert (config.default_engine, config.bundles) == (None, {"team": tmp_path / "conf/team"})
    with pytest.raises(ConfigError, match="no such file"):
        load_config(tmp_path, tmp_path / "absent.json", {"AKM_CONFIG_DIR": str(tmp_path / "user")})


def test_alias_tables_in_order(tmp_path: Path) -> None:
    _write(tmp_path / "user/models.json", {"version": 1, "aliases": {"fast": {"*": "user"}}})
    _write(tmp_path / "p/.akm/models.json", {"version": 1, "aliases": {"fast": {"*": "beside"}}})
    config = _load(tmp_path, {"modelAliases": {"fast": {"*": "config"}}})
    assert [table.get("fast", {}).get("*") for table in config.aliases] == ["config", "beside", "user", None]
    assert "claude" in config.aliases[-1]["fast"]


def test_models_json_is_strict(tmp_path: Path) -> None:
    _write(tmp_path / "user/models.json", {"version": 2, "aliases": {}})
    with pytest.raises(ConfigError, match='expected "version": 1'):
        _load(tmp_path, {})


def test_user_folder_by_platform() -> None:
    home = {"HOME": "/home/u"}
    assert user_folder(home, "linux") == Path("/home/u/.config/akm")
    assert user_folder({**home, "XDG_CONFIG_HOME": "/x"}, "linux") == Path("/x/akm")
    assert user_folder(home, "darwin") == Path("/home/u/Library/Application Support/akm")
    assert user_folder({**home, "APPDATA": "/roam"}, "win32") == Path("/roam/akm")
    assert user_folder({**home, "AKM_CONFIG_DIR": "/own"}, "linux") == Path("/own")
