"""Any program of the schema becomes a document that checks clean; so does any classic workflow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from akmc.migrate.engine_map import EngineMap
from akmc.migrate.program_schema import program_schema
from akmc.migrate.run import Migrated, migrate_source
from akmc.migrate.surroundings import Surroundings
from akmc.migrate.yaml_text import yaml_mapping
from akmc.session.session import Session
from akmc.session.store import FileStore
from akmc.session.targets import Collector
from akmc_grammar.body_binder import read_body
from akmc_grammar.markdown import frontmatter_end
from akmc_grammar.source import SourceText

AROUND = Surroundings(EngineMap({"agent": "claude", "fast": "local-llm"}))
IDS = st.sampled_from(["a", "b", "scan", "fix-it", "_x"])
EXPRESSIONS = st.sampled_from(
    [
        "${{ params.repo }}", "${{params.none}}", "${{ steps.a.output }}", "${{ steps.scan.output.files[0].name }}",
        "${{ steps.b.output.0.x }}", "${{ item }}", "${{ item.name }}", "${{ item_index }}", "${{ github.sha }}", "${{ open",
        "steps.a.output", "plain text",
    ]
)  # fmt: skip
FRAGMENTS = st.sampled_from(
    [
        "Do it.", "\n", "\n\n", " ", "## Head\n", "### gate\n", "```\n", "~~~\n", "<!-- ", "- ", "Step ID: x", "# Workflow: x\n",
        "`", "the ", "\ttab", "\r\n", "---\n", "<!-- akm: allow[x] -->", "\u2028", "é",
    ]
)  # fmt: skip
PROSE = st.lists(st.one_of(EXPRESSIONS, FRAGMENTS), min_size=1, max_size=8).map("".join)
WORDS = st.one_of(
    st.sampled_from(["x", "Workflow: y", "# z #", "a: b", "  "]), st.text(min_size=1, max_size=12)
).filter(lambda text: not any("\ud800" <= char <= "\udfff" for char in text))
NUMBERS = st.sampled_from([1, 2, 64, 65, 100, 101, 10_000, 10_001, 2**53])
TIMEOUTS = st.sampled_from(["0", "0s", "10m", "none", "5", "99999999m", 1, 2_147_483_647, 2_147_483_648])
SCHEMAS = st.recursive(
    st.sampled_from(
        [
            {}, {"type": "string"}, {"type": "array"}, {"type": "strig"}, {"const": 1}, {"enum": []}, {"enum": ["x", "y"]},
            {"type": "string", "pattern": "x"}, {"type": "integer", "default": "x"}, {"required": True}, {"$ref": "#/x"},
            {"type": "object", "properties": {"files": {"type": "array"}}, "additionalProperties": False},
            {"exclusiveMinimum": 1, "type": "number"}, {"type": "integer", "enum": [1, "x"]}, {"foo": 1, "id": "x"},
        ]
    ),
    lambda inner: st.one_of(
        st.builds(lambda item: {"type": "array", "items": item}, inner),
        st.builds(lambda item: {"properties": {"files": item}}, inner),
        st.builds(lambda item: {"anyOf": [item]}, inner),
    ),
    max_leaves=3,
)  # fmt: skip
REASONS = st.sampled_from(["timeout", "aborted", "llm_rate_limit", "parse_error"])
RETRY = st.fixed_dictionaries({"max": st.sampled_from([0, 1, 101]), "on": st.lists(REASONS, min_size=1, max_size=16)})
LLM = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.floats(0, 2),
        "max_tokens": NUMBERS,
        "supports_json_schema": st.booleans(),
        "extra_params": st.sampled_from([{}, {"top_p": 1}, {"model": "x"}, {"a": {"token": 1}}]),
        "context_length": NUMBERS,
        "enable_thinking": st.booleans(),
    },
)
RUNNERS = st.sampled_from(["llm", "agent", "sdk", "inherit"])
ON_ERROR = st.sampled_from(["fail", "continue"])
ENV = st.lists(st.sampled_from(["env/prod", "env:dev", "x//env/y", "../env/z", "junk"]), max_size=70)


def settings_of(version: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Optional keys of defaults, and of a unit."""
    common = {"model": WORDS, "timeout": TIMEOUTS, "on_error": ON_ERROR}
    own: dict[str, Any] = {"engine": st.sampled_from(["claude", "My Engine", "akm-x"]), "llm": LLM}
    if version == 1:
        own = {"runner": RUNNERS}
    unit = {**common, **own, "retry": RETRY, "output": SCHEMAS, "env": ENV}
    unit["isolation"] = st.sampled_from(["none", "worktree"])
    if version == 1:
        unit["profile"] = st.sampled_from(["fast", "slow"])
    return {**common, **own}, unit


def steps_of(version: int) -> st.SearchStrategy[dict[str, Any]]:
    """One step of any kind."""
    unit = st.fixed_dictionaries({"instructions": PROSE}, optional=settings_of(version)[1])
    fan = st.fixed_dictionaries(
        {"over": EXPRESSIONS, "unit": unit},
        optional={"concurrency": NUMBERS, "reducer": st.sampled_from(["collect", "vote"])},
    )
    route = st.fixed_dictionaries(
        {"input": EXPRESSIONS, "when": st.dictionaries(WORDS, IDS, min_size=1, max_size=3)}, optional={"default": IDS}
    )
    gate = st.fixed_dictionaries(
        {"criteria": st.lists(PROSE, min_size=1, max_size=3)},
        optional={"max_loops": NUMBERS, "required": st.booleans()},
    )
    shared = {"title": WORDS, "output": SCHEMAS, "gate": gate}
    kinds = [("unit", unit), ("map", fan), ("route", route)]
    return st.one_of(*(st.fixed_dictionaries({"id": IDS, kind: body}, optional=shared) for kind, body in kinds))


def programs_of(version: int) -> st.SearchStrategy[dict[str, Any]]:
    """A whole program."""
    return st.fixed_dictionaries(
        {"version": st.just(version), "name": WORDS, "steps": st.lists(steps_of(version), min_size=1, max_size=5)},
        optional={
            "description": st.one_of(st.just(""), WORDS),
            "params": st.dictionaries(st.sampled_from(["repo", "n" * 128, "n" * 129, "json"]), SCHEMAS, max_size=3),
            "defaults": st.fixed_dictionaries({}, optional=settings_of(version)[0]),
            "budget": st.fixed_dictionaries({}, optional={"max_tokens": NUMBERS, "max_units": NUMBERS}),
        },
    )


PROGRAMS = st.one_of(programs_of(1), programs_of(2))
CLASSIC_LINES = st.sampled_from(
    [
        "# Workflow: A", "## Step: One", "## Step:", "Step ID: a", "Step ID: 1.b", "Step ID: a b", "### Instructions",
        "### Completion Criteria", "### Notes", "- done", "Do {{ repo }} and {{runId}}.", "```", "## Gaps", "", "text about 1.b",
        "<!-- x", "### gate", "> ## q",
    ]
)  # fmt: skip


def migrated(text: str, name: str) -> Migrated:
    return migrate_source(SourceText.of(name, text.encode()), AROUND)


def errors_of_session(text: str) -> list[str]:
    """What ``akmc check`` says of the text, without a file."""
    store = FileStore()
    store.put(Path("workflows/new.md"), text.encode())
    collector = Collector(store, None)
    collector.text("workflows/new.md")
    checked = Session(store).check(collector.result())
    assert len(checked.paths) == 1
    return [
        f"{finding.rule.name}: {finding.message}" for finding in checked.findings if finding.rule.severity == "error"
    ]


@settings(max_examples=60, deadline=None)
@given(PROGRAMS)
def test_every_program_checks_clean(program: dict[str, Any]) -> None:
    result = migrated(yaml_mapping(program), "old.yaml")
    assert [finding.message for finding in result.errors] == []
    assert result.text is not None
    assert errors_of_session(result.text) == []
    assert migrated(yaml_mapping(program), "old.yaml") == result
    lines = result.text.split("\n")
    closer = frontmatter_end(lines)
    assert closer is not None
    body = read_body(lines[closer + 1 :], closer + 2)
    dispatched = [step for step in program["steps"] if "route" not in step]
    assert len(body.sections) >= len(dispatched)
    assert sum(section.gate is not None for section in body.sections) == sum(
        "gate" in step for step in program["steps"]
    )


def test_the_strategy_covers_every_key_of_the_schema() -> None:
    definitions: Any = program_schema()["definitions"]
    keys = {
        f"{name}.{key}"
        for name, shape in definitions.items()
        for key in shape.get("properties", {})
        if name not in ("schema",)
    }
    drawn = {
        "program": {"version", "name", "description", "params", "defaults", "budget", "steps"},
        "defaults1": set(settings_of(1)[0]),
        "defaults2": set(settings_of(2)[0]),
        "unit1": {"instructions", *settings_of(1)[1]},
        "unit2": {"instructions", *settings_of(2)[1]},
        "step": {"id", "title", "unit", "map", "route", "output", "gate"},
        "llm": {
            "temperature",
            "max_tokens",
            "supports_json_schema",
            "extra_params",
            "context_length",
            "enable_thinking",
        },
        "retry": {"max", "on"},
        "budget": {"max_tokens", "max_units"},
        "route": {"input", "when", "default"},
        "gate": {"criteria", "max_loops", "required"},
    }
    known = {f"{name}{suffix}.{key}" for name, found in drawn.items() for key in found for suffix in ("", "1", "2")}
    assert keys <= known
    assert len(keys) > 40


@settings(max_examples=60, deadline=None)
@given(st.lists(CLASSIC_LINES, max_size=25))
def test_every_classic_workflow_checks_clean(lines: list[str]) -> None:
    front = "---\ndescription: D\nparams:\n  repo: The repo\n  2nd: Other\nextra: [1]\n---\n"
    text = front + "# Workflow: T\n\n## Step: Zero\n" + "\n".join(lines)
    result = migrated(text, "old.md")
    assert [finding.message for finding in result.errors] == []
    assert result.text is not None
    assert errors_of_session(result.text) == []
