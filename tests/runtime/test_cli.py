"""``akm-run`` as a person meets it: real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from akm_run.faults import ConfigFault
from akm_run.preflight import require_credentials

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]


def document(done: subprocess.CompletedProcess[str]) -> Any:
    return json.loads(done.stdout)


@pytest.fixture
def plan(tmp_path: Path, plans: PlanMaker) -> str:
    """Two steps; the second fails until there is a file ``ok``."""
    data = plans.data(
        plans.step("a", plans.unit("sh", "-c", "echo a >> n.txt; echo did-a")),
        plans.step("b", plans.unit("sh", "-c", "test -e ok && echo did-b"), ["params.n"]),
        params={"n": {"type": "integer", "default": 1, "description": "How many."}},
        outputs={"last": "steps.b.output"},
    )
    (tmp_path / "plan.json").write_bytes(data)
    return "plan.json"


def test_fail_resume_and_go_on(run_program: Run, tmp_path: Path, plan: str) -> None:
    failed = document(run_program("akm-run", plan, "--json", expect=1))
    run_id = failed["runId"]
    assert [step["status"] for step in failed["steps"]] == ["completed", "failed"]
    assert failed["outputs"] is None
    refused = run_program("akm-run", run_id, "--json", expect=2)
    assert f"akm-run resume {run_id}" in refused.stderr
    run_program("akm-run", "output", run_id, expect=1)
    (tmp_path / "ok").touch()
    run_program("akm-run", "resume", run_id)
    assert "nothing to do" in run_program("akm-run", "resume", run_id).stderr
    done = document(run_program("akm-run", run_id, "--json"))
    assert (done["status"], done["outputs"], done["unitsDispatched"]) == ("completed", {"last": "did-b"}, 3)
    assert document(run_program("akm-run", run_id, "--json")) == done
    assert (tmp_path / "n.txt").read_text() == "a\n"
    assert run_program("akm-run", "output", run_id, "last").stdout == "did-b\n"
    assert 'did you mean "last"?' in run_program("akm-run", "output", run_id, "lost", expect=2).stderr
    for word in ("resume", "abandon"):
        run_program("akm-run", word, run_id, expect=2)


def test_text_for_people_names_what_to_type_next(run_program: Run, plan: str) -> None:
    done = run_program("akm-run", plan, "--host-concurrency", "2", expect=1)
    run_id = done.stdout.split()[1]
    assert f"akm-run resume {run_id}" in done.stdout
    assert "a: completed" in done.stderr and "b: failed (non_zero_exit)" in done.stderr
    status = run_program("akm-run", "status", run_id, "--units").stdout
    assert "b:solo  failed  non_zero_exit" in status
    assert "\x1b[" in run_program("akm-run", "status", run_id, "--color", "always").stdout
    assert "\x1b[" not in status


def test_help_needs_no_scope_and_shows_examples(run_program: Run, tmp_path: Path, plan: str) -> None:
    overview = run_program("akm-run", "--help").stdout
    for name in (
        "run",
        "status",
        "list",
        "resume",
        "abandon",
        "events",
        "output",
        "report",
        "why",
        "logs",
        "export",
        "import",
        "prune",
    ):
        assert name in overview
        assert "Examples:\n    akm-run" in run_program("akm-run", name, "--help").stdout
    of_plan = run_program("akm-run", plan, "--help").stdout
    assert "--n  integer, default 1\n      How many." in of_plan
    assert run_program("akm-run", "--version").stdout.startswith("akm-run ")
    assert not (tmp_path / ".akm").exists()


def test_a_light_command_imports_no_heavy_library(run_program: Run) -> None:
    code = (
        "import sys; from akm_run.cli import run; run(['list']);"
        "heavy = {'lark', 'ruamel', 'jsonschema', 'networkx', 'httpx', 'rich', 'akmc', 'akmc_grammar', 'akmc_passes', 'asyncio'};"
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))"
    )
    done = run_program(sys.executable, "-c", code)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere/plan.json"], '"nowhere/plan.json" is neither a plan file nor a run here'),
        (["status", "no-such-run"], '"no-such-run" is no run of'),
        (["plan.json", "--m", "1"], 'unknown flag "--m"'),
        (["plan.json", "--timeout", "soon"], "--timeout"),
        (["plan.json", "--workspace", "nowhere"], "--workspace"),
        (["plan.json", "--expect", "abc"], "not the expected one"),
        (["plan.json", "--max-steps", "0"], "--max-steps"),
        (["plan.json", "--executor", "tcp://x"], "executor"),
        (["broken.json"], "broken.json"),
        ([], "akm-run --help"),
    ],
)
def test_usage_errors(run_program: Run, tmp_path: Path, plan: str, words: list[str], says: str) -> None:
    data = (tmp_path / plan).read_bytes()
    (tmp_path / "broken.json").write_bytes(data.replace(b"did-a", b"did-x"))
    done = run_program("akm-run", *words, expect=2)
    assert says in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / ".akm").exists()


def test_help_of_a_run_is_that_of_its_plan(run_program: Run, tmp_path: Path, plan: str) -> None:
    run_id = document(run_program("akm-run", plan, "--json", "--max-steps", "1"))["runId"]
    (tmp_path / plan).unlink()
    assert "--n  integer, default 1\n      How many." in run_program("akm-run", run_id, "--help").stdout


def test_params_on_an_existing_run_are_refused(run_program: Run, plan: str) -> None:
    run_id = document(run_program("akm-run", plan, "--json", "--max-steps", "1"))["runId"]
    assert "fixed when it was published" in run_program("akm-run", run_id, "--n", "2", expect=2).stderr


def test_list_names_the_scope_and_other_scopes(run_program: Run, tmp_path: Path, plan: str) -> None:
    assert str(tmp_path) in run_program("akm-run", "list").stdout
    run_id = document(run_program("akm-run", plan, "--json", "--max-steps", "1"))["runId"]
    other = document(run_program("akm-run", plan, "--json", "--db", "elsewhere/one.db", expect=1))["runId"]
    here = document(run_program("akm-run", "list", "--json"))
    assert (here["scope"], [run["runId"] for run in here["runs"]]) == (str(tmp_path), [run_id])
    everywhere = document(run_program("akm-run", "list", "--all-scopes", "--json"))
    assert {run["runId"]: Path(run["scope"]).name for run in everywhere["runs"]} == {
        run_id: "state.db",
        other: "one.db",
    }
    assert run_id in run_program("akm-run", "list", "--active").stdout
    assert "no active runs" in run_program("akm-run", "list", "--active", "--db", "elsewhere/one.db").stdout


def test_events_are_numbered_and_streamed(run_program: Run, tmp_path: Path, plan: str) -> None:
    run_id = document(run_program("akm-run", plan, "--json", "--events", "events.jsonl", expect=1))["runId"]
    lines = [json.loads(line) for line in run_program("akm-run", "events", run_id, "--follow").stdout.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert lines == [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert {key for line in lines for key in line} == {"seq", "at", "type", "step", "unit", "status"}
    after = run_program("akm-run", "events", run_id, "--since", "3").stdout.splitlines()
    assert [json.loads(line) for line in after] == lines[3:]


def test_the_report_is_self_contained_and_escaped(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    nasty = "<script>alert(1)</script>"
    data = plans.data(
        plans.step("a", plans.unit("printf", "%s", nasty)),
        plans.step("b", plans.unit("sh", "-c", f"echo '{nasty}' >&2; exit 1")),
    )
    (tmp_path / "plan.json").write_bytes(data)
    run_id = document(run_program("akm-run", "plan.json", "--json", expect=1))["runId"]
    run_program("akm-run", "report", run_id, "-o", "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and run_id in page
    assert nasty not in page and page.count("&lt;script&gt;") >= 3 and page.count("\\u003cscript\\u003e") >= 2
    assert "https:" not in page and "src=" not in page


def test_a_run_whose_plan_cannot_be_decoded_can_be_seen_and_abandoned(
    run_program: Run, tmp_path: Path, plan: str
) -> None:
    import sqlite3

    run_id = document(run_program("akm-run", plan, "--json", "--max-steps", "1"))["runId"]
    with closing(sqlite3.connect(tmp_path / ".akm" / "state.db")) as raw, raw:
        raw.execute("UPDATE runs SET plan = replace(CAST(plan AS TEXT), '\"irVersion\":5', '\"irVersion\":6')")
    assert document(run_program("akm-run", "status", run_id, "--json"))["steps"][0]["status"] == "completed"
    assert run_id in run_program("akm-run", "list").stdout
    for words in ([run_id], ["resume", run_id]):
        assert "pgrade" in run_program("akm-run", *words, expect=2).stderr
    run_program("akm-run", "abandon", run_id)


def test_a_closed_pipe_is_quiet(tmp_path: Path, plans: PlanMaker) -> None:
    data = plans.data(plans.step("a", plans.unit(sys.executable, "-c", "print('z' * 300000)")))
    (tmp_path / "plan.json").write_bytes(data)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    process = subprocess.Popen(
        [sys.executable, "-m", "akm_run", "plan.json", "--json"],
        cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_prints_the_document_and_exits_130(
    tmp_path: Path, plans: PlanMaker, run_program: Run, number: signal.Signals
) -> None:
    data = plans.data(plans.step("a", plans.unit("sh", "-c", ": > started; test -e go || sleep 30; echo done")))
    (tmp_path / "plan.json").write_bytes(data)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / ".home"), "XDG_CONFIG_HOME": str(tmp_path / ".home")}
    process = subprocess.Popen(
        [sys.executable, "-m", "akm_run", "plan.json", "--json"],
        cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    end = time.monotonic() + 30
    while not (tmp_path / "started").exists():
        assert time.monotonic() < end and process.poll() is None
        time.sleep(0.01)
    other = run_program("akm-run", "list", "--json")
    run_id = document(other)["runs"][0]["runId"]
    busy = run_program("akm-run", run_id, "--json", expect=75)
    assert document(busy)["runId"] == run_id and f"process {process.pid}" in document(busy)["error"]
    run_program("akm-run", "abandon", run_id, expect=75)
    process.send_signal(number)
    text, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, "")
    assert (json.loads(text)["status"], json.loads(text)["steps"][0]["status"]) == ("active", "pending")
    (tmp_path / "go").touch()
    assert document(run_program("akm-run", run_id, "--json"))["status"] == "completed"


def test_status_counts_the_units_of_a_map_under_way(run_program: Run, tmp_path: Path, plans: PlanMaker) -> None:
    data = plans.data(plans.step("m", plans.unit("sh", "-c", 'sleep "$AKM_ITEM"'), over="params.l"))
    (tmp_path / "plan.json").write_bytes(data)
    (tmp_path / "params.json").write_text('{"l": [0, 0, 300]}')
    words = [sys.executable, "-m", "akm_run", "plan.json", "--params-file", "params.json", "--host-concurrency", "2"]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / ".home"), "XDG_CONFIG_HOME": str(tmp_path / ".home")}
    process = subprocess.Popen(words, cwd=tmp_path, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    step: dict[str, Any] = {}
    while step.get("unitsCompleted") != 2:
        assert time.monotonic() < end and process.poll() is None, step
        runs = document(run_program("akm-run", "list", "--json"))["runs"]
        if runs:
            step = document(run_program("akm-run", "status", runs[0]["runId"], "--json"))["steps"][0]
    assert (step["status"], step["unitCount"], step["failedUnits"]) == ("pending", 3, 0)
    assert "pending  2 of 3 units completed\n" in run_program("akm-run", "status", runs[0]["runId"]).stdout
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 130


def test_an_unset_key_is_a_configuration_error(plans: PlanMaker) -> None:
    plan = plans.plan(plans.step("a", plans.ask(llm=True, api_key="STUB_KEY")))
    with pytest.raises(ConfigFault, match="STUB_KEY"):
        require_credentials(plan, {})
    assert ConfigFault.code == 78
    require_credentials(plan, {"STUB_KEY": "x"})


def test_folders_that_cannot_be_written_are_said(run_program: Run, tmp_path: Path, plan: str) -> None:
    (tmp_path / "file").write_text("in the way")
    done = run_program("akm-run", plan, "--db", "file/state.db", expect=2)
    assert "cannot create the state file" in done.stderr and "--db" in done.stderr


def test_names_that_are_no_utf8_work(tmp_path: Path, run_program: Run, plan: str) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    odd.mkdir()
    (odd / "plan.json").write_bytes((tmp_path / plan).read_bytes())
    (odd / ".akm").mkdir()
    (odd / "ok").touch()
    assert document(run_program("akm-run", "plan.json", "--json", cwd=odd))["status"] == "completed"
    assert document(run_program("akm-run", "list", "--json", cwd=odd))["scope"].endswith("caf\\xe9")
    assert len(document(run_program("akm-run", "list", "--all-scopes", "--json", cwd=odd))["runs"]) == 1
