"""The published frontmatter schema and the checker accept the same frontmatters."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from near_misses import FEW, NAMES, VALUES, near_misses
from referencing import Registry, Resource

from akm_schemas import bounds as limits
from akm_schemas import keys, publish
from akm_schemas.subset_keywords import ANNOTATIONS, ENFORCED, UNSUPPORTED
from akmc_grammar.diagnostics import Sink
from akmc_grammar.markdown import read_markdown
from akmc_grammar.source import SourceText
from akmc_passes import bounds, outputs, references, schema_subset
from akmc_passes.contract import Context, Program
from akmc_passes.pipeline import run_pipeline

# What JSON Schema cannot say of a frontmatter, by the rule that says it, with one frontmatter that breaks it. Sizes in
# bytes, depths and numbers of nodes are beyond it too; bound-exceeded is no row, because it says numbers and lengths.
BEYOND_JSON_SCHEMA: Final[dict[str, tuple[str, Any]]] = {
    "duplicate-step-id": ("an id against other ids", {"steps": [{"id": "a"}, {"id": "a"}]}),
    "forward-reference": (
        "a reference against the order of steps",
        {"steps": [{"id": "a", "inputs": ["steps.b.output"]}, {"id": "b"}]},
    ),
    "self-reference": ("a reference against its own step", {"steps": [{"id": "a", "inputs": ["steps.a.output"]}]}),
    "unknown-step-reference": ("a reference against ids", {"steps": [{"id": "a", "inputs": ["steps.x.output"]}]}),
    "unknown-param-reference": ("a reference against params", {"steps": [{"id": "a", "inputs": ["params.x"]}]}),
    "schema-bad-default": (
        "a value against the schema around it",
        {"params": {"x": {"type": "string", "default": 1}}, "steps": [{"id": "a"}]},
    ),
    "non-json-value": (
        "how an integer is written",
        {"provenance": {"n": limits.SAFE_INTEGER + 1}, "steps": [{"id": "a"}]},
    ),
}


class NoFiles:
    """A source store without files: none of the passes here reads any."""

    def read(self, path: Path) -> SourceText:
        """See ``contract.SourceStore``."""
        raise FileNotFoundError(path)

    def exists(self, path: Path) -> bool:
        """See ``contract.SourceStore``."""
        return path in self.read_set()

    def read_set(self) -> dict[Path, SourceText]:
        """See ``contract.SourceStore``."""
        return {}


def refusals(frontmatter: Any) -> set[str]:
    """The rules of the checker's errors, with a section in the body for every step that is named."""
    steps = frontmatter.get("steps") if isinstance(frontmatter, dict) else None
    ids = [step.get("id") for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    named = dict.fromkeys(name for name in ids if isinstance(name, str) and name.strip() and "\n" not in name)
    body = "".join(f"## {name}\n\nText.\n\n" for name in named)
    written = json.dumps(frontmatter, ensure_ascii=False, indent=1).replace("\x7f", "\\u007f")  # not printable in YAML
    text = f"---\n{written}\n---\n\n{body}"
    sink = Sink()
    document = read_markdown(SourceText.of("workflows/a.md", text.encode()), ref="workflows/a", sink=sink)
    context = Context(sink, NoFiles(), None)
    run_pipeline(Program(document), context, passes=(references, outputs, schema_subset, bounds))
    assert not context.crashes, context.crashes[0].traceback
    return {item.rule.name for item in sink.found if item.severity == "error"}


def schema_validator() -> jsonschema.Draft7Validator:
    """The published frontmatter schema, with its envelope at hand."""
    schemas = {name: json.loads(text) for name, text in publish.texts().items()}
    registry: Registry[Any] = Registry().with_resources(
        (name, Resource.from_contents(schema)) for name, schema in schemas.items()
    )
    return jsonschema.Draft7Validator(schemas["akm-workflow.json"], registry=registry)


VALIDATOR: Final = schema_validator()


def agree(frontmatter: Any) -> bool:
    """Hold both verdicts together; whether they are "accepted"."""
    rules = refusals(frontmatter)
    faults = [f"{error.json_path}: {error.message}" for error in VALIDATOR.iter_errors(frontmatter)]
    expressible = sorted(rules - BEYOND_JSON_SCHEMA.keys())
    assert bool(expressible) == bool(faults), (
        f"{json.dumps(frontmatter)[:2000]}\nchecker: {expressible}\nschema: {faults}"
    )
    return not faults


# ---- every key, with every value ----

_LATER: Final = {"id": "z"}
_ROUTE: Final = {"input": "steps.a.output", "when": [{"match": 1, "step": "z"}]}


def _steps(**second: Any) -> dict[str, Any]:
    return {"steps": [{"id": "a"}, {"id": "b", **second}, _LATER]}


def _in_unit(unit: dict[str, Any]) -> dict[str, Any]:
    return _steps(unit=unit)


# A record with the frontmatter around it; what is given lies over what the record needs to be sound.
HOSTS: Final[dict[str, tuple[keys.Record, Callable[[dict[str, Any]], dict[str, Any]]]]] = {
    "frontmatter": (keys.WORKFLOW, lambda given: {**_steps(), **given}),
    "defaults": (keys.DEFAULTS, lambda given: {**_steps(), "defaults": given}),
    "budget": (keys.BUDGET, lambda given: {**_steps(), "budget": given}),
    "generated": (keys.STAMP, lambda given: {**_steps(), "generated": {"by": "x", **given}}),
    "verified": (keys.STAMP, lambda given: {**_steps(), "verified": [{"by": "x", **given}]}),
    "output": (keys.OUTPUT, lambda given: {**_steps(), "outputs": {"o": {"from": "steps.a.output", **given}}}),
    "step": (keys.STEP, lambda given: _steps(**given)),
    "unit": (keys.UNIT, _in_unit),
    "unit with exec": (keys.UNIT, lambda given: _in_unit({"exec": {"command": ["x"]}, **given})),
    "map": (keys.MAP, lambda given: _steps(map={"over": "steps.a.output", **given})),
    "step with map": (keys.STEP, lambda given: _steps(**{"map": {"over": "steps.a.output"}, **given})),
    "step with route": (keys.STEP, lambda given: _steps(**{"route": _ROUTE, **given})),
    "map.unit": (keys.UNIT, lambda given: _steps(map={"over": "steps.a.output", "unit": given})),
    "route": (keys.ROUTE, lambda given: _steps(route={**_ROUTE, **given})),
    "branch": (keys.BRANCH, lambda given: _steps(route={**_ROUTE, "when": [{"match": 1, "step": "z", **given}]})),
    "gate": (keys.GATE, lambda given: _steps(gate=given)),
    "exec": (keys.EXEC, lambda given: _in_unit({"exec": {"command": ["x"], **given}})),
    "retry": (keys.RETRY, lambda given: _in_unit({"retry": {"max": 1, "on": ["timeout"], **given}})),
    "llm": (keys.LLM, lambda given: _in_unit({"llm": given})),
    "defaults.llm": (keys.LLM, lambda given: {**_steps(), "defaults": {"llm": given}}),
}
# Where a shape stands for the first time: it meets every value there, and one of each type elsewhere.
FIRST: Final[dict[keys.Shape, tuple[str, str]]] = {}
for _host, (_record, _) in HOSTS.items():
    for _key in _record.keys:
        FIRST.setdefault(_key.shape, (_host, _key.name))
UNKNOWN: Final = ("inherit_env", "version", "instructions", "criteria", "Id", *NAMES)


@cache
def accepted_keys(host: str) -> frozenset[str]:
    """Hold both verdicts together for every key of a host; the keys that some value was accepted for."""
    record, around = HOSTS[host]
    accepted = set()
    for key in record.keys:
        values = VALUES if FIRST[key.shape] == (host, key.name) else FEW
        if sum(agree(around({key.name: value})) for value in values):
            accepted.add(key.name)
    return frozenset(accepted)


@pytest.mark.parametrize("host", HOSTS)
def test_every_key_with_every_value(host: str) -> None:
    assert accepted_keys(host)
    around = HOSTS[host][1]
    for name in UNKNOWN:
        agree(around({name: 1}))


def test_every_key_is_accepted_with_some_value() -> None:
    missing = {
        (record.name, key.name)
        for record, _ in HOSTS.values()
        for key in record.keys
        if not any(key.name in accepted_keys(host) for host, (other, _) in HOSTS.items() if other is record)
    }
    assert not missing


def test_every_record_has_a_host() -> None:
    def records(shape: keys.Shape) -> Iterator[keys.Record]:
        match shape:
            case keys.Record():
                yield shape
                for key in shape.keys:
                    yield from records(key.shape)
            case keys.ListOf():
                yield from records(shape.item)
            case keys.Named():
                yield from records(shape.value)

    assert set(records(keys.WORKFLOW)) == {record for record, _ in HOSTS.values()}


@pytest.mark.parametrize("keyword", sorted(ENFORCED))
def test_every_enforced_keyword_with_every_value(keyword: str) -> None:
    verdicts = {agree({**_steps(), "params": {"x": {keyword: value}}}) for value in VALUES}
    assert verdicts == {True, False}


@pytest.mark.parametrize("keyword", sorted(ANNOTATIONS | UNSUPPORTED.keys() | {"x-a", "x-", "X-a", "x_a", "typ"}))
def test_other_schema_keywords(keyword: str) -> None:
    for value in FEW:
        agree({**_steps(), "params": {"x": {keyword: value}}})


@pytest.mark.parametrize("name", sorted({*NAMES, *(f"x{n}" for n in range(3)), "A1_", "a b"}))
def test_names_of_params_and_outputs(name: str) -> None:
    agree({**_steps(), "params": {name: {}}})
    agree({**_steps(), "outputs": {name: {"from": "steps.a.output"}}})


@pytest.mark.parametrize("count", [0, 1, 64, 65, 128, 129, 255, 256, 257])
def test_counts(count: int) -> None:
    steps = [{"id": f"s{n}"} for n in range(count)]
    named: dict[str, Any] = {f"n{n}": {} for n in range(count)}
    when = [{"match": n, "step": "z"} for n in range(count)]
    assert agree({"steps": steps}) == limits.STEPS.holds(count)
    assert agree({**_steps(), "params": named}) == limits.PARAMS.holds(count)
    assert agree({**_steps(), "outputs": {name: {"from": "steps.a.output"} for name in named}}) == (count <= 64)
    assert agree(_steps(route={**_ROUTE, "when": when})) == limits.BRANCHES.holds(count)
    assert agree(_steps(inputs=["steps.a.output"] * count)) == limits.INPUTS.holds(count)
    assert agree(_in_unit({"exec": {"command": ["x"] * count}})) == limits.ARGV_WORDS.holds(count)


def test_words_of_a_command() -> None:
    for word in ("", "x", "a\nb", "a\n", "a\0b", "a" * 4096, "a" * 4097):
        agree(_in_unit({"exec": {"command": ["x", word]}}))


@pytest.mark.parametrize("word", [*keys.OWNED_TOP_LEVEL, *keys.OWNED_ANYWHERE])
def test_names_of_extra_request_members(word: str) -> None:
    nested = [word, word.upper(), f"_{word[0]}-{word[1:]} ", word + "s", word.replace("k", "\u212a"), word[1:]]
    for name in (*nested, word.replace("i", "\u0130"), word.replace("k", "")):
        extras: list[dict[str, Any]] = [{name: 1}, {"a": {name: 1}}, {"a": [[{name: {}}]]}]
        for extra in extras:
            agree(_in_unit({"llm": {"extra_params": extra}}))
            agree({**_steps(), "defaults": {"llm": {"extra_params": extra}}})


@pytest.mark.parametrize("rule", BEYOND_JSON_SCHEMA)
def test_what_json_schema_cannot_say_is_said_by_that_rule_alone(rule: str) -> None:
    frontmatter = BEYOND_JSON_SCHEMA[rule][1]
    assert refusals(frontmatter) == {rule}
    assert VALIDATOR.is_valid(frontmatter)


# ---- whole frontmatters ----

SCHEMAS: Final = st.sampled_from(
    [
        {},
        {"type": "string"},
        {"type": ["integer", "null"], "minimum": 0, "title": "n"},
        {"type": "array", "items": {"enum": ["a", 1, None]}, "maxItems": 3},
        {"type": "object", "properties": {"a": {"not": {}}}, "required": ["a"], "additionalProperties": False},
        {"anyOf": [{"type": "string", "minLength": 1}, {"type": "boolean"}], "x-note": [1]},
    ]
)
LLMS: Final = st.fixed_dictionaries(
    {}, optional={"temperature": st.sampled_from([0, 0.5]), "extra_params": st.just({"top_p": 1, "a": [{"b": None}]})}
)
TIMEOUTS: Final = st.sampled_from(["none", "90s", 250, "10m", "1ms", limits.TIMEOUT_MS.high])
ENGINE_UNITS: Final = st.fixed_dictionaries(
    {},
    optional={
        "engine": st.sampled_from(["claude", "a-b"]),
        "model": st.just("m"),
        "llm": LLMS,
        "timeout": TIMEOUTS,
        "retry": st.just({"max": 2, "on": ["timeout", "cooldown"]}),
        "on_error": st.sampled_from(["fail", "continue"]),
        "output": SCHEMAS,
        "isolation": st.sampled_from(["none", "worktree"]),
    },
)
EXEC_UNITS: Final = st.fixed_dictionaries(
    {"exec": st.just({"command": ["printf", "x"], "cwd": "src/lib", "pass_env": ["HOME", "PATH"]})},
    optional={"timeout": TIMEOUTS, "output": SCHEMAS},
)
UNITS: Final = st.one_of(ENGINE_UNITS, EXEC_UNITS)


@st.composite
def frontmatters(draw: st.DrawFn) -> dict[str, Any]:
    """Sound frontmatters that use every key of the table now and then."""
    count = draw(st.integers(1, 4))
    steps: list[dict[str, Any]] = []
    readable: list[str] = ["params.x"]
    for index in range(count):
        name, kind = f"s{index}", draw(st.sampled_from(["bare", "unit", "map", "route"]))
        step: dict[str, Any] = {"id": name}
        if kind == "unit":
            step["unit"] = draw(UNITS)
        elif kind == "map":
            step["map"] = {"over": draw(st.sampled_from(readable)), "unit": draw(UNITS), "concurrency": 2}
        elif kind == "route" and index < count - 1:
            when = [{"match": draw(st.sampled_from(["a", 1, True, 1.5])), "step": f"s{index + 1}"}]
            step["route"] = {"input": draw(st.sampled_from(readable)), "when": when, "default": f"s{count - 1}"}
        if "route" not in step:
            readable.append(f"steps.{name}.output")
            if draw(st.booleans()):
                step |= {"output": draw(SCHEMAS), "inputs": [draw(st.sampled_from(readable[:-1]))]}
        if draw(st.booleans()):
            step["gate"] = {"max_loops": draw(st.integers(1, 100))}
        steps.append(step)
    document: dict[str, Any] = {"params": {"x": draw(SCHEMAS)}, "steps": steps}
    if len(readable) > 1:
        document["outputs"] = {"o": {"from": readable[1], "schema": draw(SCHEMAS)}}
    optional = {
        "type": "workflow",
        "description": "d",
        "tags": ["a", "a"],
        "verified": {"by": "x", "at": "y"},
        "status": "draft",
        "provenance": {"a": [1]},
        "budget": {"max_units": 10, "max_tokens": 5},
        "defaults": {"engine": "claude", "llm": {"max_tokens": 5}, "timeout": "none", "on_error": "fail"},
    }
    return document | {name: optional[name] for name in draw(st.sets(st.sampled_from(sorted(optional))))}


KNOWN: Final = tuple(sorted({key.name for record, _ in HOSTS.values() for key in record.keys}))


@settings(max_examples=60, deadline=None)
@given(frontmatters())
def test_sound_frontmatters_are_accepted_by_both(frontmatter: dict[str, Any]) -> None:
    assert agree(frontmatter)


@settings(max_examples=100, deadline=None)
@given(near_misses(frontmatters(), KNOWN))
def test_near_misses_get_one_verdict(frontmatter: Any) -> None:
    agree(frontmatter)
