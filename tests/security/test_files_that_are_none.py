"""Pipes and devices where a program looks for a file of its own: refused, never waited for, never read without an end."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

if os.name != "posix":
    pytest.skip("pipes and devices are files on POSIX systems", allow_module_level=True)

Run = Callable[..., "subprocess.CompletedProcess[str]"]
SOURCE = "---\nsteps:\n  - id: a\n    unit:\n      exec: {command: [echo, hello]}\n      env: [env/e]\n---\n\n## a\n\nSay it.\n"
USES = (
    "name: b\non: {workflow_dispatch: {}}\njobs:\n  main:\n    runs-on: [self-hosted]\n"
    "    steps:\n      - {id: a, uses: scripts/s.sh}\n"
)
IRREGULAR = "it is no regular file"
PROGRAMS = {"akmc": f"{shlex.quote(sys.executable)} -m akmc", "akm-run": f"{shlex.quote(sys.executable)} -m akm_run"}


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """``run("akmc check w.md")``: a line of a shell, whose programs may neither take long nor have much memory."""
    env = {**os.environ, "AKM_CONFIG_DIR": str(tmp_path / "config"), "NO_COLOR": "1"}

    def line(words: str, *, expect: int) -> subprocess.CompletedProcess[str]:
        name, rest = words.split(" ", 1)
        script = f"ulimit -v 2000000; exec {PROGRAMS[name]} {rest}"
        argv = ["bash", "-c", script]
        done = subprocess.run(argv, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=60, input="")
        assert done.returncode == expect, done.stderr + done.stdout
        return done

    return line


@pytest.fixture
def there(tmp_path: Path, run: Run) -> Path:
    for folder in ("workflows", "env", "scripts", ".akm", "config/secrets"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "workflows" / "a.md").write_text(SOURCE)
    (tmp_path / "env" / "e.env").write_text("A=${secret:tok}\n")
    (tmp_path / "config" / "secrets" / "tok").write_text("hush\n")
    run("akmc compile workflows/a.md -o plan.json", expect=0)
    return tmp_path


def irregular(path: Path, what: str) -> None:
    """Put something that is no file in the place of ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    if what == "pipe":
        os.mkfifo(path)
    elif what == "device":
        path.symlink_to("/dev/zero")
    else:
        path.mkdir()


@pytest.mark.parametrize(
    ("name", "what", "says"),
    [
        ("env/e.env", "pipe", f"the env file env/e.env cannot be read: {IRREGULAR}"),
        ("config/secrets/tok", "pipe", f"secrets/tok' cannot be read: {IRREGULAR}"),
        ("config/secrets/tok", "device", f"secrets/tok' cannot be read: {IRREGULAR}"),
    ],
)
def test_an_env_file_or_secret_that_is_none_fails_the_unit(
    there: Path, run: Run, name: str, what: str, says: str
) -> None:
    irregular(there / name, what)
    assert says in run("akm-run plan.json", expect=1).stdout


@pytest.mark.parametrize("name", [".akm/config.json", ".akm/models.json", "config/config.json", "config/models.json"])
@pytest.mark.parametrize("what", ["pipe", "device"])
def test_a_config_that_is_none_is_a_fault_of_the_config(there: Path, run: Run, name: str, what: str) -> None:
    (there / ".akm" / "config.json").write_text("{}")
    irregular(there / name, what)
    said = run("akmc check workflows/a.md", expect=78)
    assert IRREGULAR in said.stdout + said.stderr


def test_what_is_named_may_be_a_pipe(there: Path, run: Run) -> None:
    (there / "own.json").write_text("{}")
    run("akmc check workflows/a.md --config <(cat own.json)", expect=0)
    assert "{}" not in run("akmc config list --config <(cat own.json)", expect=0).stderr
    run("akm-run plan.json --record tape", expect=0)
    run("akm-run <(cat plan.json) --replay <(cat tape)", expect=0)
    said = run("akm-run plan.json --replay /dev/zero", expect=2).stderr
    assert '--replay "/dev/zero": line 1 is no recording: it is longer than' in said


@pytest.mark.parametrize(
    ("path", "what", "says"),
    [
        ("env/e.env", "pipe", '"env/e" names no env file: "env/e.env" is no regular file'),
        ("env/e.env", "folder", '"env/e" names no env file: "env/e.env" is a directory'),
        ("scripts/s.sh", "pipe", '"scripts/s.sh" names no file: "scripts/s.sh" is no regular file'),
        ("scripts/s.sh", "folder", '"scripts/s.sh" names no file: "scripts/s.sh" is a directory'),
    ],
)
def test_a_ref_to_what_is_none_says_what_it_is(there: Path, run: Run, path: str, what: str, says: str) -> None:
    (there / "workflows" / "b.yml").write_text(USES)
    irregular(there / path, what)
    source = "workflows/b.yml" if path.startswith("scripts") else "workflows/a.md"
    said = run(f"akmc compile {source} -o b.json", expect=2)
    assert says in said.stdout + said.stderr
    assert f"put a file in the place of {path}, or mend the ref" in said.stdout + said.stderr


def test_an_import_of_what_is_none_is_told(there: Path, run: Run) -> None:
    for name in ("pipe", "device"):
        irregular(there / name, name)
        assert f'cannot read "{name}": {IRREGULAR}' in run(f"akm-run import {name}", expect=2).stderr


def test_what_is_kept_beside_a_state_file_is_not_waited_for(there: Path, run: Run) -> None:
    run_id = json.loads(run("akm-run plan.json --json", expect=0).stdout)["runId"]
    irregular(there / ".akm" / "state.db.locks" / f"{run_id}.lock", "pipe")
    irregular(there / ".akm" / "state.db.logs" / f"{run_id}.jsonl", "pipe")
    for what in ("pipe", "device"):
        (index,) = {path for path in (there / "config").iterdir() if path.suffix == ".json"}
        irregular(index, what)
        run("akm-run list --all-scopes", expect=0)
        run("akm-run plan.json", expect=0)
        assert run_id in run("akm-run list --all-scopes", expect=0).stdout
    run(f"akm-run status {run_id}", expect=0)
    assert IRREGULAR in run(f"akm-run logs {run_id}", expect=2).stderr
