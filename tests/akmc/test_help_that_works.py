"""Slips of a hand, and the help lines that they get: what a help line says can be typed, and is right when it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from akmc.cli import run

Write = Callable[[Mapping[str, str]], Path]
Capture = pytest.CaptureFixture[str]
STEP = "---\nsteps:\n  - {{id: a, {}}}\n---\n## a\nText.\n"
ROUTE = "---\nparams: {{v: {{type: string}}}}\nsteps:\n  - {{id: r, route: {{input: params.v, {}}}}}\n  - id: a\n---\n## a\nx\n"
YAML = "name: x\non: {{workflow_dispatch: {{}}}}\njobs: {{m: {{runs-on: [self-hosted], steps: [{{id: a, {}}}]}}}}\n"
TASK = "version: 4\nrun: make\n{}\n"


def told(write: Write, capfd: Capture, path: str, text: str) -> list[tuple[str, str, str]]:
    """(rule, message, help) of every finding."""
    write({path: text})
    run(["check", path, "--format", "json"])
    found = json.loads(capfd.readouterr().out)["diagnostics"]
    return [(item["rule"], item["message"], item["help"]) for item in found]


@pytest.mark.parametrize(
    ("text", "rule", "help"),
    [
        (
            STEP.format("unit: {exec: {command: 'ls -l \"my file\" | wc'}}"),
            "exec-shell-string",
            'no shell splits it; write [sh, -c, "ls -l \\"my file\\" | wc"]',
        ),
        (STEP.format("unit: {exec: {command: [null]}}"), "wrong-type", "write a value, or drop the item"),
        (STEP.format("unit: {exec: {command: null}}"), "wrong-type", 'write a value, such as "command: [make, test]"'),
        (STEP.format("unit: {model: null}"), "wrong-type", "write a value, or drop the key"),
        (STEP.format("unit: {llm: {temperature: '0.5'}}"), "wrong-type", "write 0.5 without quotes"),
        (STEP.format("unit: {llm: {max_tokens: '0.5'}}"), "wrong-type", "write digits without quotes, such as 10"),
        (STEP.format("unit: {exec: {command: [ls], pass_env: [1]}}"), "wrong-type", "a variable name;"),
        (STEP.format("unit: {on_error: 3}"), "wrong-type", "write one of these values, or drop the key"),
        (STEP.replace("id: a", "id: 7").format("unit: {}"), "wrong-type", 'write "step-7": an ASCII letter'),
        (STEP.replace("id: a", "id: null").format("unit: {}"), "wrong-type", 'write a value, such as "id: build"'),
        (STEP.replace("id: a", "id: Prüfung").format("unit: {}"), "invalid-step-id", 'write "Prufung": an ASCII'),
        (STEP.replace("id: a", "id: 検査").format("unit: {}"), "invalid-step-id", "an ASCII letter or underscore"),
        (STEP.format("inputs: [param.n]"), "invalid-reference", 'did you mean "params.n"?'),
        (STEP.format("inputs: [steps.b.outputs]"), "invalid-reference", 'did you mean "steps.b.output"?'),
        (STEP.format("inputs: ['step.b.ouput[0].x']"), "invalid-reference", 'did you mean "steps.b.output[0].x"?'),
        ("---\nparams: {x: string}\nsteps: [{id: a}]\n---\n## a\nx\n", "wrong-type", "write {type: string}"),
        ("---\nsteps:\n  - id:\u00a0a\n---\n## a\nx\n", "wrong-type", 'the blank behind ":" is U+00A0, which ends no'),
    ],
)
def test_markdown(write: Write, capfd: Capture, text: str, rule: str, help: str) -> None:
    found = told(write, capfd, "workflows/a.md", text)
    assert any(item[0] == rule and item[2].startswith(help) for item in found), found


@pytest.mark.parametrize(
    ("text", "rule", "help"),
    [
        (YAML.format("uses: workflow/kid"), "unsupported-uses-target", 'did you mean "workflows/kid"?'),
        (YAML.format("uses: Workflows/kid"), "unsupported-uses-target", 'did you mean "workflows/kid"?'),
        (YAML.format("uses: akm/commands"), "unsupported-uses-target", 'did you mean "akm/command"?'),
        (YAML.format("uses: actions/checkout"), "unsupported-uses-target", "use akm/command, or an asset of"),
        (YAML.format("uses: workflows/../workflows/kid"), "ref-escapes-bundle", 'write "workflows/kid": a ref has no'),
        (YAML.format("uses: workflows/../../kid"), "ref-escapes-bundle", "use akm/command, or an asset of"),
        ("name: x\non: {workflow_dispatch: {}}\njobs: {}\n", "multi-job-unsupported", "add it, such as jobs: {main: {"),
        ("name: x\non: {schedule: []}\njobs: {}\n", "bound-exceeded", "list at least one"),
    ],
)
def test_yaml(write: Write, capfd: Capture, text: str, rule: str, help: str) -> None:
    found = told(write, capfd, "workflows/a.yml", text)
    assert any(item[0] == rule and item[2].startswith(help) for item in found), found


@pytest.mark.parametrize(
    ("text", "rule", "help"),
    [
        (TASK.format("timeout: 5m"), "wrong-type", "this key counts milliseconds: write 300000"),
        (TASK.format("timeout: soon"), "wrong-type", "this key counts milliseconds: write 300000"),
        (TASK.format("inputs: {a: {type: string, required: yes}}"), "schema-malformed", "write required: true where"),
        ('version: "4"\nrun: make\n', "wrong-type", "write 4 without quotes"),
    ],
)
def test_tasks(write: Write, capfd: Capture, text: str, rule: str, help: str) -> None:
    found = told(write, capfd, "tasks/t.yml", text)
    assert any(item[0] == rule and item[2].startswith(help) for item in found), found


@pytest.mark.parametrize(
    ("path", "text", "says"),
    [
        ("workflows/a.md", STEP.format("unit: {llm: {max_tokens: 0}}"), "max_tokens takes 1 to "),
        ("workflows/a.md", STEP.format("unit: {llm: {context_length: 0}}"), "context_length takes 1 to "),
        ("tasks/t.yml", TASK.format("maxRetries: -1"), "maxRetries takes 0 to 100, found -1"),
        ("tasks/t.yml", TASK.format("maxSteps: 0"), "maxSteps takes 1 to 256, found 0"),
        ("tasks/t.yml", TASK.format("schedule: []"), "schedule takes 1 to 64 entries, found 0 entries"),
    ],
)
def test_a_bound_is_told_by_the_name_of_its_key(write: Write, capfd: Capture, path: str, text: str, says: str) -> None:
    assert [item[1].startswith(says) for item in told(write, capfd, path, text)] == [True]


def test_a_branch_in_words_of_another_language_is_two_findings(write: Write, capfd: Capture) -> None:
    found = told(write, capfd, "workflows/a.md", ROUTE.format("when: [{when: z, then: a}]"))
    assert [item[2] for item in found] == ['did you mean "match"?', 'did you mean "step"?']


def test_a_merge_key_hides_what_it_would_have_brought(write: Write, capfd: Capture) -> None:
    steps = "steps: [&s {id: a, run: ls}, {<<: *s}]"
    text = f"name: x\non: {{workflow_dispatch: {{}}}}\njobs: {{m: {{runs-on: [self-hosted], {steps}}}}}\n"
    found = [item[0] for item in told(write, capfd, "workflows/a.yml", text)]
    assert found == ["yaml-anchor", "yaml-merge-key", "yaml-alias"]


@pytest.mark.parametrize("inputs", ["[]", "[params.v]"])
def test_inputs_of_a_route_are_one_finding(write: Write, capfd: Capture, inputs: str) -> None:
    text = ROUTE.format("when: [{match: z, step: a}]").replace("{id: r, ", f"{{id: r, inputs: {inputs}, ")
    assert [item[0] for item in told(write, capfd, "workflows/a.md", text)] == ["step-kind-conflict"]


def test_quotes_are_put_where_they_mend_something_and_nowhere_else(write: Write) -> None:
    root = write({"workflows/a.md": STEP.replace("id: a", "id: 7").format("unit: {model: 3}")})
    run(["check", "--fix"])
    assert '{id: 7, unit: {model: "3"}}' in (root / "workflows/a.md").read_text()


@pytest.mark.parametrize(
    "keys",
    ["timout: 5m, tiemout: 3m", "timeuot: 5m, tiemout: 3m", "timout: 5m, timeout_: 3", "timout: 5m, timout: 3m"],
)
def test_two_keys_that_could_be_one_are_left_as_they_are(write: Write, capfd: Capture, keys: str) -> None:
    text = STEP.format(f"unit: {{{keys}}}")
    root = write({"workflows/a.md": text})
    assert run(["check", "--fix"]) == 1
    assert (root / "workflows/a.md").read_text() == text
    assert "fix" not in capfd.readouterr().err


@pytest.mark.parametrize("heading", ["# a", "### a", "### `a`", "# **a**:"])
def test_a_heading_of_another_level_is_named(write: Write, capfd: Capture, heading: str) -> None:
    write({"workflows/a.md": f"---\nsteps: [{{id: a}}]\n---\n{heading}\nText.\n"})
    run(["check", "--format", "json"])
    (found,) = json.loads(capfd.readouterr().out)["diagnostics"]
    assert found["rule"] == "missing-section" and found["help"].startswith('write "## a": only')
    assert [note["line"] for note in found["notes"]] == [4]


@pytest.mark.parametrize("heading", ["## `a`", "## **a**", "## *A*", "## a:"])
def test_marks_around_a_heading_are_mended(write: Write, heading: str) -> None:
    root = write({"workflows/a.md": f"---\nsteps: [{{id: a}}]\n---\n{heading}\nText.\n"})
    assert run(["check", "--fix"]) == 0
    assert "\n## a\n" in (root / "workflows/a.md").read_text()


def test_a_merge_in_the_frontmatter_is_called_one(write: Write, capfd: Capture) -> None:
    text = "---\n<<<<<<< HEAD\ndescription: a\n=======\ndescription: b\n>>>>>>> x\nsteps: [{id: a}]\n---\n## a\nx\n"
    ((rule, message, help),) = told(write, capfd, "workflows/a.md", text)
    assert (rule, message) == ("invalid-yaml", 'found "<<<<<<< HEAD": this is an unresolved merge')
    assert help.startswith("keep one of the two versions")
