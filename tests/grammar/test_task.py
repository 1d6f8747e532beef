"""The task front end."""

from __future__ import annotations

import msgspec
import pytest

from akmc_grammar.diagnostics import Sink
from akmc_grammar.places import Place
from akmc_grammar.source import SourceText
from akmc_grammar.task import read_task
from akmc_grammar.task_ir import TaskDocument


def read(text: str) -> tuple[TaskDocument, list[tuple[str, int]]]:
    """The document and rule and line of each finding."""
    sink = Sink()
    document = read_task(SourceText.of("t.yml", text.encode()), ref="tasks/t", sink=sink)
    found = [(item.rule.name, (item.place.span or document.locator.span(item.place)).line) for item in sink.found]
    return document, sorted(found, key=lambda item: item[1])


def test_everything_at_once() -> None:
    document, found = read("""version: 4
name: Review
description: Reviews
when_to_use: often
tags: [a]
uses: akm/command
with: {ref: commands/x, arguments: y}
inputs:
  path: {type: string, required: true}
  deep: {type: object, properties: {a: {}}, required: [a]}
  jobs: {type: integer, default: 2}
output: {type: object}
env: {A: 1}
schedule: [{cron: "0 6 * * *", inputs: {path: x}}, {cron: "0 7 * * *"}]
timeout: 5000
engine: local
model: m
inference: {temperature: 0.5}
tools: [Read]
redact: [TOKEN]
agent: me
maxSteps: 3
maxRetries: 0
""")
    assert found == [] and document.ir is not None
    task = msgspec.to_builtins(document.ir)
    assert task["kind"] == "prompt"
    assert task["inputs"] == {
        "path": {"schema": {"type": "string"}, "required": True},
        "deep": {"schema": {"type": "object", "properties": {"a": {}}, "required": ["a"]}, "required": False},
        "jobs": {"schema": {"type": "integer", "default": 2}, "required": False},
    }
    assert task["schedule"] == [{"cron": "0 6 * * *", "inputs": {"path": "x"}}, {"cron": "0 7 * * *", "inputs": {}}]
    assert task["unit"]["timeout"] == 5000
    assert task["unit"]["llm"] == {"temperature": 0.5}
    assert (task["agent"], task["tools"], task["redact"]) == ("me", ["Read"], ["TOKEN"])
    assert (task["maxSteps"], task["maxRetries"]) == (3, 0)


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("run: make all\nshell: sh\nworking-directory: src", "run"),
        ("uses: commands/x", "command"),
        ("uses: team//scripts/x.sh", "script"),
        ("uses: workflows/x", "workflow"),
    ],
)
def test_kinds(target: str, kind: str) -> None:
    document, found = read(f"version: 4\n{target}\n")
    assert found == [] and document.ir is not None and document.ir.kind == kind


@pytest.mark.parametrize(
    ("version", "rules"),
    [
        ("2", ["task-schema-version"]),
        ("3", ["task-schema-version"]),
        ("5", ["task-schema-version"]),
        ("0", ["task-schema-version"]),
        ("4.5", ["task-schema-version"]),
        ("4.0", []),
        ("'4'", ["wrong-type"]),
        ("true", ["wrong-type"]),
        ("", ["wrong-type"]),
    ],
)
def test_versions(version: str, rules: list[str]) -> None:
    _, found = read(f"run: make\nversion: {version}\n")
    assert found == [(rule, 2) for rule in rules]


def test_nothing_else_is_said_about_another_version() -> None:
    assert read("version: 3\nfoo: 1\nrun: a | b\nenv: 5\n")[1] == [("task-schema-version", 1)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("run: make\n", [("missing-key", 1)]),
        ("", [("missing-key", 1), ("task-invalid", 1)]),
        ("- a\n", [("wrong-type", 1)]),
        ("version: 4\n", [("task-invalid", 1)]),
        ("version: 4\nrun: make\nuses: commands/x\n", [("task-invalid", 1)]),
        ("version: 4\nuses: tasks/x\n", [("task-invalid", 2)]),
        ("version: 4\nuses: agents/x\n", [("task-invalid", 2)]),
        ("version: 4\nuses: env/x\n", [("task-invalid", 2)]),
        ("version: 4\nuses: docker://x\n", [("docker-action-unsupported", 2)]),
        ("version: 4\nuses: ./x\n", [("local-action-path-unsupported", 2)]),
        ("version: 4\nuses: a/b@v1\n", [("remote-action-unsupported", 2)]),
        ("version: 4\nuses: lint\n", [("unsupported-uses-target", 2)]),
        ("version: 4\nuses: akm/command\n", [("missing-key", 2)]),
        ("version: 4\nuses: akm/command\nwith: {content: x, ref: commands/x}\n", [("uses-field-conflict", 3)]),
        ("version: 4\nuses: commands/x\nwith: {arguments: y}\n", [("task-invalid", 3)]),
        ("version: 4\nrun: make\nwith: {}\n", [("task-invalid", 3)]),
        ("version: 4\nuses: scripts/x.sh\nshell: sh\n", [("task-invalid", 3)]),
        ("version: 4\nuses: workflows/x\nworking-directory: src\n", [("task-invalid", 3)]),
        ("version: 4\nuses: workflows/x\nenv: {A: 1}\n", [("task-invalid", 3)]),
        ("version: 4\nuses: workflows/x\nredact: [A]\n", [("task-invalid", 3)]),
        ("version: 4\nuses: workflows/x\noutput: {}\n", [("task-invalid", 3)]),
        ("version: 4\nrun: make\noutput: {type: string}\n", [("task-invalid", 3)]),
        ("version: 4\nrun: make\nengine: e\nmodel: m\ninference: {}\ntools: []\nagent: a\n", [("task-invalid", line) for line in range(3, 8)]),
        ("version: 4\nrun: make\ntimeout: 5s\n", [("wrong-type", 3)]),
        ("version: 4\nrun: make\ntimeout: 0\n", [("bound-exceeded", 3)]),
        ("version: 4\nrun: make\nmaxSteps: 0\nmaxRetries: 101\n", [("bound-exceeded", 3), ("bound-exceeded", 4)]),
        ("version: 4\nrun: make\nshell: fish\n", [("unsupported-shell", 3)]),
        ("version: 4\nrun: make\nworking-directory: ../x\n", [("working-directory-escape", 3)]),
        ("version: 4\nrun: make\nredact: [A, A, AKM_B]\n", [("invalid-value", 3), ("invalid-value", 3)]),
        ("version: 4\nrun: make\nenv: [A]\n", [("wrong-type", 3)]),
        ("version: 4\nrun: make\ninputs: {a-b: {}, c: 5}\n", [("invalid-param-name", 3), ("wrong-type", 3)]),
        ("version: 4\nrun: make\ninputs: {a: {default: 1, required: true}}\n", [("task-invalid", 3)]),
        ("version: 4\nrun: make\ninputs: {a: {type: string, required: false}}\n", [("task-invalid", 3)]),
        ("version: 4\nuses: commands/x\nmodel: ''\n", [("bound-exceeded", 3)]),
        ("version: 4\nrun: make\nschedule: []\n", [("bound-exceeded", 3)]),
        ("version: 4\nrun: make\nschedule: {cron: x}\n", [("wrong-type", 3)]),
        ("version: 4\nrun: make\nschedule: '@daily'\n", [("invalid-cron", 3)]),
        ("version: 4\nrun: make\nschedule:\n  - 5\n  - {inputs: {}}\n  - {cron: '* * * * *', inputs: []}\n", [("wrong-type", 4), ("missing-key", 5), ("wrong-type", 6)]),
        ("version: 4\nuses: akm/command\nwith: {content: x}\ninference: {extra_params: {api_key: x}}\n", [("invalid-value", 4)]),
        ("version: 4\nrun: make\nname: ${{ x }}\n", [("unsupported-github-expression", 3)]),
        ("version: 4\nrun: make\ntimout: 5\n", [("unknown-key", 3)]),
        ("version: 4\nrun: &a make\nname: *a\n", [("yaml-anchor", 2), ("yaml-alias", 3)]),
    ],
)  # fmt: skip
def test_one_mistake_is_one_finding(text: str, expected: list[tuple[str, int]]) -> None:
    document, found = read(text)
    assert found == expected
    assert document.poisoned or document.ir is None or "yaml" in found[0][0] or found[0][1] >= 3


def test_a_bound_is_named_by_its_own_key() -> None:
    sink = Sink()
    read_task(SourceText.of("t.yml", b"version: 4\nrun: make\nredact: []\n"), ref="", sink=sink)
    assert [item.message for item in sink.found] == ["redact takes 1 to 32 names, found 0 names"]


def test_places() -> None:
    document, _ = read("version: 4\nuses: akm/command\nwith: {ref: commands/x}\nenv: {A: 1}\n")
    for path, column in ((("unit", "uses"), 7), (("unit", "uses", "with", "ref"), 13), (("unit", "env", "A"), 10)):
        assert document.locator.span(Place("t.yml", path)).column == column


def test_bytes_that_are_no_text() -> None:
    sink = Sink()
    document = read_task(SourceText.of("t.yml", b"version: 4\nrun: \xff\n"), ref="", sink=sink)
    assert [item.rule.name for item in sink.found] == ["source-not-utf8"]
    assert document.ir is None and document.is_poisoned(("run",))
