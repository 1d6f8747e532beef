"""Tasks that are asked for: schemas, schedules, refs, the workflow that they target."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Compose = Callable[..., Any]

KID = "---\nparams: {mode: {enum: [fast]}}\nsteps: [{id: a, unit: {exec: {command: [ls]}}}]\n---\n## a\nGo.\n"
PARENT = "name: A\non: {workflow_dispatch: {}}\njobs: {m: {runs-on: [self-hosted], steps: [{id: s, uses: tasks/t}]}}\n"


def checked(compose: Compose, text: str, **files: str) -> Any:
    """The task ``tasks/t`` beside the child ``kid``."""
    return compose({"tasks/t.yml": text, "workflows/kid.md": KID, **files}, "tasks/t.yml")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("version: 4\nrun: make\ninputs: {a: {type: strig}}\n", [("schema-malformed", 3)]),
        ("version: 4\nrun: make\ninputs:\n  a:\n    pattern: x\n", [("schema-unsupported-keyword", 5)]),
        ("version: 4\nrun: make\ninputs: {a: {type: integer, default: x}}\n", [("schema-bad-default", 3)]),
        ("version: 4\nuses: akm/command\nwith: {content: x}\noutput: {typ: object}\n", [("schema-unknown-keyword", 4)]),
        ("version: 4\nuses: scripts/gone.sh\n", [("unresolved-ref", 2)]),
        ("version: 4\nuses: commands/gone\n", [("unresolved-ref", 2)]),
        ("version: 4\nuses: akm/command\nwith: {ref: commands/gone}\n", [("unresolved-ref", 3)]),
        ("version: 4\nuses: workflows/gone\n", [("unresolved-ref", 2)]),
        ("version: 4\nuses: team//workflows/kid\n", [("unresolved-ref", 2)]),
        ("version: 4\nuses: workflows/README\n", [("unresolved-ref", 2)]),
        ("version: 4\nuses: workflows/kid\n", []),
        ("version: 4\nuses: workflows/kid\ninputs: {mode: {default: fast}}\n", []),
        ("version: 4\nuses: workflows/kid\ninputs:\n  mode: {default: slow}\n  other: {}\n", [("input-binding-invalid", 4), ("input-binding-invalid", 5)]),
        ("version: 4\nrun: make\ninputs: {a: {type: string, required: true}}\nschedule: '* * * * *'\n", [("task-invalid", 4)]),
        ("version: 4\nrun: make\ninputs: {a: {type: string}}\nschedule:\n  - {cron: '* * * * *', inputs: {a: 5}}\n  - {cron: '* * * * *', inputs: {b: 5}}\n", [("task-invalid", 5), ("task-invalid", 6)]),
        ("version: 4\nrun: make\ninputs: {a: 5}\nschedule: [{cron: '* * * * *', inputs: {a: 5}}]\n", [("wrong-type", 3)]),
    ],
)  # fmt: skip
def test_findings(compose: Compose, text: str, expected: list[tuple[str, int]]) -> None:
    made = checked(compose, text, **{"workflows/README.md": "x"})
    assert [(rule, line) for rule, file, line in made.rules if file == "tasks/t.yml"] == expected
    assert len(made.rules) == len(expected)


def test_a_broken_child_and_a_cycle(compose: Compose) -> None:
    task = "version: 4\nuses: workflows/a\n"
    broken = checked(compose, task, **{"workflows/a.yml": PARENT.replace("uses: tasks/t", "run: a | b")})
    assert broken.rules == [("composition-invalid", "tasks/t.yml", 2), ("unsafe-run-token", "workflows/a.yml", 3)]
    circular = checked(compose, task, **{"workflows/a.yml": PARENT})
    assert circular.rules == [("composition-cycle", "tasks/t.yml", 2)]
    assert circular.messages[0].endswith("Path: tasks/t -> a -> tasks/t.")


def test_an_engine_that_nobody_configured(compose: Compose) -> None:
    text = "version: 4\nuses: akm/command\nwith: {content: x}\nengine: nobody\n"
    engine = {"kind": "agent", "platform": "claude"}
    assert checked(compose, text).rules == []
    made = compose({"tasks/t.yml": text}, "tasks/t.yml", config={"engines": {"some": engine}})
    assert made.rules == [("unknown-engine", "tasks/t.yml", 4)]
    workflow = {"workflows/a.yml": PARENT, "tasks/t.yml": text}
    assert compose(workflow, config={"engines": {"some": engine}}).rules == [("unknown-engine", "workflows/a.yml", 3)]


def test_a_name_with_the_wrong_extension_is_told(compose: Compose) -> None:
    made = checked(compose, "version: 4\nuses: workflows/x\n", **{"workflows/x.yaml": PARENT})
    assert made.rules == [("unresolved-ref", "tasks/t.yml", 2)]
    assert made.context.sink.found[0].help == "rename workflows/x.yaml: the extension is never recognised, write .yml"
