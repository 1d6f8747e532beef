"""The machine formats: JSON, JSON Lines, SARIF, GitHub, JUnit."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from akmc.render import FORMATS, render_report
from akmc.render.finding import Finding, FoundEdit, FoundFix, FoundNote, Report
from akmc_grammar.places import Span

MakeFinding = Callable[..., Finding]


def sample(make_finding: MakeFinding) -> Report:
    notes = (FoundNote("first declared here", "workflows/a.md", Span(1, 1, 1, 3)),)
    fix = FoundFix("rename", (FoundEdit(Span(2, 4, 2, 9), "build"),), True)
    findings = (
        replace(make_finding(notes=notes, help="say less"), fix=fix),
        make_finding(rule="inert-gate", span=Span(3, 1, 4, 2), message="idle"),
        make_finding(rule="composition-cycle", path="workflows/b c.md", message="a -> b"),
    )
    return Report(findings, ("workflows/a.md", "workflows/b c.md", "workflows/clean.md"), fixed=2)


def test_json_whole(make_finding: MakeFinding) -> None:
    document = json.loads(render_report(sample(make_finding), "json"))
    assert document["summary"] == {"files": 3, "errors": 2, "warnings": 1, "notes": 0, "fixed": 2}
    assert document["diagnostics"][0] == {
        "code": "AKM0401",
        "rule": "unexpected-heading",
        "severity": "error",
        "path": "workflows/a.md",
        "line": 2,
        "column": 4,
        "endLine": 2,
        "endColumn": 9,
        "message": "no step is called that",
        "help": "say less",
        "notes": [{"message": "first declared here", "path": "workflows/a.md", "line": 1, "column": 1}],
        "fixable": True,
    }
    assert document["diagnostics"][2]["usageCode"] == "COMPOSITION_INVALID"
    assert "usageCode" not in document["diagnostics"][1]


def test_json_lines_are_the_diagnostics_alone(make_finding: MakeFinding) -> None:
    report = sample(make_finding)
    lines = render_report(report, "jsonl").splitlines()
    assert [json.loads(line) for line in lines] == json.loads(render_report(report, "json"))["diagnostics"]
    assert render_report(Report((), ("a",)), "jsonl") == ""


def test_sarif_structure(make_finding: MakeFinding) -> None:
    document = json.loads(render_report(sample(make_finding), "sarif"))
    assert document["version"] == "2.1.0" and document["$schema"].endswith("sarif-schema-2.1.0.json")
    (run,) = document["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert run["tool"]["driver"]["name"] == "akmc" and run["columnKind"] == "unicodeCodePoints"
    assert [rule["id"] for rule in rules] == sorted({"AKM0401", "AKM0407", "AKM0804"})
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert rules[result["ruleIndex"]]["name"] == result["properties"]["rule"]
    first = run["results"][0]
    region = {"startLine": 2, "startColumn": 4, "endLine": 2, "endColumn": 9}
    assert first["level"] == "error"
    assert first["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "workflows/a.md"}, "region": region}}
    ]
    assert first["relatedLocations"][0]["message"] == {"text": "first declared here"}
    (change,) = first["fixes"][0]["artifactChanges"]
    assert change["replacements"] == [{"deletedRegion": region, "insertedContent": {"text": "build"}}]
    third = run["results"][2]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert third == "workflows/b%20c.md"


def test_sarif_of_odd_paths(make_finding: MakeFinding) -> None:
    paths = {"/tmp/a b.md": "file:///tmp/a%20b.md", "w/\udcff:ü.md": "w/%FF%3A%C3%BC.md", "../up.md": "../up.md"}
    for path, uri in paths.items():
        document = json.loads(render_report(Report((make_finding(path=path),), (path,)), "sarif"))
        location = document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        assert location["artifactLocation"]["uri"] == uri


def test_github_escapes(make_finding: MakeFinding) -> None:
    finding = make_finding(path="w/a,b:c%.md", message="50% of\nit: x, y", help="do")
    assert render_report(Report((finding,), ()), "github") == (
        "::error file=w/a%2Cb%3Ac%25.md,line=2,col=4,endLine=2,endColumn=9,title=unexpected-heading (AKM0401)"
        "::50%25 of%0Ait: x, y%0Ahelp: do\n"
    )


def test_github_levels(make_finding: MakeFinding) -> None:
    lines = render_report(sample(make_finding), "github").splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::warning", "::error"]
    assert "endColumn" not in lines[1]


@pytest.mark.parametrize(("strict", "failures"), [(False, 2), (True, 3)])
def test_junit_counts(make_finding: MakeFinding, strict: bool, failures: int) -> None:
    root = ET.fromstring(render_report(replace(sample(make_finding), strict=strict), "junit"))
    assert root.attrib == {"name": "akmc check", "tests": "4", "failures": str(failures), "errors": "0"}
    assert len(root.findall(".//failure")) == failures
    assert [suite.get("name") for suite in root] == ["workflows/a.md", "workflows/b c.md", "workflows/clean.md"]
    assert len(root.findall("./testsuite[@name='workflows/clean.md']/testcase")) == 1


def test_junit_of_characters_that_xml_cannot_carry(make_finding: MakeFinding) -> None:
    finding = make_finding(path="w/<\x00>\udcff.md", message='<&"\x1b\ufffe')
    root = ET.fromstring(render_report(Report((finding,), ()), "junit"))
    assert root[0].get("name") == "w/<\\x00>\\xff.md"


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_of_a_clean_run_is_well_formed(name: str) -> None:
    text = render_report(Report((), ("workflows/a.md",)), name)
    if name in ("json", "sarif"):
        assert json.loads(text)
    elif name == "junit":
        assert ET.fromstring(text).get("failures") == "0"
    else:
        assert text == ""
    text.encode()
