"""Real workflows of other people: they check clean, compile, and one runs to the end."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

CORPUS = pathlib.Path(__file__).resolve().parents[3] / "shared" / "corpus"
pytestmark = pytest.mark.skipif(
    not CORPUS.is_dir(), reason="the corpus of other people's workflows is not beside the checkout"
)
WORKFLOWS = sorted((CORPUS / "bundle" / "workflows").glob("*.md"))
ANSWER = """
import json, sys
prompt = sys.stdin.read()
if "qa-agent-success" in prompt and "complete" in prompt and "rubric" in prompt.lower():
    print(json.dumps({"complete": True, "missing": [], "feedback": ""}))
else:
    print("qa-agent-success")
"""
CONFIG = {
    "engines": {"scripted": {"kind": "agent", "platform": "command", "bin": "python3", "args": ["answer.py"]}},
    "defaults": {"engine": "scripted"},
    "workflow": {"judgeEngine": "scripted"},
}


@pytest.fixture
def corpus(copy_tree: Callable[[pathlib.Path], pathlib.Path]) -> pathlib.Path:
    """The corpus bundle, with a config that has one agent engine and a judge."""
    root = copy_tree(CORPUS / "bundle")
    (root / ".akm").mkdir()
    (root / ".akm" / "config.json").write_text(json.dumps(CONFIG))
    (root / "answer.py").write_text(ANSWER)
    return root


def test_every_workflow_checks_clean(corpus: pathlib.Path, run_program: Any) -> None:
    assert len(WORKFLOWS) > 5
    found = json.loads(run_program("akmc", "check", "--freeze", "--format", "json").stdout)
    assert [item for item in found["diagnostics"] if item["severity"] == "error"] == []
    assert found["summary"]["files"] == len(WORKFLOWS)


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_every_workflow_compiles_and_verifies(workflow: pathlib.Path, corpus: pathlib.Path, run_program: Any) -> None:
    run_program("akmc", "compile", f"workflows/{workflow.name}", "-o", "plan.json")
    run_program("akmc", "verify", "plan.json")
    assert str(corpus) not in (corpus / "plan.json").read_text()


def test_a_gated_workflow_runs_to_the_end(corpus: pathlib.Path, run_program: Any) -> None:
    run_program("akmc", "compile", "workflows/gated-agent.md", "-o", "plan.json")
    result = json.loads(run_program("akm-run", "plan.json", "--json").stdout)
    assert result["status"] == "completed"
    assert result["steps"][0]["output"] == "qa-agent-success"
    assert result["unitsDispatched"] == 2  # the agent and the judge


def test_a_long_workflow_runs_to_the_end(corpus: pathlib.Path, run_program: Any) -> None:
    (corpus / "answer.py").write_text(
        "import json, sys\n"
        "prompt = sys.stdin.read()\n"
        'judging = "rubric" in prompt.lower() and "complete" in prompt and "feedback" in prompt\n'
        'print(json.dumps({"complete": True, "missing": [], "feedback": ""}) if judging else "done")\n'
    )
    run_program("akmc", "compile", "workflows/architecture-cleanup.md", "-o", "plan.json")
    result = json.loads(run_program("akm-run", "plan.json", "--json").stdout)
    assert result["status"] == "completed"
    assert [step["status"] for step in result["steps"]] == ["completed"] * 7
