"""``akmc schema``."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from akm_schemas import publish
from akmc.cli import run
from akmc_grammar.rules import RULES

NAMES = sorted([*(path.stem for path in publish.FOLDER.glob("*.json")), "akm-diff"])
BROKEN = (
    "---\nsteps: [{id: a, inputs: [steps.b.output]}, {id: a}, {id: b, gate: {max_loops: 2}}]\n---\n## a\nX.\n## B\n"
)


def test_the_list_names_every_schema_with_its_title(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["schema"]) == 0
    rows = [line.split(maxsplit=1) for line in capfd.readouterr().out.splitlines()]
    assert [name for name, _ in rows] == NAMES
    assert all(title for _, title in rows)


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_printed_as_it_is(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", name]) == 0
    printed = capfd.readouterr().out
    if name != "akm-diff":
        assert printed == (publish.FOLDER / f"{name}.json").read_text(encoding="utf-8")
    assert json.loads(printed)["title"]
    for word in (f"{name}.json", name.partition("-")[2]):
        assert run(["schema", word]) == 0
        assert capfd.readouterr().out == printed


def test_an_unknown_name_names_the_nearest(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "akm-workflows"]) == 2
    captured = capfd.readouterr()
    assert captured.out == "" and 'did you mean "akm-workflow"?' in captured.err


def test_a_schema_is_written_with_what_it_refers_to(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "editor" / "schemas"
    assert run(["schema", "-o", str(folder), "workflow"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["akm-asset-envelope.json", "akm-workflow.json"]
    assert run(["schema", "-o", str(folder)]) == 0
    assert sorted(path.stem for path in folder.iterdir()) == NAMES
    captured = capfd.readouterr()
    assert captured.out == "" and 'akm-workflow.json"' in captured.err


def test_a_folder_that_cannot_be_made_is_a_usage_fault(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert run(["schema", "-o", str(tmp_path / "file" / "x")]) == 2
    assert "cannot make" in capfd.readouterr().err


def test_the_output_of_check_satisfies_its_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows" / "a.md").write_text(BROKEN)
    (tmp_path / "workflows" / "c.yml").write_text(
        'name: c\n"on": {workflow_dispatch: }\njobs: {a: {runs-on: [self-hosted], steps: []}, b: {}}\n'
    )
    schema = json.loads((publish.FOLDER / "akmc-check.json").read_text(encoding="utf-8"))
    validator = jsonschema.Draft7Validator(schema)
    assert run(["check", "--format", "json"]) == 1
    report = json.loads(capfd.readouterr().out)
    validator.validate(report)
    assert len(report["diagnostics"]) > 3 and any(item["notes"] for item in report["diagnostics"])
    assert {"usageCode"} <= {key for item in report["diagnostics"] for key in item}
    assert run(["check", "--format", "jsonl"]) == 1
    lines = capfd.readouterr().out.splitlines()
    assert [json.loads(line) for line in lines] == report["diagnostics"]


def test_the_schema_of_check_knows_every_rule() -> None:
    schema = json.loads((publish.FOLDER / "akmc-check.json").read_text(encoding="utf-8"))
    properties = schema["definitions"]["diagnostic"]["properties"]
    for rule in RULES.values():
        row = {"code": rule.code, "rule": rule.name, "severity": rule.severity, "usageCode": rule.usage_code}
        for name, value in row.items():
            if value is not None:
                jsonschema.Draft7Validator(properties[name]).validate(value)
    codes = {rule.usage_code for rule in RULES.values() if rule.usage_code}
    assert set(properties["usageCode"]["enum"]) == codes


def test_the_page_about_editors_names_schemas_that_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "editors.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\b(akmc?-[a-z-]+)\.json", page))
    assert named == set(NAMES)
    modeline = re.search(r"```yaml\n(# yaml-language-server: .*?)```", page, re.DOTALL)
    assert modeline is not None
    monkeypatch.chdir(tmp_path)
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows" / "nightly.yml").write_text(modeline[1])
    assert run(["check", "--strict"]) == 0
    capfd.readouterr()
    for block in re.findall(r"```json\n(.*?)```", page, re.DOTALL):
        assert json.loads(block)
