"""The published schemas of YAML workflows and tasks, and the checker, accept the same documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from near_misses import FEW, NAMES, VALUES, near_misses, places

from akm_schemas import publish
from akm_schemas.keys import Record
from akm_schemas.task_keys import SCHEDULE_ENTRY, TASK
from akm_schemas.yaml_keys import YAML_JOB, YAML_ROOT, YAML_STEP
from akmc.session.session import Session
from akmc.session.store import FileStore
from akmc.session.targets import Collector

Verdict = Callable[[str, Any], set[str]]

# What JSON Schema cannot say, by the rule that says it.
BEYOND_JSON_SCHEMA: Final = {
    "duplicate-step-id": "an id against other ids",
    "forward-reference": "a reference against the order of steps",
    "self-reference": "a reference against its own step",
    "unknown-step-reference": "a reference against ids",
    "schema-bad-default": "a default against the schema around it",
}
# Rules of which JSON Schema can say a part: what breaks none but these is not compared.
PARTLY: Final = {
    "unresolved-ref": "a ref against the files of the bundle; what goes with it is judged when it is there",
    "input-binding-invalid": "bindings against the inputs of what they bind; that from stands alone is said",
    "composition-invalid": "with and env against the target's own file; against its family is said",
    "invalid-cron": "the ranges of the fields; that there are five is said",
    "task-invalid": "a schedule against required inputs; what goes with which target is said",
    "reference-type-mismatch": "a reference against the schemas of steps",
}
FILES: Final = {
    "commands/c.md": "Say $ARGUMENTS.\n",
    "scripts/s.sh": "echo hello\n",
    "tasks/t.yml": "version: 4\nrun: echo a\ninputs: {x: {}, from: {}, a: {}}\n",
    "tasks/plain.yml": "version: 4\nrun: echo a\n",
    "workflows/kid.md": "---\nparams: {x: {}, a: {}}\nsteps: [{id: k}]\n---\n## k\n\nText.\n",
}


@pytest.fixture(scope="module")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verdict]:
    """``refusals("workflows", document)``: the rules of the checker's errors, in a bundle with one asset of each kind."""
    root = tmp_path_factory.mktemp("bundle")
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def rules(family: str, document: Any) -> set[str]:
        written = json.dumps(document, ensure_ascii=False, indent=1).replace("\x7f", "\\u007f")
        store = FileStore()
        path = root / family / "under-test.yml"
        store.put(path, written.encode())
        collector = Collector(store, None)
        collector.text(str(path))
        checked = Session(store).check(collector.result())
        assert not checked.crashes, checked.crashes[0].traceback
        assert len(checked.paths) == 1 and not checked.problems
        return {item.rule.name for item in checked.findings if item.rule.severity == "error"}

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AKM_CONFIG_DIR", str(root / "nobody"))
        yield rules


VALIDATORS: Final = {
    "workflows": jsonschema.Draft7Validator(json.loads(publish.texts()["akm-workflow-yaml.json"])),
    "tasks": jsonschema.Draft7Validator(json.loads(publish.texts()["akm-task.json"])),
}


def agree(refusals: Verdict, family: str, document: Any) -> bool:
    """Hold both verdicts together; whether they are "accepted"."""
    if any(name == "run" and str(here[name]).endswith("\n") for here, name in places(document)):
        return False  # the newline of a block scalar is dropped, and how a text is written is no part of its value
    rules = refusals(family, document)
    faults = [f"{error.json_path}: {error.message}" for error in VALIDATORS[family].iter_errors(document)]
    expressible = sorted(rules - BEYOND_JSON_SCHEMA.keys() - PARTLY.keys())
    if expressible or not rules & PARTLY.keys():
        shown = f"{json.dumps(document)[:1500]}\nchecker: {sorted(rules)}\nschema: {faults}"
        assert bool(expressible) == bool(faults), shown
    return not faults and not rules


# ---- every key, with every value ----

_RUN: Final = {"id": "a", "run": "echo a"}


def _workflow(*steps: dict[str, Any], **root: Any) -> dict[str, Any]:
    job = {"runs-on": ["self-hosted"], "steps": list(steps) or [_RUN]}
    return {"name": "n", "on": {"workflow_dispatch": None}, "jobs": {"j": job}, **root}


def _job(given: dict[str, Any]) -> dict[str, Any]:
    return {**_workflow(), "jobs": {"j": {"runs-on": ["self-hosted"], "steps": [_RUN], **given}}}


def _second(**step: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda given: _workflow(_RUN, {"id": "b", **step, **given})


def _task(**task: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda given: {"version": 4, **task, **given}


_PROMPT: Final[dict[str, Any]] = {"uses": "akm/command", "with": {"content": "Say."}}
Around = Callable[[dict[str, Any]], dict[str, Any]]
WORKFLOW_HOSTS: Final[dict[str, tuple[Record, Around]]] = {
    "root": (YAML_ROOT, lambda given: {**_workflow(), **given}),
    "job": (YAML_JOB, _job),
    "run": (YAML_STEP, _second(run="echo a")),
    "builtin": (YAML_STEP, _second(**_PROMPT)),
    "command": (YAML_STEP, _second(uses="commands/c")),
    "script": (YAML_STEP, _second(uses="scripts/s.sh")),
    "task": (YAML_STEP, _second(uses="tasks/t")),
    "plain task": (YAML_STEP, _second(uses="tasks/plain")),
    "kid": (YAML_STEP, _second(uses="workflows/kid")),
    "nothing": (YAML_STEP, _second()),
}
TASK_HOSTS: Final[dict[str, tuple[Record, Around]]] = {
    "run": (TASK, _task(run="echo a")),
    "builtin": (TASK, _task(**_PROMPT)),
    "command": (TASK, _task(uses="commands/c")),
    "script": (TASK, _task(uses="scripts/s.sh")),
    "kid": (TASK, _task(uses="workflows/kid")),
    "nothing": (TASK, _task()),
    "schedule": (SCHEDULE_ENTRY, lambda given: _task(run="a")({"schedule": [{"cron": "0 6 * * *", **given}]})),
}
TARGETS: Final = (
    *("akm/command", "commands/c", "scripts/s.sh", "tasks/t", "workflows/kid", "commands/none", "team//scripts/x.py"),
    *(
        "docker://alpine",
        "./x",
        "../x",
        "owner/repo@v1",
        "agents/x",
        "env/x",
        "commands/",
        "commands/.x",
        "commands/c\n",
    ),
)
RUNS: Final = (
    *("echo a", " echo\ta ", "echo", "A=1 b", "b A=1", "echo $x", "a | b", "a;b", "'a'", "a\nb", "é", "a\u00a0b", " "),
    *("=a", "1=a", "x" * 4096, "x" * 4097, " ".join(["x"] * 64), " ".join(["x"] * 65), "a${{ b }}"),
)
WITHS: Final[tuple[Any, ...]] = (
    *({}, {"ref": "commands/c"}, {"ref": "scripts/s.sh"}, {"content": "x", "arguments": "y"}, {"arguments": "y"}),
    *(
        {"ref": "commands/c", "content": "x"},
        {"content": ""},
        {"content": "x", "arguments": 1},
        {"content": "x", "y": 1},
    ),
    *(
        {"x": 1},
        {"x": {"from": "steps.a.output"}},
        {"x": {"from": "params.x"}},
        {"x": {"from": "steps.a.output", "y": 1}},
    ),
    *(
        {"x": {"from": 1}},
        {"x": [{"from": 1}]},
        {"x": {"y": {"from": 1}}},
        {"from": 1},
        {"a": "${{ b }}"},
        {"nobody": 1},
    ),
)
ENVS: Final[tuple[Any, ...]] = (
    {},
    {"A": "x"},
    {"A": 1, "B": None, "C": True, "D": 1.5},
    {"A": []},
    {"1A": "x"},
    {"AKM_X": "x"},
    {"A": "\0"},
)
SPECIAL: Final[dict[str, tuple[Any, ...]]] = {
    "uses": TARGETS,
    "run": RUNS,
    "with": WITHS,
    "env": ENVS,
    "on": (
        *(
            {},
            {"push": None},
            {"schedule": []},
            {"schedule": [{"cron": "0 6 * * *"}]},
            {"schedule": [{"cron": "@daily"}]},
        ),
        *({"schedule": [{"cron": "* * * *"}]}, {"schedule": [{"cron": " * * * * * "}]}, {"schedule": [{}]}),
        *(
            {"schedule": [{"cron": "* * * * *", "x": 1}]},
            {"workflow_dispatch": {}},
            {"workflow_dispatch": {"inputs": {}}},
        ),
        *({"workflow_dispatch": True}, {"schedule": [{"cron": "* * * * *"}] * 65}, {"schedule": [1]}, "push", ["push"]),
    ),
    "jobs": ({}, {"a": {}}, {"a": {}, "b": {}}, {"a b": {"runs-on": ["self-hosted"], "steps": [_RUN]}}),
    "runs-on": (["self-hosted"], "self-hosted", ["self-hosted", "linux"], ["ubuntu-latest"]),
    "needs": ([], ["a"], "a", None),
    "steps": ([_RUN], [_RUN, _RUN], [{**_RUN, "id": f"s{n}"} for n in range(257)] and [], [None]),
    "working-directory": ("a", "a/b", "a//b", "a/", "./a", "${{ a }}"),
    "version": (4, 4.0),
    "schedule": ("0 6 * * *", "@daily", "* * * *", [], [{"cron": "0 6 * * *"}], [{"cron": "0 6 * * *"}] * 65, [{}]),
    "inputs": (
        *({"x": {"required": True}}, {"x": {"required": False}}, {"x": {"required": ["a"]}}, {"x": {"required": 1}}),
        *({"x": {"required": True, "default": 1}}, {"x": {"required": False, "default": 1}}, {"x": {"default": None}}),
        *(
            {"x": {"required": ["a"], "default": {"a": 1}}},
            {"a-b": {}},
            {"x": {"typ": 1}},
            {"x": {"title": "${{ a }}"}},
        ),
    ),
    "inference": ({}, {"extra_params": {"top_p": 1}}, {"extra_params": {"a": {"token": 1}}}, {"max_tokens": 0}),
    "output": ({"type": "string"}, {"typ": 1}, {"properties": {"${{ a }}": {}}}),
    "cron": ("0 6 * * *", "@daily", "* * * *"),
}
UNKNOWN: Final = ("timeout-minutes", "if", "${{ x }}", *NAMES)
CASES: Final = [
    *(("workflows", host) for host in WORKFLOW_HOSTS),
    *(("tasks", host) for host in TASK_HOSTS),
]


@pytest.mark.parametrize(("family", "host"), CASES)
def test_every_key_with_every_value(family: str, host: str, refusals: Verdict) -> None:
    hosts = WORKFLOW_HOSTS if family == "workflows" else TASK_HOSTS
    record, around = hosts[host]
    first = host == next(iter(hosts))
    verdicts = []
    for key in record.keys:
        values = (*SPECIAL.get(key.name, ()), *(VALUES if first else FEW))
        verdicts += [agree(refusals, family, around({key.name: value})) for value in values]
    verdicts += [agree(refusals, family, around({name: 1})) for name in UNKNOWN]
    assert not all(verdicts) and (any(verdicts) or host == "nothing")
    if host == "run":
        for shell in ("bash", "sh", "zsh", "pwsh", "powershell", "cmd"):
            assert agree(refusals, family, around({"shell": shell}))


# ---- whole documents ----

STEPS: Final[st.SearchStrategy[dict[str, Any]]] = st.sampled_from(
    [
        {"run": "echo a", "shell": "bash", "working-directory": "src/lib", "env": {"A": 1}},
        {"run": "echo a", "name": "x"},
        {"uses": "akm/command", "with": {"ref": "commands/c", "arguments": "x"}},
        {"uses": "akm/command", "with": {"content": "x"}, "env": {"B": "x"}},
        {"uses": "commands/c"},
        {"uses": "scripts/s.sh", "env": {"A": None}},
        {"uses": "tasks/t", "with": {"x": {"from": "steps.s0.output"}, "a": [1]}},
        {"uses": "workflows/kid", "with": {"x": 1}},
    ]
)


@st.composite
def workflows(draw: st.DrawFn) -> dict[str, Any]:
    """Sound YAML workflows."""
    rest = draw(st.lists(STEPS, max_size=3))
    steps = [{"id": "s0", "run": "echo a"}, *({"id": f"s{n + 1}", **step} for n, step in enumerate(rest))]
    on = draw(st.sampled_from([{"workflow_dispatch": {}}, {"schedule": [{"cron": "0 6 * * 1-5"}]}]))
    job = {"name": "j", "needs": [], "runs-on": ["self-hosted"], "steps": steps}
    return {"name": "n", "on": on, "jobs": {"job one": job}}


@st.composite
def tasks(draw: st.DrawFn) -> dict[str, Any]:
    """Sound tasks of every kind of target."""
    target: dict[str, Any] = draw(
        st.sampled_from(
            [
                {"run": "echo a", "shell": "sh", "env": {"A": 1}, "redact": ["TOKEN"]},
                {**_PROMPT, "output": {"type": "string"}, "engine": "main", "model": "m", "tools": ["a"], "agent": "b"},
                {"uses": "commands/c", "inference": {"temperature": 0.5, "extra_params": {"top_p": 1}}},
                {"uses": "scripts/s.sh"},
                {"uses": "workflows/kid", "inputs": {"x": {"type": "string", "default": "x"}}},
            ]
        )
    )
    common: dict[str, Any] = {
        "name": "n",
        "tags": ["a"],
        "schedule": "0 6 * * *",
        "timeout": 1000,
        "maxSteps": 3,
        "maxRetries": 0,
    }
    kept = draw(st.sets(st.sampled_from(sorted(common))))
    return {"version": 4, **target, **{name: common[name] for name in kept}}


KNOWN: Final = tuple(sorted({key.name for record in (YAML_ROOT, YAML_JOB, YAML_STEP, TASK) for key in record.keys}))


@settings(max_examples=40, deadline=None)
@given(workflow=workflows(), task=tasks())
def test_sound_documents_are_accepted_by_both(refusals: Verdict, workflow: Any, task: Any) -> None:
    assert agree(refusals, "workflows", workflow)
    assert agree(refusals, "tasks", task)


@settings(max_examples=80, deadline=None)
@given(near_misses(workflows(), KNOWN))
def test_near_misses_of_workflows_get_one_verdict(refusals: Verdict, document: Any) -> None:
    agree(refusals, "workflows", document)


@settings(max_examples=80, deadline=None)
@given(near_misses(tasks(), KNOWN))
def test_near_misses_of_tasks_get_one_verdict(refusals: Verdict, document: Any) -> None:
    agree(refusals, "tasks", document)
