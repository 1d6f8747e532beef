"""Whatever the umask: what a run leaves behind is readable by its owner alone."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import folder_with, run

SOURCE = """---
steps:
  - id: a
    unit: {exec: {command: [sh, -c, 'echo out; umask']}}
---
## a
x
"""
YAML = "name: X\non: {workflow_dispatch: null}\njobs: {j: {runs-on: [self-hosted], steps: [{id: a, uses: scripts/s.sh}]}}\n"
SCRIPT = 'stat -c "%a" "$0" "$(dirname "$0")" 2>/dev/null || stat -f "%Lp" "$0" "$(dirname "$0")"\n'


@pytest.fixture(params=[0o000, 0o022, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield int(request.param)
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.parametrize("wide", [0o000, 0o022])
def test_files_of_a_run_are_private(wide: int) -> None:
    before = os.umask(wide)
    try:
        with folder_with({"workflows/x.md": SOURCE.encode()}) as folder:
            assert run("akmc", "compile", "workflows/x.md", "-o", "x.json").status == 0
            ended = run("akm-run", "x.json", "--json", "--events", "events.jsonl", "--record", "tape.jsonl")
            assert ended.status == 0, ended.text
            run_id = json.loads(ended.out)["runId"]
            assert run("akm-run", "report", run_id, "-o", "report.html").status == 0
            assert run("akm-run", "export", run_id, "-o", "run.akmrun").status == 0
            made = [Path(name) for name in ("events.jsonl", "tape.jsonl", "report.html", "run.akmrun")]
            state = [path for path in (folder / ".akm").rglob("*") if "cache" not in path.parts]
            index = [path for path in (folder / ".home").rglob("*") if path.is_file()]
            assert any(path.name == "state.db" for path in state) and index
            files = [path for path in (*made, *state, *index) if path.is_file()]
            open_to_others = {str(path): oct(mode(path)) for path in files if mode(path) & 0o077}
            assert open_to_others == {}
            folders = [folder / ".akm", *(path for path in state if path.is_dir())]
            assert {str(path): oct(mode(path)) for path in folders if mode(path) & 0o077} == {}
    finally:
        os.umask(before)


@pytest.mark.parametrize("wide", [0o000, 0o022, 0o077, 0o277])
def test_a_script_is_a_private_file_in_a_private_folder_and_gone_afterwards(wide: int) -> None:
    with folder_with({"workflows/x.yml": YAML.encode(), "scripts/s.sh": SCRIPT.encode()}) as folder:
        tempfile.tempdir = str(folder / ".home")
        before = None
        try:
            assert run("akmc", "compile", "workflows/x.yml", "-o", "x.json").status == 0
            (folder / ".akm").mkdir(exist_ok=True)
            before = os.umask(wide)
            ended = run("akm-run", "x.json", "--json", "--db", str(folder / ".home" / "s.db"))
        finally:
            if before is not None:
                os.umask(before)
            tempfile.tempdir = None
        script, around = json.loads(ended.out)["steps"][0]["output"].split()
        assert (script, int(around, 8) & 0o077) == ("700", 0), ended.text
        assert list((folder / ".home").glob("akm-script-*")) == []


def test_reports_of_internal_errors_are_private(umask: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from akm_run.crash import write_report as write_run_report
    from akmc.crash import write_report

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for name in (write_report("boom"), write_run_report(ValueError("secret-value"), ["x", "--token=secret-value"])):
        assert name is not None
        assert mode(Path(name)) & 0o177 == 0
        assert "secret-value" not in Path(name).read_text()


def test_the_lease_of_a_driven_run_is_private(tmp_path: Path) -> None:
    from akm_run.lease import acquire

    before = os.umask(0)
    try:
        lease = acquire(tmp_path / "new" / "state.db", "r1")
    finally:
        os.umask(before)
    assert mode(lease.path) == 0o600
    assert mode(lease.path.parent) & 0o077 == 0
    lease.release()
