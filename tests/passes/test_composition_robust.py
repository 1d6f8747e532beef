"""Whatever YAML sources say, passes answer with findings or with a plan that decodes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from akm_schemas.decode import decode_plan, encode_plan

PLAIN: list[Any] = [None, True, 5, "", "make all", "a | b", "${{ x }}", "steps.s0.output", "params.x", [], {}, ["x"]]
TARGETS = [
    "akm/command",
    "commands/c",
    "scripts/x.sh",
    "tasks/t",
    "tasks/w",
    "workflows/kid",
    "workflows/a",
    "agents/x",
]
BAGS = [{"content": "Hi"}, {"ref": "commands/c"}, {"A": 1}, {"n": {"from": "steps.s0.output"}}, {"mode": "fast"}]
VALUES = st.sampled_from([*PLAIN, *TARGETS, *BAGS])
STEP = st.dictionaries(
    st.sampled_from(["run", "uses", "with", "env", "shell", "working-directory", "name", "foo"]), VALUES, max_size=3
)
TASK = st.dictionaries(
    st.sampled_from(["run", "uses", "with", "env", "inputs", "output", "schedule", "redact", "engine", "timeout"]),
    VALUES | st.just({"n": {"type": "integer", "default": 1}}),
    max_size=4,
)
KID = "---\nparams: {mode: {type: string}}\nsteps: [{id: a, unit: {exec: {command: [ls]}}}]\n---\n## a\nGo.\n"


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, min_size=1, max_size=3), task=TASK)
def test_an_answer_for_everything(
    compose: Callable[..., Any], steps: list[dict[str, Any]], task: dict[str, Any]
) -> None:
    listed = [{"id": f"s{index}", **step} for index, step in enumerate(steps)]
    job = {"runs-on": ["self-hosted"], "steps": listed}
    source = {"name": "A", "on": {"workflow_dispatch": {}}, "jobs": {"main": job}}
    files = {
        "workflows/a.yml": json.dumps(source),
        "workflows/kid.md": KID,
        "commands/c.md": "Hi $ARGUMENTS\n",
        "scripts/x.sh": "ls\n",
        "tasks/t.yml": json.dumps({"version": 4, **task}),
        "tasks/w.yml": "version: 4\nuses: workflows/kid\ninputs: {mode: {default: fast}}\n",
    }
    engine = {"kind": "agent", "platform": "claude"}
    made = compose(files, config={"engines": {"e": engine}, "defaults": {"engine": "e"}}, freeze=True)
    if made.program.plan is not None:
        assert decode_plan(encode_plan(made.program.plan)) == made.program.plan
        assert not [item for item in made.context.sink.found if item.severity == "error"]
    else:
        assert made.rules
    task_alone = compose({}, "tasks/t.yml")
    assert not task_alone.context.crashes
