"""Plans on llm engines as a person runs them: real processes, compiled from source, against a scripted model."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Bundle = Callable[[dict[str, str]], Path]

KEY: Final = "sk-live-0123456789abcdef"
WORKFLOW: Final = """\
---
type: workflow
steps:
  - id: ask
    gate: {max_loops: 2}
---
# Case
## ask
The prose.
### gate
- It names the readme.
"""


@pytest.fixture
def compiled(run_program: Run, bundle: Bundle) -> Callable[..., str]:
    """``compiled(url)``: a plan whose units and judge ask that endpoint."""

    def make(url: str, workflow: str = WORKFLOW) -> str:
        engine = {"kind": "llm", "endpoint": url, "apiKey": "$STUB_KEY"}
        config = {
            "engines": {"writer": {**engine, "model": "model-a"}, "judge": {**engine, "model": "judge-b"}},
            "defaults": {"engine": "writer"},
            "workflow": {"judgeEngine": "judge"},
        }
        bundle({"workflows/x.md": workflow, ".akm/config.json": json.dumps(config)})
        run_program("akmc", "compile", "workflows/x.md", "-o", "plan.json")
        return "plan.json"

    return make


def test_a_judge_on_an_llm_engine_and_a_key_that_is_nowhere(
    stub_llm: Any, run_program: Run, compiled: Callable[..., str], tmp_path: Path
) -> None:
    rejected = {"complete": False, "missing": [f"readme {KEY}"], "feedback": "mention it"}
    answers = [
        {"when": "model-a", "content": f"version one, {KEY}"},
        {"when": "judge-b", "json": rejected},
        {"when": "model-a", "content": "version two"},
        {"when": "judge-b", "json": {"complete": True}},
    ]
    with stub_llm(answers) as stub:
        done = run_program("akm-run", compiled(stub.url), "--json", env={"STUB_KEY": KEY})
        texts = [request["text"] for request in stub.requests]
        keys = {request["headers"]["authorization"] for request in stub.requests}
    document = json.loads(done.stdout)
    assert (document["status"], document["steps"][0]["output"]) == ("completed", "version two")
    assert (document["unitsDispatched"], document["tokensUsed"]) == (4, 40)
    assert keys == {f"Bearer {KEY}"}
    assert "version one, [redacted]" in texts[1]
    assert "- It names the readme." in texts[1]
    assert "readme [redacted]" in texts[2]
    stored = b"".join(path.read_bytes() for path in (tmp_path / ".akm").rglob("*") if path.is_file())
    assert b"version one" in stored
    assert KEY.encode() not in stored + done.stdout.encode() + done.stderr.encode() + "".join(texts).encode()


@pytest.mark.parametrize("value", [None, "", "two\nlines"])
def test_without_a_key_nothing_begins(
    stub_llm: Any, run_program: Run, compiled: Callable[..., str], tmp_path: Path, value: str | None
) -> None:
    with stub_llm([]) as stub:
        env = {} if value is None else {"STUB_KEY": value}
        done = run_program("akm-run", compiled(stub.url), "--json", env=env, expect=78)
        assert stub.requests == []
    assert "STUB_KEY" in done.stderr
    assert "two" not in done.stderr
    assert not (tmp_path / ".akm" / "state.db").exists()


def test_without_an_http_client_the_plan_is_refused_by_name(
    stub_llm: Any, run_program: Run, compiled: Callable[..., str], tmp_path: Path
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import sys\nsys.modules['httpx'] = None\n")
    env = {"STUB_KEY": KEY, "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")])}
    with stub_llm([]) as stub:
        done = run_program("akm-run", compiled(stub.url), env=env, expect=2)
        assert stub.requests == []
    assert "step 'ask': llm engine 'writer' needs httpx, which is not installed; pip install httpx" in done.stderr
    assert "(its gate's judge): llm engine 'judge' needs httpx" in done.stderr
    assert not (tmp_path / ".akm" / "state.db").exists()
    assert "akm-run" in run_program("akm-run", "--help", env=env).stdout


def test_an_interrupt_ends_a_request_and_the_run_can_go_on(
    stub_llm: Any, run_program: Run, compiled: Callable[..., str], tmp_path: Path
) -> None:
    workflow = WORKFLOW.replace("    gate: {max_loops: 2}\n", "").split("### gate")[0]
    with stub_llm([{"content": "late", "delay_s": 20}, {"content": "at last"}]) as stub:
        plan = compiled(stub.url, workflow)
        env = {**os.environ, "STUB_KEY": KEY, "HOME": str(tmp_path / ".home")}
        words = [sys.executable, "-m", "akm_run", plan, "--json"]
        process = subprocess.Popen(words, cwd=tmp_path, env=env, stdout=subprocess.PIPE, text=True)
        for _ in range(200):
            if stub.requests:
                break
            time.sleep(0.05)
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=15)
        assert time.monotonic() - begun < 5
        assert process.returncode == 130
        document = json.loads(out)
        assert (document["status"], document["steps"][0]["status"]) == ("active", "pending")
        done = run_program("akm-run", document["runId"], "--json", env={"STUB_KEY": KEY})
    assert json.loads(done.stdout)["steps"][0]["output"] == "at last"


def test_retry_after_is_waited_for(stub_llm: Any, run_program: Run, compiled: Callable[..., str]) -> None:
    workflow = WORKFLOW.replace("gate: {max_loops: 2}", "unit: {retry: {max: 1, on: [llm_rate_limit]}}")
    limited = {"status": 429, "headers": {"Retry-After": "2"}, "body": "slow down"}
    with stub_llm([limited, {"content": "at last"}]) as stub:
        plan = compiled(stub.url, workflow.split("### gate")[0])
        done = run_program("akm-run", plan, "--json", env={"STUB_KEY": KEY})
        first, second = (request["at"] for request in stub.requests)
    assert json.loads(done.stdout)["steps"][0]["output"] == "at last"
    assert 1.95 <= second - first < 8


def test_env_on_an_llm_engine_fails_before_dispatch(run_program: Run, plans: PlanMaker, tmp_path: Path) -> None:
    binding = {"kind": "literal", "name": "FOO", "value": "some-bound-value"}
    unit = plans.ask(llm=True, env=[binding], on_error="continue", retry={"max": 3, "on": ["llm_unreachable"]})
    (tmp_path / "plan.json").write_bytes(plans.data(plans.step("a", unit)))
    document = json.loads(run_program("akm-run", "plan.json", "--json", expect=1).stdout)
    assert (document["status"], document["unitsDispatched"]) == ("failed", 0)
    assert document["steps"][0]["failureReason"] == "env_unsupported"
    assert "env_unsupported" in document["steps"][0]["summary"]


COUNTED: Final = """\
---
type: workflow
steps:
  - id: one
  - id: two
  - id: three
---
# Case
## one
The prose.
## two
The prose.
## three
The prose.
"""


@pytest.mark.parametrize("count", [10**22, 2**63 - 1, 2**53])
def test_a_report_of_too_many_tokens_costs_nothing(
    stub_llm: Any, run_program: Run, compiled: Callable[..., str], count: int
) -> None:
    with stub_llm([{"content": "x", "usage": {"total_tokens": count}}] * 3) as stub:
        done = run_program("akm-run", compiled(stub.url, COUNTED), "--json", env={"STUB_KEY": KEY})
        assert len(stub.requests) == 3
    document = json.loads(done.stdout)
    assert document["status"] == "completed"
    assert document["tokensUsed"] == (2**53 if count == 2**53 else 0), "the most that every reader of JSON keeps"
    run_id = document["runId"]
    for words in (["status", run_id, "--units", "--json"], [run_id, "--json"]):
        assert json.loads(run_program("akm-run", *words).stdout)["tokensUsed"] == document["tokensUsed"]
    run_program("akm-run", "report", run_id, "-o", "r.html")
    run_program("akm-run", "export", run_id, "-o", "one.akmrun")
    run_program("akm-run", "import", "one.akmrun", "--db", "new.db")
