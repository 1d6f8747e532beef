"""The published JSON Schemas: fresh, valid, complete, and regular expressions that mean one thing everywhere."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akm_schemas import bounds, keys, publish
from akm_schemas.schema_patterns import TIMEOUT, at_most, without_case
from akm_schemas.task_keys import TASK
from akm_schemas.yaml_keys import YAML_JOB, YAML_ROOT, YAML_STEP

FILES = sorted(path.name for path in publish.FOLDER.glob("*.json"))


def schema(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((publish.FOLDER / name).read_text(encoding="utf-8"))
    return found


def members(value: Any) -> Iterator[dict[str, Any]]:
    """Every object inside a schema, itself included."""
    if isinstance(value, dict):
        yield value
    for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from members(child)


def patterns() -> list[str]:
    """Every regular expression of every published schema."""
    found = {
        part[name]
        for file in FILES
        for part in members(schema(file))
        for name in ("pattern",)
        if isinstance(part.get(name), str)
    }
    return sorted(found | {"^x-"})


def test_the_generated_files_are_fresh() -> None:
    for name, text in publish.texts().items():
        path = publish.FOLDER / name
        assert path.read_text(encoding="utf-8") == text, f"{name} is stale: run python -m akm_schemas.publish"


def test_publishing_writes_what_changed_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "new"
    assert publish.main([str(folder)]) == 0
    assert sorted(path.name for path in folder.iterdir()) == sorted(publish.GENERATED)
    capsys.readouterr()
    (folder / "akm-task.json").write_text("{}")
    assert publish.main([str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder / 'akm-task.json'}\n"


@pytest.mark.parametrize("name", FILES)
def test_each_is_a_titled_schema_of_its_draft(name: str) -> None:
    document = schema(name)
    assert document["$schema"] == publish.DRAFT and document["$id"] == name
    assert document["title"] and document["description"]
    jsonschema.Draft7Validator.check_schema(document)


@pytest.mark.parametrize("name", FILES)
def test_references_lead_somewhere_and_definitions_are_used(name: str) -> None:
    document, used = schema(name), set()
    for part in members(document):
        if not isinstance(part.get("$ref"), str):
            continue
        file, _, pointer = part["$ref"].partition("#")
        here: Any = schema(file) if file else document
        for step in pointer.strip("/").split("/"):
            here = here[step]
        assert isinstance(here, dict)
        used.add(part["$ref"])
    assert {f"#/definitions/{each}" for each in document.get("definitions", {})} <= used


@pytest.mark.parametrize(
    ("name", "record", "pointer"),
    [
        ("akm-workflow.json", keys.WORKFLOW, ()),
        ("akm-workflow.json", keys.STEP, ("definitions", "step")),
        ("akm-workflow.json", keys.UNIT, ("definitions", "unit")),
        ("akm-workflow.json", keys.LLM, ("definitions", "llm")),
        ("akm-workflow-yaml.json", YAML_ROOT, ()),
        ("akm-workflow-yaml.json", YAML_JOB, ("definitions", "job")),
        ("akm-workflow-yaml.json", YAML_STEP, ("definitions", "step")),
        ("akm-task.json", TASK, ()),
    ],
)
def test_records_are_closed_and_speak_in_the_words_of_the_table(
    name: str, record: keys.Record, pointer: tuple[str, ...]
) -> None:
    part = schema(name)
    for step in pointer:
        part = part[step]
    assert part["additionalProperties"] is False
    assert list(part["properties"]) == [key.name for key in record.keys]
    assert part.get("required", []) == [key.name for key in record.keys if key.required]
    for key in record.keys:
        assert part["properties"][key.name]["description"].rstrip(".").lower() == key.doc.lower()


def test_the_envelope_is_shared_by_reference_and_open_by_itself() -> None:
    envelope, workflow = schema("akm-asset-envelope.json"), schema("akm-workflow.json")
    assert "additionalProperties" not in envelope
    for key in keys.ENVELOPE:
        assert key.name in envelope["properties"]
        if key.name != "type":
            assert workflow["properties"][key.name]["$ref"] == f"akm-asset-envelope.json#/properties/{key.name}"
    assert workflow["properties"]["type"]["enum"] == ["workflow"]
    assert jsonschema.Draft7Validator(envelope).is_valid({"type": "command", "model": "m"})


# ---- regular expressions ----


@pytest.mark.parametrize("pattern", patterns())
def test_patterns_keep_to_what_every_engine_reads_alike(pattern: str) -> None:
    re.compile(pattern)
    assert pattern.isascii() and "(?P" not in pattern and "(?i" not in pattern
    for escape in re.findall(r"\\(u[0-9a-f]{4}|.)", pattern):
        # With the flag u, ECMA-262 refuses needless escapes; classes such as \w and \s differ between engines.
        assert escape[0] in "unt.[]{}$\\" or len(escape) == 5, escape
    assert pattern.endswith(r"$(?!\n)") or pattern in ("^x-", r"\$\{\{")


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node here to ask")
def test_patterns_mean_the_same_in_ecmascript() -> None:
    texts = [
        *(
            "",
            "x",
            "x\n",
            "1x",
            "x-y",
            "x--y",
            "akm-x",
            "a..b",
            "..",
            "a/..",
            "../a",
            "/a",
            "a//b",
            "a/",
            "C:a",
            "a\\b",
        ),
        *("~", "a\0b", "a\x7f", "none", "1s", "0s", "2147483647", "2147483648", "35791m", "35792m", "params.x"),
        *("steps.a.output", "steps.a.output[01]", "steps.a.output[0].b", "model", "M-o_del", "to\u212aen", "tokens"),
        *("ap\u0130key", "echo a", "A=1 b", "echo $x", "a | b", "akm/command", "team//tasks/a/b", "tasks/.a", "x-y"),
        *("0 6 * * *", "* * * *", "@daily", "a ${{ b }}", "\u2028", "é", "AKM_X", "x" * 64),
    ]
    asked = patterns()
    program = (
        "const [patterns, texts] = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
        "console.log(JSON.stringify(patterns.map(p => { const r = new RegExp(p, 'u');"
        " return texts.map(t => r.test(t)); })));"
    )
    done = subprocess.run(
        ["node", "-e", program], input=json.dumps([asked, texts]), capture_output=True, text=True, check=True
    )
    ours = [[re.search(pattern, text) is not None for text in texts] for pattern in asked]
    assert json.loads(done.stdout) == ours
    assert any(map(any, ours)) and not all(map(all, ours))


@settings(max_examples=100)
@given(high=st.integers(1, 10**10), value=st.integers(0, 10**11), zeros=st.integers(0, 3))
def test_at_most_counts(high: int, value: int, zeros: int) -> None:
    pattern = re.compile(at_most(high))
    for number in (value, high, high + 1, high - 1, 10 ** len(str(high))):
        matched = pattern.fullmatch("0" * zeros + str(number)) is not None
        assert matched == (1 <= number <= high), (high, number)


def test_durations_end_where_the_bound_does() -> None:
    high = bounds.TIMEOUT_MS.high
    for unit, scale in (("", 1), ("ms", 1), ("s", 1000), ("m", 60_000)):
        assert re.fullmatch(TIMEOUT.body, f"{high // scale}{unit}")
        assert not re.fullmatch(TIMEOUT.body, f"{high // scale + 1}{unit}")


def test_only_two_letters_beyond_ascii_become_ascii_in_lower_case() -> None:
    odd = {chr(code) for code in range(128, 0x110000) if re.search("[a-z0-9]", chr(code).lower())}
    assert odd == {"\u0130", "\u212a"}


@given(st.text(alphabet="tokenTOKEN\u212a\u0130-_ .é1i", max_size=12))
def test_names_are_compared_without_case_and_punctuation(name: str) -> None:
    bare = re.sub(r"[^a-z0-9]", "", name.lower())
    for word in ("token", "tokeni"):
        assert (re.fullmatch(without_case(word), name) is not None) == (bare == word)
