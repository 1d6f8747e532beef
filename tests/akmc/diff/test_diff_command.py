"""``akmc diff`` on real files and a real git repository."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from akmc.cli import run

SOURCE = """\
---
steps:
  - id: build
    unit: {exec: {command: [make, all]}}
---
## build
Builds.
"""
ASK = """\
---
steps:
  - id: ask
---
## ask
Collect the blue files.
"""
CONFIG = {
    "engines": {"local": {"kind": "llm", "endpoint": "http://127.0.0.1:9/v1/chat/completions", "model": "m"}},
    "defaults": {"engine": "local"},
}

Akmc = Callable[..., tuple[int, str, str]]


@pytest.fixture
def akmc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Akmc:
    """Runs a command in an empty bundle: (status, standard output, standard error)."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    Path("workflows").mkdir()

    def call(*arguments: str) -> tuple[int, str, str]:
        status = run(arguments)
        captured = capsysbinary.readouterr()
        return status, captured.out.decode(), captured.err.decode()

    return call


def _write(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


def _commit(*paths: str) -> None:
    for arguments in (
        ["init", "-q", "."],
        ["add", *paths],
        [
            "-c",
            "user.name=T",
            "-c",
            "user.email=t@example.invalid",
            "-c",
            "commit.gpgsign=false",
            "commit",
            "-qm",
            "one",
        ],
    ):
        subprocess.run(["git", *arguments], check=True)


def _frozen(akmc: Akmc) -> None:
    _write("workflows/a.md", SOURCE)
    assert akmc("compile", "workflows/a.md", "-o", "old.json")[0] == 0


def test_a_plan_equals_its_source(akmc: Akmc) -> None:
    _frozen(akmc)
    status, out, _ = akmc("diff", "--exit-code", "old.json", "workflows/a.md")
    assert (status, out) == (0, "old.json -> workflows/a.md: the plans are equal\n")


def test_exit_status_says_what_was_asked(akmc: Akmc) -> None:
    _frozen(akmc)
    _write("workflows/a.md", SOURCE.replace("all", "install"))
    assert akmc("diff", "old.json", "workflows/a.md")[0] == 0
    assert akmc("diff", "--exit-code", "old.json", "workflows/a.md")[0] == 1
    assert akmc("diff", "--fail-on", "breaking,security", "old.json", "workflows/a.md")[0] == 1
    assert akmc("diff", "--fail-on", "breaking", "old.json", "workflows/a.md")[0] == 0
    assert akmc("diff", "--summary", "old.json", "workflows/a.md")[1] == "1 security\n"


@pytest.mark.parametrize("format_name", ["text", "json", "markdown", "html"])
def test_every_format_keeps_the_exit_status(akmc: Akmc, format_name: str) -> None:
    _frozen(akmc)
    _write("workflows/a.md", SOURCE.replace("all", "install"))
    status, out, err = akmc("diff", "--exit-code", "--format", format_name, "old.json", "workflows/a.md")
    assert (status, err) == (1, "")
    assert "install" in out


def test_a_comment_is_provenance(akmc: Akmc) -> None:
    _frozen(akmc)
    _write("workflows/a.md", SOURCE.replace("steps:", "steps:  # all of them"))
    found: Any = json.loads(akmc("diff", "--format", "json", "old.json", "workflows/a.md")[1])
    assert [change["class"] for change in found["changes"]] == ["provenance"]
    assert found["equal"] is False


def test_a_revision_against_the_working_tree(akmc: Akmc) -> None:
    _write("workflows/a.md", SOURCE)
    _commit("workflows")
    assert akmc("diff", "--exit-code", "HEAD:workflows/a.md", "workflows/a.md")[0] == 0
    _write("workflows/a.md", SOURCE.replace("all", "install"))
    status, out, _ = akmc("diff", "--exit-code", "HEAD:workflows/a.md", "workflows/a.md")
    assert status == 1
    assert "runs `make install`, ran `make all`" in out
    assert akmc("diff", "--exit-code", "HEAD:workflows/a.md", "HEAD:workflows/a.md")[0] == 0


def test_a_revision_uses_the_working_trees_config_when_it_has_none(akmc: Akmc) -> None:
    _write("workflows/a.md", ASK)
    _commit("workflows")
    _write(".akm/config.json", json.dumps(CONFIG))
    assert akmc("diff", "--exit-code", "HEAD:workflows/a.md", "workflows/a.md")[0] == 0


def test_a_revision_uses_its_own_config(akmc: Akmc) -> None:
    _write("workflows/a.md", ASK)
    _write(".akm/config.json", json.dumps(CONFIG))
    _commit("workflows", ".akm")
    _write(".akm/config.json", json.dumps(CONFIG).replace(":9/", ":10/"))
    status, out, _ = akmc("diff", "--fail-on", "security", "HEAD:workflows/a.md", "workflows/a.md")
    assert status == 1
    assert "engine endpoint is" in out


def test_a_side_at_fault_shows_its_findings_under_its_own_name(akmc: Akmc) -> None:
    _write("workflows/a.md", SOURCE.replace("## build", "## biuld"))
    _commit("workflows")
    _write("workflows/a.md", SOURCE)
    status, out, err = akmc("diff", "HEAD:workflows/a.md", "workflows/a.md")
    assert (status, out) == (2, "")
    assert "--> HEAD:workflows/a.md:6:4" in err
    assert "unexpected-heading" in err
    assert 'akmc: "HEAD:workflows/a.md" does not freeze' in err


def test_calls_that_make_no_sense(akmc: Akmc) -> None:
    _frozen(akmc)
    assert akmc("diff", "old.json", "gone.json")[0] == 2
    assert akmc("diff", "-", "-")[0] == 2
    status, _, err = akmc("diff", "--fail-on", "breaks", "old.json", "old.json")
    assert status == 2
    assert 'there is no class "breaks"' in err
