"""The YAML program: what each part becomes, what is said about it, and the faults of a program that is none."""

from __future__ import annotations

import pytest

from akmc.migrate.engine_map import EngineMap
from akmc.migrate.recognise import NotSuperseded
from akmc.migrate.run import Migrated, migrate_source
from akmc.migrate.surroundings import Surroundings
from akmc_grammar.diagnostics import Sink
from akmc_grammar.ir import Route, SourceIR, Step
from akmc_grammar.markdown import read_markdown
from akmc_grammar.source import SourceText

HEAD = "version: 1\nname: Name\nparams: {repo: {type: string}}\nsteps:\n"
SCAN = "  - id: scan\n    unit: {instructions: Look.}\n"


def migrated(text: str, engines: dict[str, str] | None = None) -> Migrated:
    return migrate_source(SourceText.of("old.yaml", text.encode()), Surroundings(EngineMap(engines or {})))


def document(result: Migrated) -> SourceIR:
    assert result.text is not None, result.errors
    sink = Sink()
    found = read_markdown(SourceText.of("new.md", result.text.encode()), ref="", sink=sink).ir
    assert found is not None
    assert not sink.has_errors
    return found


def last_step(steps: str, engines: dict[str, str] | None = None) -> tuple[Step, list[tuple[int, str]]]:
    """The last step of a program with ``steps``, and (line, message) of the remarks."""
    result = migrated(HEAD + SCAN + steps, engines)
    return document(result).steps[-1], [(remark.span.line, remark.message) for remark in result.remarks]


def prose(text: str) -> tuple[Step, list[tuple[int, str]]]:
    block = "".join(f"        {line}\n" for line in text.split("\n"))
    return last_step(f"  - id: use\n    unit:\n      instructions: |\n{block}")


@pytest.mark.parametrize(
    ("old", "new", "inputs"),
    [
        ("Clone ${{ params.repo }}.", "Clone the `repo` parameter.", ["params.repo"]),
        ("Clone the ${{params.repo}} now", "Clone the `repo` parameter now", ["params.repo"]),
        ("`git clone ${{ params.repo }}`", "`git clone <repo parameter>`", ["params.repo"]),
        ("a ${{ steps.scan.output.a[0] }}", "a input `steps.scan.output.a[0]`", ["steps.scan.output.a[0]"]),
        ("${{ steps.scan.output.0 }}", "the input `steps.scan.output[0]`", ["steps.scan.output[0]"]),
        ("```\n${{ steps.scan.output }}\n```", "```\n<steps.scan.output input>\n```", ["steps.scan.output"]),
        ("{{ repo }} $HOME ${x}", "{{ repo }} $HOME ${x}", []),
    ],
)
def test_expressions_in_prose(old: str, new: str, inputs: list[str]) -> None:
    step, remarks = prose(old)
    assert step.instructions == new
    assert step.inputs == inputs
    assert remarks == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("x ${{ item }}", "x the item", "this step is no map"),
        ("x ${{ params.none }}", "x ${{ params.none }}", 'no param "none" is declared'),
        ("x ${{ steps.none.output }}", "x ${{ steps.none.output }}", 'no step "none" is declared'),
        ("x ${{ steps.use.output }}", "x ${{ steps.use.output }}", "does not come before this one"),
        ("x ${{ github.sha }}", "x ${{ github.sha }}", "no expression of the old format"),
        ("x ${{ params.repo", "x ${{ params.repo", "is not closed"),
    ],
)
def test_what_prose_cannot_have_is_listed_with_its_line(old: str, new: str, said: str) -> None:
    step, remarks = prose("first\n" + old)
    assert step.instructions == "first\n" + new
    assert step.inputs == []
    ((line, message),) = remarks
    assert line == 11
    assert said in message


def test_more_inputs_than_there_is_room_for_are_mentioned() -> None:
    names = [f"${{{{ steps.scan.output.f{number} }}}}" for number in range(66)]
    step, remarks = prose("\n".join(names))
    assert len(step.inputs) == 64
    assert [line for line, _ in remarks] == [10 + 64, 10 + 65]
    assert "the input `steps.scan.output.f65`" in step.instructions


@pytest.mark.parametrize(
    "value", ["${{ steps.scan.output.kind }}", "${{steps.scan.output.kind}}", "steps.scan.output.kind"]
)
def test_whole_values_become_bare_references(value: str) -> None:
    result = migrated(
        f"{HEAD}{SCAN}  - id: pick\n    route: {{input: '{value}', when: {{a: end, 1: end, true: end}}, default: end}}\n"
        "  - id: end\n    unit: {instructions: x}\n"
    )
    assert result.remarks == ()
    route = document(result).steps[1].route
    assert isinstance(route, Route)
    assert route.input == "steps.scan.output.kind"
    assert [branch.match for branch in route.when] == ["a", "1", "true"]


ENGINE_STEP = "  - id: use\n    unit: {{{}, instructions: x}}\n"


@pytest.mark.parametrize(
    ("bag", "engine", "listed"),
    [
        ("runner: inherit", None, 0),
        ("runner: agent", "claude", 0),
        ("profile: fast", "local", 0),
        ("runner: inherit, profile: fast", "local", 0),
        ("runner: agent, profile: fast", "local", 1),
        ("runner: agent, profile: other", "claude", 1),
        ("runner: sdk, profile: other", None, 2),
    ],
)
def test_engines_come_from_the_mapping(bag: str, engine: str | None, listed: int) -> None:
    step, remarks = last_step(ENGINE_STEP.format(bag), {"agent": "claude", "fast": "local"})
    found = getattr(step.unit, "engine", None)
    assert (found if isinstance(found, str) else None) == engine
    assert len(remarks) == listed


def test_without_a_mapping_every_name_is_listed() -> None:
    result = migrated(HEAD + SCAN + ENGINE_STEP.format("runner: llm, profile: fast"))
    assert [remark.message for remark in result.remarks] == [
        'runner of step "use", "llm": no --engines file is given; kept as prose',
        'profile of step "use", "fast": no --engines file is given; kept as prose',
    ]
    assert '- runner of step "use": `llm`' in document(result).preamble


GATE_STEP = "  - id: use\n    unit: {{instructions: x}}\n    gate: {{criteria: [a, b]{}}}\n"


@pytest.mark.parametrize(("required", "listed"), [(", required: true", 0), (", required: false", 1), ("", 1)])
def test_a_gate_that_was_not_required_is_listed(required: str, listed: int) -> None:
    step, remarks = last_step(GATE_STEP.format(required))
    assert step.rubric == "- a\n- b"
    assert [(line, "now blocks without a judge" in message) for line, message in remarks] == [(9, True)] * listed


@pytest.mark.parametrize(
    ("schema", "new", "said"),
    [
        ("{const: 1}", {"enum": [1]}, []),
        ("{type: string, pattern: x}", {"type": "string"}, ["pattern"]),
        ("{type: integer, enum: [1, x]}", {"type": "integer", "enum": [1]}, ["enum.1"]),
        ("{type: integer, default: x}", {"type": "integer"}, ["default"]),
        ("{properties: {a: {$ref: x, foo: 1}}}", {"properties": {"a": {}}}, ["$ref", "foo"]),
    ],
)
def test_schemas_lose_what_is_not_enforced(schema: str, new: object, said: list[str]) -> None:
    step, remarks = last_step(f"  - id: use\n    unit: {{instructions: x}}\n    output: {schema}\n")
    assert step.output == new
    assert len(remarks) == len(said)
    assert all(any(word in message for _, message in remarks) for word in said)


def test_a_map_without_a_list_is_a_unit() -> None:
    step, remarks = last_step(
        "  - id: use\n    map: {over: '${{ steps.no.output }}', unit: {model: m, instructions: x}}\n"
    )
    assert step.kind == "unit"
    assert getattr(step.unit, "model", None) == "m"
    ((line, message),) = remarks
    assert line == 8
    assert "its unit runs once" in message


def test_a_secret_is_not_copied() -> None:
    text = HEAD.replace("version: 1", "version: 2") + (
        "  - id: use\n    unit: {instructions: x, llm: {extra_params: {api_key: s3cr3t, top_p: 1}}}\n"
    )
    result = migrated(text)
    assert result.text is not None
    assert "api_key" in result.text
    assert "s3cr3t" not in result.text
    assert not any("s3cr3t" in remark.message for remark in result.remarks)


def test_name_titles_and_comments_are_kept() -> None:
    result = migrated(
        "# one\n# two\nversion: 1 # three\nname: '  The\n\n  name '\nsteps:\n"
        "  - id: a\n    title: Its title\n    unit: {instructions: x}\n"
    )
    ir = document(result)
    assert ir.title == "The name"
    assert "- `a`: Its title" in ir.preamble
    assert "comment on line 1: `one two`" in ir.preamble
    assert "comment on line 3: `three`" in ir.preamble
    assert [remark.span.line for remark in result.remarks] == [1, 3]


@pytest.mark.parametrize(
    ("text", "place", "rule", "said"),
    [
        ("version: 1\nname: n\n", (0, 0), "", "is no superseded YAML program"),
        ("version: 3\nname: n\nsteps: []\n", (0, 0), "", "is no superseded YAML program"),
        ("version: 1\nsteps: []\n", (1, 1), "missing-key", 'lacks the key "name"'),
        ("version: 1\nname: n\nsteps: []\n", (3, 8), "bound-exceeded", "steps is []"),
        (HEAD + SCAN + "stepz: 1\n", (7, 1), "unknown-key", 'unknown key "stepz"'),
        (HEAD + "  - id: a.b\n    unit: {instructions: x}\n", (5, 9), "invalid-value", '"a.b"'),
        (HEAD + "  - id: a\n    unit: {instructions: 1}\n", (6, 26), "wrong-type", "a string, found 1"),
        (HEAD + "  - id: a\n    unit: {instructions: x, runner: gpu}\n", (6, 37), "invalid-value", '"gpu"'),
        (HEAD + "  - id: a\n    unit: {instructions: x, engine: e}\n", (6, 29), "unknown-key", '"engine"'),
        (HEAD + "  - id: a\n    unit: {instructions: x}\n    map: {}\n", (7, 5), "step-kind-conflict", "exactly one of"),
        (HEAD + "  - id: a\n    unit: {instructions: x, timeout: 1h}\n", (6, 38), "invalid-value", "a count with"),
        (HEAD + "  - [\n", (5, 6), "invalid-yaml", ""),
        (HEAD + SCAN + "steps: 1\n", (7, 1), "duplicate-key", '"steps"'),
    ],
)  # fmt: skip
def test_faults_have_their_places(text: str, place: tuple[int, int], rule: str, said: str) -> None:
    if not rule:
        with pytest.raises(NotSuperseded) as raised:
            migrated(text)
        assert said in raised.value.message
        assert raised.value.help
        return
    result = migrated(text)
    assert result.text is None
    found = [(finding.span.line, finding.span.column, finding.rule.name) for finding in result.errors]
    assert (*place, rule) in found, found
    assert any(said in finding.message for finding in result.errors)


@pytest.mark.parametrize(
    ("scalar", "line", "column"),
    [
        ("|\n        first\n          second ${{ x }}\n", 7 + 3, 9 + 9),
        ("|2-\n          first\n\n        second ${{ x }}\n", 7 + 4, 9 + 7),
        (">\n        first\n        second ${{ x }}\n", 8, 21),
        ('"one ${{ x }}"\n', 8, 21 + 5),
        ("one ${{ x }}\n", 8, 21 + 4),
        ('"\\u0041 ${{ x }}"\n', 8, 21),
    ],
)
def test_remarks_on_prose_have_their_places(scalar: str, line: int, column: int) -> None:
    result = migrated(f"{HEAD}{SCAN}  - id: use\n    unit:\n      instructions: {scalar}")
    (remark,) = result.remarks
    assert (remark.span.line, remark.span.column) == (line + 1, column), remark


def test_prose_behind_an_alias_is_placed_at_the_alias() -> None:
    unit = "    unit: {instructions: *text}\n"
    result = migrated(f"version: 1\nname: &text |\n  a\n  b ${{{{ x }}}}\nsteps:\n  - id: a\n{unit}")
    (remark,) = result.remarks
    assert (remark.span.line, remark.span.column) == (7, 26)
