"""The Markdown front end: text in, source IR and findings out."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from akmc_grammar.diagnostics import Sink
from akmc_grammar.document import Document
from akmc_grammar.markdown import read_markdown
from akmc_grammar.places import Path, Place, Span
from akmc_grammar.source import SourceText


def read(text: str | bytes) -> tuple[Document, list[tuple[str, int, int, str]]]:
    """The document and its findings as (rule, line, column, message)."""
    sink = Sink()
    raw = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    document = read_markdown(SourceText.of("a.md", raw), ref="workflows/a", sink=sink)
    spans = [document.locator.span(item.place) for item in sink.found]
    return document, [
        (item.rule.name, span.line, span.column, item.message) for item, span in zip(sink.found, spans, strict=True)
    ]


def frontmatter(*lines: str, body: str = "## a\nGo.\n") -> str:
    """A document with the given frontmatter lines."""
    return "\n".join(["---", *lines, "---", body])


def findings(*lines: str, body: str = "## a\nGo.\n") -> list[tuple[str, int, int]]:
    """(rule, line, column) of each finding, in source order."""
    return sorted(
        ((rule, line, column) for rule, line, column, _ in read(frontmatter(*lines, body=body))[1]), key=lambda f: f[1:]
    )


def test_a_whole_document_becomes_this_source_ir() -> None:
    document, found = read(
        "---\n"
        "description: All of it\n"
        "params: {rows: {type: array}}\n"
        "defaults: {engine: fast, timeout: 2m, on_error: continue}\n"
        "budget: {max_units: 3}\n"
        "outputs: {o: {from: steps.a.output, schema: {type: string}}}\n"
        "steps:\n"
        "  - id: a\n"
        "    map: {over: params.rows, concurrency: 2.0, unit: {exec: {command: [ls], pass_env: [CI]}, retry: {max: 1, on: [timeout]}}}\n"
        "    gate: {max_loops: 2}\n"
        "  - id: r\n"
        "    route: {input: steps.a.output, when: [{match: true, step: b}], default: b}\n"
        "  - id: b\n"
        "    inputs: [steps.a.output]\n"
        "---\n"
        "# Title\n"
        "Preamble.\n"
        "## b\n"
        "Prose.\n"
        "## a\n"
        "\n"
        "One item.\n"
        "### gate\n"
        "- Done.\n"
    )
    assert found == []
    printed = json.loads(msgspec.json.encode(document.ir))
    del printed["spans"]
    assert printed == {
        "sourceIrVersion": 1,
        "sourceFormat": "markdown",
        "title": "Title",
        "description": "All of it",
        "params": {"rows": {"type": "array"}},
        "defaults": {"engine": "fast", "timeout": 120_000, "onError": "continue"},
        "budget": {"maxUnits": 3},
        "outputs": {"o": {"from": "steps.a.output", "schema": {"type": "string"}}},
        "steps": [
            {
                "id": "a",
                "kind": "map",
                "inputs": [],
                "unit": {
                    "exec": {"command": ["ls"], "passEnv": ["CI"]},
                    "retry": {"max": 1, "on": ["timeout"]},
                    "envRefs": [],
                },
                "map": {"over": "params.rows", "concurrency": 2},
                "maxLoops": 2,
                "instructions": "One item.",
                "rubric": "- Done.",
            },
            {
                "id": "r",
                "kind": "route",
                "inputs": [],
                "route": {"input": "steps.a.output", "when": [{"match": True, "step": "b"}], "default": "b"},
                "instructions": "",
            },
            {
                "id": "b",
                "kind": "unit",
                "inputs": ["steps.a.output"],
                "unit": {"envRefs": []},
                "instructions": "Prose.",
            },
        ],
        "schedule": [],
        "preamble": printed["preamble"],
    }
    assert "Preamble." in printed["preamble"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["steps: [{id: a}]", "type: note"], [("invalid-value", 3, 7)]),
        (["steps: [{id: a, gate: {max_loops: 0}}]"], [("bound-exceeded", 2, 35)]),
        (["steps: [{id: a, gate: {max_loops: true}}]"], [("wrong-type", 2, 35)]),
        (["steps: [{id: a, gate: null}]"], [("wrong-type", 2, 23)]),
        (["steps: []"], [("bound-exceeded", 2, 8)]),
        (["steps: [{id: a, inputs: []}]"], [("bound-exceeded", 2, 25)]),
        (["steps: [{id: a, unit: {llm: null}}]"], [("wrong-type", 2, 29)]),
        (["steps: [{id: a, unit: {llm: {}}}]"], []),
        (["steps: [{id: a, unit: {timeout: 0}}]"], [("bound-exceeded", 2, 33)]),
        (["steps: [{id: a, unit: {timeout: 1.5}}]"], [("invalid-timeout", 2, 33)]),
        (["steps: [{id: a, unit: {timeout: 2147483648}}]"], [("bound-exceeded", 2, 33)]),
        (["steps: [{id: a, unit: {retry: {max: -1, on: [timeout]}}}]"], [("bound-exceeded", 2, 37)]),
        (["steps: [{id: a, unit: {retry: {max: 1, on: []}}}]"], [("bound-exceeded", 2, 44)]),
        (["steps: [{id: a, unit: {retry: {max: 1}}}]"], [("missing-key", 2, 31)]),
        (["steps: [{id: a, unit: {exec: {command: []}}}]"], [("bound-exceeded", 2, 40)]),
        (["steps: [{id: a, unit: {exec: {command: ['']}}}]"], [("bound-exceeded", 2, 41)]),
        (["steps: [{id: a, unit: {exec: {command: [1]}}}]"], [("wrong-type", 2, 41)]),
        (["steps: [{id: a, unit: {exec: {command: [x], pass_env: [A, A]}}}]"], [("invalid-value", 2, 59)]),
        (["steps: [{id: a, unit: {exec: {command: [x], pass_env: [a-b]}}}]"], [("invalid-value", 2, 56)]),
        (["steps: [{id: a, unit: {exec: {command: [x], pass_env: [AKM_X]}}}]"], [("invalid-value", 2, 56)]),
        (["steps: [{id: a, unit: {exec: {command: [x], cwd: 'a\\b'}}}]"], [("exec-cwd-escape", 2, 50)]),
        (["steps: [{id: a, unit: {exec: {command: [x], cwd: 'C:x'}}}]"], [("exec-cwd-escape", 2, 50)]),
        (["steps: [{id: a, unit: {exec: {command: [x], cwd: ~/x}}}]"], [("exec-cwd-escape", 2, 50)]),
        (["steps: [{id: a, unit: {engine: akm-x}}]"], [("invalid-engine-name", 2, 32)]),
        ([f"steps: [{{id: a, unit: {{engine: {'x' * 64}}}}}]"], [("invalid-engine-name", 2, 32)]),
        (["steps: [{id: a, unit: {llm: {extra_params: {Max-Tokens: 1}}}}]"], [("invalid-value", 2, 45)]),
        (["steps: [{id: a, unit: {llm: {extra_params: {x: {API_KEY: 1}}}}}]"], [("invalid-value", 2, 49)]),
        (["steps: [{id: a, unit: {llm: {extra_params: {x: {model: 1}}}}}]"], []),
        (["defaults: {llm: {extra_params: {stream: 1}}}", "steps: [{id: a}]"], [("invalid-value", 2, 33)]),
        (["steps: [{id: a, map: {concurrency: 2}}]"], [("missing-key", 2, 22)]),
        (["steps: [{id: a}]", "verified: {by: kim}"], []),
        (["steps: [{id: a}]", "verified: [{at: '2031'}]"], [("missing-key", 3, 12)]),
        (["steps: [{id: a}]", "updated: 2031"], [("wrong-type", 3, 10)]),
        (["steps: [{id: a}]", "tags: one"], [("wrong-type", 3, 7)]),
        (["steps: [{id: a}]", "params: {x: text}"], [("wrong-type", 3, 13)]),
        (["steps: [{id: a}]", f"params: {{{'x' * 129}: {{}}}}"], [("invalid-param-name", 3, 10)]),
        (["steps: [{id: a}]", "outputs: {b-c: {from: steps.a.output}}"], [("invalid-param-name", 3, 11)]),
        (["steps: [{id: a}]", "outputs: {b: {}}"], [("missing-key", 3, 14)]),
        (["steps: [{}]"], [("missing-key", 2, 9)]),
        (["steps: 3"], [("wrong-type", 2, 8)]),
        (["steps: [3]"], [("wrong-type", 2, 9)]),
        (["steps: [{id: 7}]"], [("wrong-type", 2, 14)]),
        (["steps: [{id: a, unit: {model: ''}}]"], [("bound-exceeded", 2, 31)]),
        (["steps: [{id: a, unit: {inherit_env: true}}]"], [("inherit-env-forbidden", 2, 24)]),
    ],
    ids=lambda value: value[0][:60] if value and isinstance(value[0], str) else None,
)
def test_one_mistake_one_finding_at_its_place(lines: list[str], expected: list[tuple[str, int, int]]) -> None:
    body = "## a\nGo.\n\n### gate\n- ok\n" if "gate" in lines[0] else "## a\nGo.\n"
    if not any("id: a" in line for line in lines):
        body = ""
    assert findings(*lines, body=body) == expected


def test_a_misplaced_key_says_where_it_belongs() -> None:
    _, found = read(frontmatter("steps:", "  - id: a", "    concurrency: 3"))
    sink = Sink()
    read_markdown(
        SourceText.of("a.md", frontmatter("steps:", "  - id: a", "    concurrency: 3").encode()), ref="", sink=sink
    )
    assert [rule for rule, *_ in found] == ["unknown-key"]
    assert sink.found[0].help == '"concurrency" is a key of map: move it there'


def test_a_command_string_is_shown_as_a_list() -> None:
    sink = Sink()
    text = frontmatter("steps:", "  - id: a", "    unit: {exec: {command: make -j4 all}}")
    read_markdown(SourceText.of("a.md", text.encode()), ref="", sink=sink)
    assert [(item.rule.name, item.help) for item in sink.found] == [
        ("exec-shell-string", "no shell splits it; write [make, -j4, all]")
    ]


@pytest.mark.parametrize("key", ["inputs", "output"])
def test_a_route_takes_neither_inputs_nor_output(key: str) -> None:
    value = {"inputs": "[steps.a.output]", "output": "{type: string}"}[key]
    lines = ["steps:", "  - id: a", "  - id: r", "    route: {input: steps.a.output, when: [{match: x, step: b}]}"]
    found = findings(*lines, f"    {key}: {value}", "  - id: b", body="## a\nGo.\n## b\nGo.\n")
    assert found == [("step-kind-conflict", 6, 5)]


@pytest.mark.parametrize(("key", "rule"), [("rout: {input: x}", "unknown-key"), ("unit: {}", "step-kind-conflict")])
def test_what_may_be_a_route_is_not_asked_for_a_section(key: str, rule: str) -> None:
    route = [] if key.startswith("rout:") else ["    route: {input: steps.a.output, when: [{match: x, step: b}]}"]
    lines = ["steps:", "  - id: a", "  - id: r", f"    {key}", *route, "  - id: b"]
    assert [name for name, *_ in findings(*lines, body="## a\nGo.\n## b\nGo.\n")] == [rule]


@pytest.mark.parametrize(
    ("step", "path"),
    [
        ("uni: {exec: {command: [x]}}", ("steps", 0, "unit")),
        ("unit: {exe: {command: [x]}}", ("steps", 0, "unit", "exec")),
        ("map: {over: params.x, units: {exec: {command: [x]}}}", ("steps", 0, "map", "unit")),
    ],
)
def test_a_misspelt_key_poisons_what_it_was_to_be(step: str, path: Path) -> None:
    document, found = read(frontmatter(f"steps: [{{id: a, {step}}}]"))
    assert [rule for rule, *_ in found] == ["unknown-key"]
    assert document.is_poisoned(path)


def test_the_section_of_a_step_that_is_no_mapping_is_not_reported_too() -> None:
    assert findings("steps: [a]") == [("wrong-type", 2, 9)]


def test_bytes_that_are_not_utf8_are_one_finding_at_the_byte() -> None:
    _, found = read(b"---\nsteps: [{id: \xff}]\n---\n")
    assert [finding[:3] for finding in found] == [("source-not-utf8", 2, 14)]


def test_a_source_above_the_bound_is_not_read() -> None:
    document, found = read("---\nsteps: [{id: a}]\n---\n## a\n" + "x" * (1 << 20))
    assert [finding[0] for finding in found] == ["bound-exceeded"]
    assert document.ir is None


@pytest.mark.parametrize("text", ["---\nsteps:\n", "--- \nsteps: [{id: a}]\n---\n", "", "\n"])
def test_delimiters_are_exact(text: str) -> None:
    assert [finding[:2] for finding in read(text)[1]] == [("missing-frontmatter", 1)]


def test_the_frontmatter_may_close_at_the_end_of_the_file_and_with_blanks_behind() -> None:
    _, found = read("---\nsteps: [{id: a}]\n---  ")
    assert [finding[:2] for finding in found] == [("missing-section", 2)]


def test_the_classic_format_is_named() -> None:
    for text in (
        "# Workflow: Old\n\n## Step: One\nStep ID: one\n",
        "---\ndescription: x\n---\n# Workflow: Old\n\n## Step: One\nStep ID: one\n",
    ):
        assert [finding[0] for finding in read(text)[1]] == ["superseded-format"]


def test_an_unreadable_exec_is_poisoned_so_that_no_engine_is_asked_for() -> None:
    document, _ = read(frontmatter("steps: [{id: a, unit: {exec: {command: make}}}]"))
    assert document.ir is not None
    unit = document.ir.steps[0].unit
    assert unit is not UNSET
    assert unit.exec is UNSET
    assert document.is_poisoned(("steps", 0, "unit", "exec"))


def test_a_malformed_id_claims_its_section() -> None:
    assert findings("steps: [{id: fork.left}, {id: a}]", body="## fork.left\nX.\n## a\nGo.\n") == [
        ("invalid-step-id", 2, 14)
    ]


def test_places_of_prose_and_keys() -> None:
    document, _ = read("---\nsteps:\n  - id: a\n---\n## a\nGo.\n\n### gate\n- ok\n")

    def at(*path: Any, part: Any = "value") -> Span:
        return document.locator.span(Place("a.md", path, part))

    assert at("steps", 0, "id", part="key") == Span(3, 5, 3, 7)
    assert at("steps", 0, "instructions").line == 5
    assert at("steps", 0, "rubric").line == 8
    assert at("steps", 0, "nothing").line == 3


@pytest.mark.parametrize(
    "line",
    [
        "provenance: {a: " + "[" * 70 + "]" * 70 + "}",
        "provenance: {a: &p {a: *p}}",
        "provenance: {a: [" + "x, " * 20_001 + "x]}",
    ],
    ids=["depth", "self-alias", "nodes"],
)
def test_what_is_beyond_the_budget_is_one_finding(line: str) -> None:
    found = findings(line, "steps:", "  - id: a")
    assert [(rule, line) for rule, line, _ in found] == [("bound-exceeded", 2)]
