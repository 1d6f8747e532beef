"""The YAML front end: source IR, places, and one finding for one mistake."""

from __future__ import annotations

import textwrap

import msgspec
import pytest
from msgspec import UNSET

from akmc_grammar.diagnostics import Sink
from akmc_grammar.document import Document
from akmc_grammar.places import Place, Span
from akmc_grammar.source import SourceText
from akmc_grammar.yaml_workflow import read_yaml_workflow

HEAD = "name: A\non: {workflow_dispatch: {}}\n"


def read(text: str) -> tuple[Document, list[tuple[str, int, int]]]:
    """The document and rule, line and column of each finding."""
    sink = Sink()
    document = read_yaml_workflow(SourceText.of("a.yml", text.encode()), ref="workflows/a", sink=sink)
    found = []
    for item in sink.found:
        span = item.place.span or document.locator.span(item.place)
        found.append((item.rule.name, span.line, span.column))
        assert item.message
    return document, sorted(found, key=lambda item: item[1:])


def steps(text: str) -> str:
    """A workflow whose first step stands on line 7."""
    body = textwrap.indent(textwrap.dedent(text).strip() + "\n", "      ")
    return f"{HEAD}jobs:\n  main:\n    runs-on: [self-hosted]\n    steps:\n{body}"


def test_the_source_ir() -> None:
    text = steps("""
        - id: lint
          name: Lint it
          run: |
            make  -j4 all
          working-directory: src
          env: {A: 1.50, B: no, C: ~, D: "x"}
        - id: kid
          uses: workflows/kid
          with: {n: 5, from_step: {from: steps.lint.output}}
        """).replace("{workflow_dispatch: {}}", '{schedule: [{cron: "0  6 * * *"}], workflow_dispatch: }')
    document, found = read(text)
    assert found == [] and document.poisoned == frozenset()
    assert document.ir is not None
    ir = msgspec.to_builtins(document.ir)
    assert (ir["sourceIrVersion"], ir["sourceFormat"], ir["title"]) == (1, "github-yaml", "A")
    assert ir["schedule"] == ["0 6 * * *"]
    lint, kid = ir["steps"]
    assert lint["unit"]["exec"] == {"command": ["make", "-j4", "all"], "cwd": "src", "passEnv": []}
    assert lint["unit"]["envLiterals"] == {"A": "1.50", "B": "no", "C": "", "D": "x"}
    assert lint["instructions"] == "make  -j4 all"
    assert kid["unit"]["uses"] == {"ref": "workflows/kid", "with": {"n": 5, "from_step": {"from": "steps.lint.output"}}}
    assert kid["instructions"] == "workflows/kid"
    assert ir["spans"]["steps.0"][:2] == [7, 9]


def test_places_of_the_source_ir_are_found_where_they_are_written() -> None:
    text = steps("""
        - {id: a, run: make, working-directory: src, env: {A: 1}}
        - {id: b, uses: akm/command, with: {ref: commands/x}}
        """)
    document, _ = read(text)
    lines = text.split("\n")

    def at(*path: str | int, part: str = "value") -> str:
        span = document.locator.span(Place("a.yml", path, "key" if part == "key" else "value"))
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]

    assert at("steps", 0, "unit", "exec", "cwd") == "src"
    assert at("steps", 0, "unit", "exec") == at("steps", 0, "instructions") == "make"
    assert at("steps", 0, "unit", "env", "A") == "1"
    assert at("steps", 1, "unit", "uses") == at("steps", 1, "instructions") == "akm/command"
    assert at("steps", 1, "unit", "uses", "with", "ref") == "commands/x"
    assert at("steps", 1, "unit", "with", part="key") == "with"
    assert document.locator.span(Place("a.yml", ("name",))) == Span(1, 7, 1, 8)


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ('{id: a, run: "make\\n"}', [("unsafe-run-token", 22)]),
        ("{id: a, run: }", [("wrong-type", 22)]),
        ("{id: a, run: 5}", [("wrong-type", 22)]),
        ("{id: a, run: echo $X y}", [("unsafe-run-token", 27)]),
        ("{id: a, run: A=1 make}", [("unsafe-run-token", 22)]),
        ("{id: a, run: make, shell: 5}", [("wrong-type", 35)]),
        ("{id: a, run: make, env: {AKM_RUN_ID: 1}}", [("invalid-value", 34)]),
        ("{id: a, run: make, env: {1A: 1}}", [("invalid-value", 34)]),
        ('{id: a, run: make, env: {A: "\\0"}}', [("invalid-value", 37)]),
        ("{id: a, run: make, with: {}, }", [("run-field-conflict", 28)]),
        ("{id: a, run: make, working-directory: ''}", [("bound-exceeded", 47)]),
        ("{id: a, run: make, working-directory: 'C:x'}", [("working-directory-escape", 47)]),
        ("{id: a, run: make, working-directory: 'a\\b'}", [("working-directory-escape", 47)]),
        ("{id: a, uses: akm/command, with: }", [("wrong-type", 42)]),
        ("{id: a, uses: akm/command, with: [x]}", [("wrong-type", 42)]),
        ("{id: a, uses: akm/command, with: {}}", [("missing-key", 42)]),
        ("{id: a, uses: akm/command, with: {content: ''}}", [("bound-exceeded", 52)]),
        ("{id: a, uses: akm/command, with: {content: x, foo: y}}", [("unknown-key", 55)]),
        ("{id: a, uses: akm/command, with: {ref: scripts/x.sh}}", [("invalid-value", 48)]),
        ("{id: a, uses: akm/command, with: {ref: commands/x, content: y}}", [("uses-field-conflict", 60)]),
        ("{id: a, uses: 5}", [("wrong-type", 23)]),
        ("{id: a, uses: !x y}", [("yaml-custom-tag", 23)]),
        ("{id: a, uses: workflows/x, with: !x {}}", [("yaml-custom-tag", 42)]),
        ("{id: a, run: '${{ x }}'}", [("unsupported-github-expression", 22)]),
        ("{id: a, uses: tasks/x, with: {n: ['${{ x }}']}}", [("unsupported-github-expression", 43)]),
        ("{id: a, uses: tasks/x, with: {'${{ x }}': 1}}", [("unsupported-github-expression", 39)]),
        ("{id: a, '${{ x }}': 1}", [("unsupported-github-expression", 17)]),
        ("{<<: {}, id: a, run: make}", [("yaml-merge-key", 10)]),
    ],
)
def test_one_mistake_in_a_step_is_one_finding(step: str, expected: list[tuple[str, int]]) -> None:
    document, found = read(steps(f"- {step}"))
    assert [(rule, column) for rule, line, column in found if line == 7] == expected
    assert len(found) == len(expected)
    assert document.ir is not None and len(document.ir.steps) == 1


@pytest.mark.parametrize(
    ("words", "faults"),
    [(["x"] * 64, []), (["x"] * 65, ["bound-exceeded"]), (["y" * 4096], []), (["y" * 4097], ["bound-exceeded"])],
)
def test_bounds_of_an_argv(words: list[str], faults: list[str]) -> None:
    _, found = read(steps(f"- {{id: a, run: {' '.join(words)}}}"))
    assert [rule for rule, _, _ in found] == faults


def test_with_a_shell_the_line_is_one_word() -> None:
    document, found = read(steps(f"- {{id: a, run: {' '.join(['x'] * 65)}, shell: sh}}"))
    assert found == [] and document.ir is not None
    unit = document.ir.steps[0].unit
    assert unit is not UNSET and unit.exec is not UNSET and len(unit.exec.command) == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on: push\njobs: {}\n", ["missing-key", "wrong-type", "multi-job-unsupported"]),
        ("name: x\non: [push]\njobs: []\n", ["wrong-type", "wrong-type"]),
        ("name: x\non: {}\njobs: {a: 5}\n", ["bound-exceeded", "wrong-type"]),
        ("", ["missing-key", "missing-key", "missing-key"]),
        ("- a\n", ["wrong-type"]),
        ("text\n", ["wrong-type"]),
        ("name: x\non: {workflow_dispatch: true}\njobs: {a: {runs-on: [self-hosted], steps: []}}\n", ["wrong-type", "bound-exceeded"]),
        ("name: x\non: {schedule: {}}\njobs: {a: {needs: b, runs-on: x, steps: {}}}\n", ["wrong-type", "multi-job-unsupported", "unsupported-runner", "wrong-type"]),
        ("name: x\non: {schedule: [{cron: 5}, 7, {}]}\njobs: {}\n", ["wrong-type", "wrong-type", "missing-key", "multi-job-unsupported"]),
        ("name: x\non: {schedule: !x []}\njobs: {a: {needs: !x [], runs-on: !x [], steps: !x []}}\n", ["yaml-custom-tag"] * 4),
        ("version: 1\nsteps: []\n", ["superseded-format"]),
        ("name: x\n${{ a }}: 1\non: {'${{ b }}': 1}\njobs: {'${{ c }}': {}}\n", ["unsupported-github-expression"] * 3),
    ],
)  # fmt: skip
def test_heads(text: str, expected: list[str]) -> None:
    _, found = read(text)
    assert sorted(rule for rule, _, _ in found) == sorted(expected)


@pytest.mark.parametrize(("count", "faults"), [(1, 0), (64, 0), (65, 1), (0, 1)])
def test_number_of_schedules(count: int, faults: int) -> None:
    entries = ", ".join(["{cron: '* * * * *'}"] * count)
    text = f"name: x\non: {{schedule: [{entries}]}}\n"
    _, found = read(text + "jobs: {a: {runs-on: [self-hosted], steps: [{id: a, run: make}]}}\n")
    assert [rule for rule, _, _ in found] == ["bound-exceeded"] * faults


def test_line_ends_and_a_byte_order_mark_say_nothing() -> None:
    text = steps("- {id: a, run: make}")
    plain, twin = read(text)[0], read("\ufeff" + text.replace("\n", "\r\n"))[0]
    assert plain.ir == twin.ir
    assert plain.source.normal_sha256 == twin.source.normal_sha256


def test_allow_comments_are_read() -> None:
    document, _ = read("# akm: allow[ambiguous-ref] on purpose\n" + steps("- {id: a, run: make}"))
    assert [(allow.rules, allow.line) for allow in document.allows] == [(("ambiguous-ref",), 1)]
