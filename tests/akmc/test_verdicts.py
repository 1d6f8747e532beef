"""Remembered verdicts save work and are never stale."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from akmc import checking
from akmc.cli import run
from akmc.session import verdicts

COUNT = checking.CACHED_FROM + 3
SOURCE = """\
---
params: {{topic: {{type: string}}}}
steps:
  - id: draft
    inputs: [params.topic]
---
# Flow {number}

## draft

Write about it.
"""
CLAUDE = '{"engines": {"c": {"kind": "agent", "platform": "claude"}}, "defaults": {"engine": "c"}}'


@pytest.fixture
def bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle with more workflows than are checked without looking at earlier verdicts; the working directory."""
    (tmp_path / ".akm").mkdir()
    (tmp_path / "workflows").mkdir()
    for number in range(COUNT):
        workflow(tmp_path, number).write_text(SOURCE.format(number=number))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "no-user-config"))
    return tmp_path


def workflow(bundle: Path, number: int) -> Path:
    return bundle / "workflows" / f"flow{number:03}.md"


def cache_files(bundle: Path) -> list[Path]:
    return sorted((bundle / ".akm" / "cache").glob("check-*"))


def test_a_second_check_looks_at_nothing_again(
    bundle: Path, analysed: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["check"]) == 0
    assert len(analysed) == COUNT
    first = capfd.readouterr()
    analysed.clear()
    assert run(["check"]) == 0
    assert analysed == []
    assert capfd.readouterr() == first
    assert (bundle / ".akm" / "cache" / ".gitignore").read_text() == "*\n"


@pytest.mark.skipif(os.name != "posix", reason="pipes are files on POSIX systems")
def test_a_pipe_in_the_place_of_the_verdicts_is_not_waited_for(bundle: Path, analysed: list[str]) -> None:
    assert run(["check"]) == 0
    (file,) = cache_files(bundle)
    file.unlink()
    os.mkfifo(file)
    assert run(["check"]) == 0
    assert len(analysed) == 2 * COUNT and file.is_file()


def test_a_changed_file_is_checked_again_and_a_finding_is_said_every_time(
    bundle: Path, analysed: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["check"]) == 0
    workflow(bundle, 7).write_text(SOURCE.format(number=7).replace("params.topic", "params.topik"))
    for _ in range(2):
        analysed.clear()
        assert run(["check"]) == 1
        assert analysed == ["flow007.md"]
        assert "unknown-param-reference" in capfd.readouterr().out


def test_another_name_is_another_verdict(bundle: Path, analysed: list[str]) -> None:
    assert run(["check"]) == 0
    analysed.clear()
    workflow(bundle, 3).rename(bundle / "workflows" / "renamed.md")
    assert run(["check"]) == 0
    assert analysed == ["renamed.md"]


def test_a_config_that_comes_or_changes_counts(
    bundle: Path, analysed: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["check"]) == 0
    config = bundle / ".akm" / "config.json"
    config.write_text('{"engines": {}}')
    assert run(["check"]) == 1
    assert "no-engine" in capfd.readouterr().out
    config.write_text(CLAUDE)
    assert run(["check"]) == 0
    analysed.clear()
    assert run(["check"]) == 0
    assert analysed == []
    config.write_text("{")
    assert run(["check"]) == 78
    assert len(analysed) == COUNT


def test_the_models_beside_the_config_count(bundle: Path) -> None:
    for number in range(COUNT):
        workflow(bundle, number).write_text(
            SOURCE.format(number=number).replace("steps:", "defaults: {model: mine}\nsteps:")
        )
    (bundle / ".akm" / "config.json").write_text(CLAUDE)
    models = bundle / ".akm" / "models.json"
    models.write_text('{"version": 1, "aliases": {"mine": {"claude": "m-1"}}}')
    assert run(["check"]) == 0
    models.write_text('{"version": 1, "aliases": {"mine": {"codex": "m-1"}}}')
    assert run(["check"]) == 1


def test_the_freeze_rules_have_verdicts_of_their_own(bundle: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["check"]) == 0
    assert run(["check", "--freeze"]) == 1
    assert "no-engine" in capfd.readouterr().out


def test_a_selection_hides_and_shows(bundle: Path) -> None:
    workflow(bundle, 5).write_text(
        SOURCE.format(number=5).replace(
            "draft\n\nWrite", "draft\n\n<!-- akm: allow[maybe-skipped-reference] -->\nWrite"
        )
    )
    assert run(["check", "--strict", "--ignore", "unused-allow"]) == 0
    assert run(["check", "--strict"]) == 1
    assert run(["check", "--strict", "--select", "wrong-type"]) == 0
    assert run(["check", "--strict"]) == 1


def test_a_changed_grandchild_is_seen(bundle: Path, capfd: pytest.CaptureFixture[str]) -> None:
    job = (
        "name: {name}\non: {{workflow_dispatch: {{}}}}\njobs:\n  main:\n    runs-on: [self-hosted]\n"
        "    steps:\n      - {{id: go, uses: {uses}}}\n"
    )
    folder = bundle / "workflows"
    (folder / "top.yml").write_text(job.format(name="top", uses="workflows/middle"))
    (folder / "middle.yml").write_text(job.format(name="middle", uses="workflows/leaf"))
    (folder / "leaf.md").write_text(
        SOURCE.format(number=0)
        .replace("params: {topic: {type: string}}\n", "")
        .replace("    inputs: [params.topic]\n", "")
    )
    assert run(["check"]) == 0, capfd.readouterr().out
    assert run(["check"]) == 0
    (folder / "leaf.md").write_text("---\nsteps: []\n---\n")
    assert run(["check"]) == 1
    shown = capfd.readouterr().out
    assert "leaf.md" in shown and "top.yml" in shown


def test_another_version_of_the_tool_starts_anew(
    bundle: Path, analysed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(["check"]) == 0
    analysed.clear()
    monkeypatch.setattr(verdicts, "fingerprint", lambda: "0" * 16)
    assert run(["check"]) == 0
    assert len(analysed) == COUNT
    assert len(cache_files(bundle)) == 2


def test_the_fingerprint_is_that_of_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "akm_probe"
    package.mkdir()
    (package / "__init__.py").write_text("A = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(verdicts, "_PACKAGES", ("akm_probe",))
    first = verdicts.fingerprint()
    assert verdicts.fingerprint() == first
    (package / "rules.py").write_text("B = 2\n")
    second = verdicts.fingerprint()
    os.utime(package / "rules.py", ns=(1, 1))
    assert len({first, second, verdicts.fingerprint()}) == 3


def test_old_files_of_other_versions_are_swept(bundle: Path) -> None:
    folder = bundle / ".akm" / "cache"
    folder.mkdir()
    old, recent = folder / "check-old", folder / "check-recent"
    old.write_bytes(b"")
    recent.write_bytes(b"")
    os.utime(old, (1, 1))
    assert run(["check"]) == 0
    assert not old.exists() and recent.exists()


@pytest.mark.parametrize("damage", [b"", b"x" * 45, b"\0" * 320])
def test_a_damaged_cache_is_no_verdict(bundle: Path, analysed: list[str], damage: bytes) -> None:
    assert run(["check"]) == 0
    (file,) = cache_files(bundle)
    whole = file.read_bytes()
    file.write_bytes(damage + whole[:33])
    analysed.clear()
    assert run(["check"]) == 0
    assert len(analysed) >= COUNT - 1
    analysed.clear()
    assert run(["check"]) == 0
    assert analysed == []


def test_a_cache_that_anybody_may_write_is_not_believed(bundle: Path, analysed: list[str]) -> None:
    assert run(["check"]) == 0
    for path in (*cache_files(bundle), bundle / ".akm" / "cache", bundle / ".akm"):
        mode = path.stat().st_mode
        path.chmod(mode | 0o002)
        analysed.clear()
        assert run(["check"]) == 0
        assert len(analysed) == COUNT, path
        (path if path.is_dir() else cache_files(bundle)[0]).chmod(mode & ~0o002)


def test_a_folder_that_cannot_be_written_is_no_reason_to_fail(bundle: Path) -> None:
    (bundle / ".akm" / "cache").write_text("no folder")
    assert run(["check"]) == 0


def test_few_files_leave_nothing_behind(bundle: Path) -> None:
    assert run(["check", *(f"workflows/flow{number:03}.md" for number in range(checking.CACHED_FROM - 1))]) == 0
    assert not (bundle / ".akm" / "cache").exists()


def test_checkers_at_the_same_time_agree(bundle: Path, analysed: list[str]) -> None:
    command = [sys.executable, "-m", "akmc", "check"]
    running = [
        subprocess.Popen(command, cwd=bundle, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for _ in range(4)
    ]
    outputs = {process.communicate()[0] for process in running}
    assert outputs == {f"{COUNT} files checked: no findings\n".encode()}
    assert run(["check"]) == 0
    assert analysed == []
    assert not list((bundle / ".akm" / "cache").glob(".check-*"))


def test_a_row_is_merged_with_what_another_checker_wrote(bundle: Path) -> None:
    mine, other = verdicts.Verdicts(bundle, "same"), verdicts.Verdicts(bundle, "same")
    mine.add([b"a" * 32])
    other.add([b"b" * 32])
    mine.save()
    other.save()
    merged = verdicts.Verdicts(bundle, "same")
    assert merged.knows(b"a" * 32) and merged.knows(b"b" * 32) and not merged.knows(b"c" * 32)
