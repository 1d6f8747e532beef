"""``akmc check`` as a person runs it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from akmc.cli import run
from akmc.faults import CONFIG, INTERNAL
from akmc_grammar import markdown

Write = Callable[[Mapping[str, str]], Path]
Run = Callable[..., "subprocess.CompletedProcess[str]"]
Capture = pytest.CaptureFixture[str]

CLEAN = "---\nsteps:\n  - id: build\n---\n## build\nGo.\n"
STRAY = CLEAN + "\n## stray\nNo.\n"
WARNS = "---\nsteps:\n  - id: build\n    gate: {max_loops: 2}\n---\n## build\nGo.\n"


def found(capfd: Capture, *arguments: str) -> tuple[int, list[tuple[Any, ...]]]:
    status = run(["check", "--format", "json", *arguments])
    document = json.loads(capfd.readouterr().out)
    return status, [(item["rule"], item["path"], item["line"]) for item in document["diagnostics"]]


def test_text_whole(write: Write, capfd: Capture) -> None:
    write({"workflows/a.md": STRAY})
    assert run(["check", "workflows/a.md"]) == 1
    captured = capfd.readouterr()
    assert captured.out.startswith("error[AKM0401 unexpected-heading]: ")
    assert "\n --> workflows/a.md:8:4\n  |\n8 | ## stray\n  |    ^^^^^\n" in captured.out
    assert captured.err == "1 file checked: 1 error\n"


@pytest.mark.parametrize(
    ("text", "strict", "status"), [(CLEAN, True, 0), (WARNS, False, 0), (WARNS, True, 1), (STRAY, False, 1)]
)
def test_status(write: Write, text: str, strict: bool, status: int) -> None:
    write({"workflows/a.md": text})
    assert run(["check", *(["--strict"] if strict else [])]) == status


def test_findings_are_sorted_and_complete(write: Write, capfd: Capture) -> None:
    write({"workflows/b.md": STRAY, "workflows/a.md": WARNS + "\n## x\nNo.\n"})
    assert found(capfd, "workflows/b.md", "workflows/a.md") == (
        1,
        [
            ("inert-gate", "workflows/a.md", 4),
            ("unexpected-heading", "workflows/a.md", 9),
            ("unexpected-heading", "workflows/b.md", 8),
        ],
    )


def test_a_missing_path_among_others(write: Write, capfd: Capture) -> None:
    write({"workflows/a.md": STRAY})
    assert run(["check", "workflows/absent.md", "workflows/a.md"]) == 2
    captured = capfd.readouterr()
    assert "## stray" in captured.out and "absent.md" in captured.err and "absent.md" not in captured.out


def test_unreadable_files_get_a_finding_of_their_own(write: Write, capfd: Capture) -> None:
    root = write({"workflows/a.md": STRAY, "workflows/latin.md": "---\nsteps: []\n---\n\udcff\n"})
    (root / "workflows" / "gone.md").symlink_to("nowhere")
    os.mkfifo(root / "workflows" / "pipe.md")
    status, findings = found(capfd)
    assert status == 1
    assert findings == [
        ("unexpected-heading", "workflows/a.md", 8),
        ("unreadable-source", "workflows/gone.md", 1),
        ("source-not-utf8", "workflows/latin.md", 4),
        ("unreadable-source", "workflows/pipe.md", 1),
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_and_folders_without_permission(write: Write, capfd: Capture) -> None:
    root = write({"workflows/a.md": CLEAN, "workflows/deep/b.md": CLEAN})
    (root / "workflows" / "a.md").chmod(0)
    (root / "workflows" / "deep").chmod(0)
    try:
        status, findings = found(capfd)
    finally:
        (root / "workflows" / "deep").chmod(0o700)
    assert status == 1
    assert findings == [("unreadable-source", f"workflows/{name}", 1) for name in ("a.md", "deep")]


def test_file_names_that_are_no_utf8(write: Write, capfd: Capture) -> None:
    write({"workflows/\udcff.md": STRAY, "workflows/a.md": STRAY})
    assert run(["check", "--format", "concise"]) == 2
    captured = capfd.readouterr()
    assert captured.out.startswith("workflows/a.md:8:4: error["), "the others are checked"
    assert '"workflows/\\xff.md" cannot be named in a plan: its path is not UTF-8' in captured.err


def test_yaml_extension_is_named_and_its_fix_renames(write: Write, capfd: Capture) -> None:
    root = write({"workflows/a.yaml": "name: A\n", "workflows/b.yaml": "name: B\n", "workflows/b.yml": "name: B\n"})
    status, findings = found(capfd, "workflows/a.yaml", "workflows/b.yaml")
    assert (status, [rule for rule, _, _ in findings]) == (1, ["unrecognised-extension"] * 2)
    run(["check", "--fix", "workflows/a.yaml", "workflows/b.yaml"])
    names = sorted(path.name for path in (root / "workflows").iterdir())
    assert names == ["a.yml", "b.yaml", "b.yml"]


def test_standard_input_under_a_name(akmc: Run, write: Write) -> None:
    write({"workflows/a.md": CLEAN})
    arguments = ("check", "--format", "json", "--stdin-filename", "workflows/a.md", "-")
    done = akmc(*arguments, stdin=STRAY)
    (item,) = json.loads(done.stdout)["diagnostics"]
    assert done.returncode == 1 and (item["path"], item["line"]) == ("workflows/a.md", 8)
    assert akmc(*arguments, stdin=CLEAN).returncode == 0
    assert akmc("check", "-", stdin=CLEAN).returncode == 0
    assert akmc("check", "--stdin-filename", "docs/a.md", "-", stdin=CLEAN).returncode == 2
    assert akmc("check", "--fix", "-", stdin=CLEAN).returncode == 2
    assert akmc("check", "--stdin-filename", "workflows/a.md").returncode == 2


def test_select_and_ignore_decide_the_status(write: Write, capfd: Capture) -> None:
    write({"workflows/a.md": WARNS + "\n## stray\nNo.\n"})
    assert found(capfd, "--ignore", "AKM0401") == (0, [("inert-gate", "workflows/a.md", 4)])
    assert found(capfd, "--select", "unexpected-heading") == (1, [("unexpected-heading", "workflows/a.md", 9)])
    assert found(capfd, "--select", "inert-gate", "--ignore", "inert-gate") == (0, [])
    assert run(["check", "--select", "no-such-rule"]) == 2


def test_a_faulty_config_is_said_once_and_hides_no_finding(write: Write, capfd: Capture) -> None:
    write({".akm/config.json": "{", "workflows/a.md": STRAY, "workflows/b.md": CLEAN})
    assert run(["check"]) == CONFIG
    captured = capfd.readouterr()
    assert "## stray" in captured.out and captured.err.count("config.json") == 1
    assert "checked:" not in captured.err
    assert run(["check", "--config", "absent.json"]) == CONFIG


def test_freeze_rules_run_with_freeze_or_with_a_config(write: Write, capfd: Capture) -> None:
    write({"workflows/a.md": CLEAN})
    assert found(capfd) == (0, [])
    assert found(capfd, "--freeze") == (1, [("no-engine", "workflows/a.md", 3)])
    write({".akm/config.json": "{}"})
    assert found(capfd) == (1, [("no-engine", "workflows/a.md", 3)])


def test_a_crash_shows_everything_else_and_writes_a_report(
    write: Write, capfd: Capture, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"workflows/a.md": STRAY, "workflows/b.md": CLEAN})
    reports = tmp_path_factory.mktemp("reports")
    read = markdown.read_markdown

    def crash_on_b(source: Any, **options: Any) -> Any:
        if source.name == "workflows/b.md":
            raise ValueError("unforeseen")
        return read(source, **options)

    monkeypatch.setattr(markdown, "read_markdown", crash_on_b)
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(reports))
        assert run(["check"]) == INTERNAL
    captured = capfd.readouterr()
    (report,) = reports.iterdir()
    assert "## stray" in captured.out and str(report) in captured.err and "Traceback" not in captured.err
    assert "ValueError: unforeseen" in report.read_text()


def test_nothing_is_called_clean_after_a_crash(
    write: Write, capfd: Capture, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    write({"workflows/a.md": CLEAN})

    def crash(program: Any, context: Any) -> Any:
        raise ValueError("unforeseen")

    monkeypatch.setattr("akmc_passes.references.run", crash)
    with monkeypatch.context() as patch:
        patch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("reports")))
        assert run(["check"]) == INTERNAL
    said = capfd.readouterr().err
    assert "no findings" not in said
    assert "1 file checked: not completely, an internal error came first\n" in said


def test_the_whole_file_set_is_read_in_one_process_quickly(write: Write, capfd: Capture) -> None:
    write({f"workflows/w{number}.md": STRAY for number in range(120)})
    status, findings = found(capfd)
    assert status == 1 and len(findings) == 120
