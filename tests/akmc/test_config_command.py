"""``akmc config``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from akm_schemas import publish
from akmc.cli import run
from akmc.faults import CONFIG, FOUND, USAGE

Write = Callable[[Mapping[str, str]], Path]
Capture = pytest.CaptureFixture[str]
URL = "http://127.0.0.1:9/v1/chat/completions"
LLM = {"kind": "llm", "endpoint": URL, "model": "tiny"}
PROJECT = {
    "engines": {"local": LLM},
    "workflow": {"maxConcurrency": 3},
    "modelAliases": {"gpt-4.1": {"*": "exact"}},
}
USER = {"engines": {"local": {**LLM, "model": "other"}, "far": LLM}, "defaults": {"engine": "far"}}


@pytest.fixture
def project(write: Write) -> Path:
    """A project's config beside a user's."""
    return write({".akm/config.json": json.dumps(PROJECT), "no-user-config/config.json": json.dumps(USER)})


def got(capfd: Capture, *words: str, status: int = 0) -> str:
    """What ``akmc config`` prints; standard error must be empty exactly when it goes well."""
    capfd.readouterr()
    assert run(["config", *words]) == status, capfd.readouterr().err
    captured = capfd.readouterr()
    if status:
        assert captured.err.startswith("akmc: ") and "\n  help: " in captured.err
    return captured.out if status == 0 else captured.err


def test_what_counts_is_the_project_over_the_user(project: Path, capfd: Capture) -> None:
    assert got(capfd, "get", "engines.local.model") == "tiny\n"
    assert got(capfd, "get", "defaults.engine") == "far\n"
    assert got(capfd, "get", "workflow.maxConcurrency") == "3\n"
    assert json.loads(got(capfd, "get", "engines.far")) == LLM
    assert got(capfd, "get", 'modelAliases."gpt-4.1".*') == "exact\n"
    assert got(capfd, "get", "--format", "json", "defaults.engine") == '"far"\n'
    assert got(capfd, "get", "--user", "engines.local.model") == "other\n"


def test_list_is_sorted_and_says_where_from(project: Path, capfd: Capture) -> None:
    lines = got(capfd, "list").splitlines()
    assert lines == [
        'defaults.engine = "far"',
        f'engines.far.endpoint = "{URL}"',
        'engines.far.kind = "llm"',
        'engines.far.model = "tiny"',
        f'engines.local.endpoint = "{URL}"',
        'engines.local.kind = "llm"',
        'engines.local.model = "tiny"',
        'modelAliases."gpt-4.1".* = "exact"',
        "workflow.maxConcurrency = 3",
    ]
    assert lines[0].split(" = ")[0] in got(capfd, "list", "--user")
    origins = got(capfd, "list", "--origin").splitlines()
    assert origins[0].endswith("no-user-config/config.json)") and origins[-1].endswith(".akm/config.json)")
    whole = json.loads(got(capfd, "list", "--format", "json"))
    assert whole["engines"]["local"]["model"] == "tiny" and whole["defaults"] == {"engine": "far"}


def test_nothing_is_set(bundle: Path, capfd: Capture) -> None:
    assert got(capfd, "list") == ""
    assert '"workflow.judgeEngine" is not set' in got(capfd, "get", "workflow.judgeEngine", status=FOUND)


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("defaults.engine", "far", "far"),
        ("workflow.maxConcurrency", "12", 12),
        ("workflow.judgeEngine", "12", "12"),
        ("engines.local.temperature", "0.5", 0.5),
        ("engines.local.supportsJsonSchema", "true", True),
        ("engines.local.extraParams", '{"seed": 1}', {"seed": 1}),
        ("engines.local.modelAliases.fast", "tiny-1", "tiny-1"),
        ("engines.coder", '{"kind": "agent", "platform": "claude", "args": ["-x"]}', None),
        ("bundles.team", "../team", "../team"),
        ('modelAliases."a.b".llm', '{"engine": "local"}', {"engine": "local"}),
        ("modelAliases.fast.local", "tiny", "tiny"),
    ],
)
def test_values_have_the_type_of_their_key(project: Path, capfd: Capture, name: str, value: str, stored: Any) -> None:
    got(capfd, "set", name, value)
    found = json.loads(got(capfd, "get", "--format", "json", name))
    assert found == (json.loads(value) if stored is None else stored) and type(found) is not type(None)
    whole = json.loads((project / ".akm/config.json").read_text())
    schema = json.loads((publish.FOLDER / "akm-config.json").read_text())
    jsonschema.Draft7Validator(schema).validate(whole)


def test_an_engine_is_made_in_one_call(bundle: Path, capfd: Capture) -> None:
    words = ["engines.a.kind", "llm", "engines.a.model", "m", "engines.a.endpoint", URL, "defaults.engine", "a"]
    got(capfd, "set", *words)
    text = (bundle / ".akm" / "config.json").read_text()
    assert json.loads(text) == {
        "engines": {"a": {"kind": "llm", "model": "m", "endpoint": URL}},
        "defaults": {"engine": "a"},
    }
    assert "in one call" in got(capfd, "set", "engines.b.kind", "llm", status=USAGE)
    assert (bundle / ".akm" / "config.json").read_text() == text


def test_the_rest_keeps_its_form(write: Write, capfd: Capture) -> None:
    text = '{\n\t"workflow" : { "maxConcurrency":2 },\n\n\t"bundles": {}\n}\n'
    root = write({".akm/config.json": text})
    (root / "deep" / "er").mkdir(parents=True)
    got(capfd, "set", "workflow.maxConcurrency", "5")
    assert (root / ".akm/config.json").read_text() == text.replace("2", "5")


def test_which_file_is_set(project: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "workflows").mkdir()
    monkeypatch.chdir(project / "workflows")
    got(capfd, "set", "defaults.engine", "local")
    assert json.loads((project / ".akm/config.json").read_text())["defaults"] == {"engine": "local"}
    got(capfd, "set", "--user", "defaults.engine", "local")
    assert json.loads((project / "no-user-config/config.json").read_text())["defaults"] == {"engine": "local"}
    got(capfd, "set", "--config", "own/c.json", "defaults.engine", "x")
    assert (project / "workflows/own/c.json").read_text() == '{\n  "defaults": {\n    "engine": "x"\n  }\n}\n'
    assert got(capfd, "get", "--config", "own/c.json", "defaults.engine") == "x\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["get", "workflow.maxConcurency"], 'did you mean "maxConcurrency"?'),
        (["get", "enginse"], 'did you mean "engines"?'),
        (["get", "defaults.engine.x"], "is one value"),
        (["get", "a..b"], "is no name"),
        (["get", ""], "is no name"),
        (["get", '"\\q"'], "no quoted word"),
        (["get"], "one NAME"),
        (["list", "x"], "no NAME"),
        (["set", "defaults.engine"], "NAME VALUE pairs"),
        (["unset"], "takes NAMEs"),
        (["unset", "workflow.maxConcurency"], 'did you mean "maxConcurrency"?'),
        (["unset", "a..b"], "is no name"),
        (["unset", "engines.local.model"], 'lacks the key "model"'),
        (["set", "workflow.maxConcurrency", "four"], "takes an integer"),
        (["set", "workflow.maxConcurrency", "65"], "1 to 64, found 65"),
        (["set", "workflow.maxConcurrency", '"4"'], "takes an integer"),
        (["set", "engines.local.supportsJsonSchema", "yes"], "true or false"),
        (["set", "engines.local.apiKey", "sk-geheim"], "environment variable"),
        (["set", "engines.local.platform", "claude"], "has no key"),
        (["set", "engines.local.kind", "lm"], 'did you mean "llm"?'),
        (["set", "engines.Local", json.dumps(LLM)], "no engine name"),
        (["set", "bundles.team", ""], "not empty"),
        (["set", "bundles.team", "a\udcff"], "to be UTF-8"),
        (["set", "engines.local.args", "-x"], "No such option"),
        (["set", "--user", "--config", "c.json", "defaults.engine", "x"], "exclude"),
    ],
)
def test_calls_that_make_no_sense_write_nothing(project: Path, capfd: Capture, words: list[str], says: str) -> None:
    before = (project / ".akm/config.json").read_bytes()
    said = got(capfd, *words, status=USAGE)
    assert says in said and "sk-geheim" not in said
    assert (project / ".akm/config.json").read_bytes() == before


def test_null_is_no_text_and_a_bundle_has_a_name_that_refs_can_say(project: Path, capfd: Capture) -> None:
    before = (project / ".akm/config.json").read_bytes()
    assert "akmc config unset defaults.engine" in got(capfd, "set", "defaults.engine", "null", status=USAGE)
    assert '"a//b" is no name of a bundle' in got(capfd, "set", "bundles", '{"a//b": "x"}', status=USAGE)
    assert (project / ".akm/config.json").read_bytes() == before


def test_origins_as_json(write: Write, capfd: Capture) -> None:
    root = write({".akm/config.json": '{"defaults": {"engine": "x"}, "bundles": {}}'})
    told = json.loads(got(capfd, "list", "--origin", "--format", "json"))
    assert told == {"defaults.engine": {"value": "x", "file": str(root / ".akm/config.json")}}


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1, "a": 2}', '{\n "workflow": {\n  "maxConcurrency": 65}}'])
def test_a_faulty_config_has_a_place(write: Write, capfd: Capture, text: str) -> None:
    root = write({".akm/config.json": text})
    assert "config.json" in got(capfd, "list", status=CONFIG)
    if "\n" in text:
        assert "config.json:3:3: workflow.maxConcurrency" in got(capfd, "get", "defaults.engine", status=CONFIG)
        got(capfd, "set", "workflow.maxConcurrency", "4")  # mends it
        assert got(capfd, "get", "workflow.maxConcurrency") == "4\n"
    else:
        got(capfd, "set", "defaults.engine", "x", status=CONFIG)
        assert (root / ".akm/config.json").read_text() == text


def test_an_absent_config_that_was_named(bundle: Path, capfd: Capture) -> None:
    assert "there is no such file" in got(capfd, "list", "--config", "c.json", status=CONFIG)


def test_the_file_is_named_alike_whether_it_is_new_or_not(
    bundle: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = str(Path(".akm") / "config.json")
    for words in (("set", "defaults.engine", "a"), ("set", "defaults.engine", "b"), ("unset", "defaults.engine")):
        assert run(["config", *words]) == 0
        assert capfd.readouterr().err == f"akmc: {words[0]} defaults.engine in {own}\n"
    assert f"is not set in {own}: nothing" in got(capfd, "unset", "defaults.engine", status=1)
    (bundle / "deep").mkdir()
    monkeypatch.chdir(bundle / "deep")
    assert run(["config", "set", "defaults.engine", "a"]) == 0
    assert capfd.readouterr().err == f"akmc: set defaults.engine in {bundle / own}\n"


def test_unset_removes_and_keeps_the_rest(project: Path, capfd: Capture) -> None:
    file = project / ".akm/config.json"
    got(capfd, "unset", 'modelAliases."gpt-4.1"', "workflow.maxConcurrency")
    assert json.loads(file.read_text()) == {"engines": {"local": LLM}, "workflow": {}, "modelAliases": {}}
    got(capfd, "unset", "--user", "defaults.engine")
    assert "not set" in got(capfd, "get", "defaults.engine", status=FOUND)
    got(capfd, "unset", "engines")
    assert got(capfd, "get", "engines.local.model") == "other\n", "the user's counts again"


def test_unset_of_what_is_not_set_there_writes_nothing(project: Path, capfd: Capture) -> None:
    file = project / ".akm/config.json"
    before = file.read_bytes()
    assert '"defaults.engine" is not set' in got(capfd, "unset", "defaults.engine", status=FOUND)  # the user's has it
    assert "not all" in got(capfd, "unset", "engines.local", "bundles.team", status=FOUND)
    assert file.read_bytes() == before
    absent = project / "other.json"
    got(capfd, "unset", "--config", str(absent), "workflow.maxConcurrency", status=FOUND)
    assert not absent.exists()


def test_unset_mends_a_key_that_no_config_has(write: Write, capfd: Capture) -> None:
    root = write({".akm/config.json": '{"workflows": {"x": 1}, "defaults": {"engine": "a"}}\n'})
    got(capfd, "unset", "workflows")
    assert (root / ".akm/config.json").read_text() == '{"defaults": {"engine": "a"}}\n'
