"""Typed references."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akm_schemas.json_types import Json, JsonObject
from akm_schemas.subset_validate import validate
from akmc_passes import schema_paths
from akmc_passes.schema_paths import TYPES, Broken, described, follow, view_of

STRING: JsonObject = {"type": "string"}
OPEN: JsonObject = {"type": "object", "properties": {"a": STRING}}
CLOSED: JsonObject = {**OPEN, "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "path"),
    [
        (OPEN, ["a"]),
        (OPEN, ["b", "c", 0]),
        ({}, ["b", 3]),
        ({"type": ["string", "object"]}, ["x"]),
        ({"type": "array", "items": OPEN}, [4, "a"]),
        ({"anyOf": [STRING, OPEN]}, ["a"]),
        ({"anyOf": [CLOSED, {"type": "array"}]}, [0]),
        ({"enum": [1, {"a": {"b": 2}}]}, ["a", "b"]),
        ({"not": {"type": "object"}}, ["a"]),
        ({"type": "strig"}, ["a"]),
        ({"type": "string", "allOf": [{"type": "object"}]}, ["a"]),  # admits nothing: not ours to judge
        ({"properties": {"a": "nonsense"}, "items": [STRING], "anyOf": 3, "enum": 4}, ["a", "b"]),
    ],
)
def test_paths_that_may_be_there(schema: JsonObject, path: list[str | int]) -> None:
    assert not isinstance(follow(view_of(schema), path), Broken)


@pytest.mark.parametrize(
    ("schema", "path", "broken"),
    [
        (STRING, ["a"], Broken(0, "a string")),
        (STRING, [0], Broken(0, "a string")),
        (OPEN, [0], Broken(0, "an object")),
        (OPEN, ["a", "b"], Broken(1, "a string")),
        (CLOSED, ["b"], Broken(0, "a closed object", ("a",))),
        ({"type": "array"}, ["length"], Broken(0, "an array")),
        ({"type": ["string", "null"]}, ["a"], Broken(0, "null or a string")),
        ({"anyOf": [STRING, CLOSED]}, ["b"], Broken(0, "a string or a closed object", ("a",))),
        ({"allOf": [OPEN, {"additionalProperties": False}]}, ["a"], Broken(0, "a closed object")),
        ({"enum": [{"a": 1}]}, ["b"], Broken(0, "one of the values of its enum")),
        ({"enum": ["x", 2]}, ["b"], Broken(0, "an integer or a string")),
        ({"enum": ["x", 2.5]}, ["b"], Broken(0, "a number or a string")),
        ({"type": "integer"}, ["b"], Broken(0, "an integer")),
        ({"type": ["number", "integer"]}, ["b"], Broken(0, "a number")),
    ],
)
def test_paths_that_cannot_be_there(schema: JsonObject, path: list[str | int], broken: Broken) -> None:
    assert follow(view_of(schema), path) == broken


def test_a_schema_with_too_many_alternatives_may_be_anything() -> None:
    two: list[Json] = [STRING, {"type": "number"}]
    schema: JsonObject = {"allOf": [{"anyOf": two} for _ in range(12)]}
    assert view_of(schema).types == TYPES
    assert not isinstance(follow(view_of(schema), ["a"]), Broken)


def test_arrays_of_views() -> None:
    strings, whatever = view_of(STRING).array, view_of({}).array
    item = follow(strings, [0])
    assert not isinstance(item, Broken) and item.types == {"string"}
    assert isinstance(follow(strings, [0, "a"]), Broken)
    assert isinstance(follow(whatever, ["a"]), Broken)
    assert not isinstance(follow(whatever, [0, "a"]), Broken)
    assert described(whatever.types) == "an array"


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ({"enum": ["a", "b", "a"]}, ["a", "b"]),
        ({"type": "string", "enum": ["a", 1]}, ["a"]),
        ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, ["a", None]),
        ({"anyOf": [{"enum": ["a"]}, STRING]}, None),
        ({"allOf": [{"enum": [1, 2, 3]}, {"enum": [3.0, 2]}]}, [2, 3]),
        ({"enum": [1, 1.0, True]}, [1, True]),
        (STRING, None),
    ],
)
def test_finite_values(schema: JsonObject, values: list[Json] | None) -> None:
    assert view_of(schema).values == values


_NAMES = st.sampled_from(["a", "b"])
_LEAVES = st.sampled_from([None, True, 1, 2.5, "x"])
_VALUES = st.recursive(
    _LEAVES, lambda below: st.lists(below, max_size=2) | st.dictionaries(_NAMES, below, max_size=2), max_leaves=6
)
_TYPE_NAMES = st.sampled_from(["string", "number", "integer", "boolean", "null", "array", "object"])


def _schemas(below: st.SearchStrategy[JsonObject]) -> st.SearchStrategy[JsonObject]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": _TYPE_NAMES | st.lists(_TYPE_NAMES, min_size=1, max_size=3, unique=True),
            "properties": st.dictionaries(_NAMES, below, max_size=2),
            "items": below,
            "additionalProperties": st.just(False),
            "anyOf": st.lists(below, min_size=1, max_size=2),
            "oneOf": st.lists(below, min_size=1, max_size=2),
            "allOf": st.lists(below, min_size=1, max_size=2),
            "enum": st.lists(_VALUES, min_size=1, max_size=3),
        },
    )


@settings(max_examples=100, deadline=None)
@given(
    schema=st.recursive(st.just({}), _schemas, max_leaves=6),
    value=_VALUES,
    path=st.lists(_NAMES | st.integers(0, 1), max_size=3),
)
def test_a_path_into_a_valid_value_never_breaks(schema: JsonObject, value: Json, path: list[str | int]) -> None:
    if not validate(schema, value).ok:
        return
    here: Json = value
    for part in path:
        keyed = isinstance(here, dict) and part in here
        if not keyed and not (isinstance(here, list) and isinstance(part, int) and part < len(here)):
            return
        here = here[part]  # type: ignore[index]
    end = follow(view_of(schema), path)
    assert not isinstance(end, Broken)
    kind = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    assert kind.get(type(here), "null") in end.types


PRODUCERS = """---
params: {word: {type: string}}
steps:
  - {id: run, unit: {exec: {command: [ls]}}}
  - {id: empty, output: {}, unit: {exec: {command: [ls]}, output: {}}}
  - {id: json, unit: {exec: {command: [ls]}, output: {type: object, properties: {n: {type: integer}}}}}
  - {id: whole, output: {type: array}, unit: {exec: {command: [ls]}}}
  - {id: fan, map: {over: steps.whole.output, unit: {exec: {command: [ls]}}}}
  - {id: vote, map: {over: steps.whole.output, reducer: vote, unit: {output: {type: object, properties: {k: {enum: [x]}}}}}}
  - {id: free}
  - id: use
    inputs:
      - steps.run.output.x
      - steps.empty.output.x
      - steps.json.output.n.deep
      - steps.whole.output.x
      - steps.fan.output.x
      - steps.fan.output[0]
      - steps.fan.output[0].x
      - steps.vote.output.k
      - steps.vote.output[0]
      - steps.free.output.x[0]
  - {id: m1, map: {over: steps.run.output}}
  - {id: m2, map: {over: steps.fan.output}}
  - {id: m3, map: {over: steps.free.output}}
  - {id: r1, route: {input: steps.run.output, when: [{match: a, step: last}], default: last}}
  - {id: r2, route: {input: steps.fan.output, when: [{match: a, step: last}], default: last}}
  - {id: last}
---
""" + "".join(
    f"## {name}\nA.\n"
    for name in ("run", "empty", "json", "whole", "fan", "vote", "free", "use", "m1", "m2", "m3", "last")
)


def test_what_each_kind_of_step_is_known_to_make(check: Callable[..., Any]) -> None:
    checked = check(PRODUCERS)
    lines = [13, 14, 15, 16, 17, 19, 21, 23, 27]
    assert checked.rules == [("reference-type-mismatch", line) for line in lines]


def test_messages_point_at_the_part_that_breaks(check: Callable[..., Any]) -> None:
    text = """---
steps:
  - id: scan
    output: {type: object, additionalProperties: false, properties: {findings: {type: array}, score: {type: number}}}
  - id: report
    inputs: [steps.scan.output.finding]
  - {id: all, map: {over: steps.scan.output.score}}
---
## scan
A.
## report
B.
## all
C.
"""
    assert check(text).printed == (
        "6:31 reference-type-mismatch: steps.scan.output is a closed object, which cannot have a property "
        '"finding"; declared properties: "findings", "score"\n'
        '  help: did you mean "findings"?\n'
        "7:27 reference-type-mismatch: map.over takes an array, found a number\n"
        "  help: name a list: a map never iterates over characters or keys"
    )


@pytest.mark.parametrize("schema", ['{type: "null"}', "{enum: [null, [1]]}", "{type: array, enum: [[1]]}"])
def test_what_no_branch_can_match_is_said_once(check: Callable[..., Any], schema: str) -> None:
    route = "route: {input: params.n, when: [{match: x, step: a}]}"
    text = f"---\nparams: {{n: {schema}}}\nsteps:\n  - id: fork\n    {route}\n  - id: a\n---\n## a\nA.\n"
    assert check(text).rules == [("reference-type-mismatch", 5)]


def test_exhaustiveness_compares_text(check: Callable[..., Any]) -> None:
    text = """---
params: {n: {enum: [1, 2.0, true, "x", null]}}
steps:
  - id: fork
    route:
      input: params.n
      when: [{match: "1", step: a}, {match: 2, step: a}, {match: "true", step: a}, {match: y, step: a}]
  - id: a
---
## a
A.
"""
    assert check(text).printed == (
        '6:7 non-exhaustive-route: no branch takes "null", "x" of params.n, and there is no default\n'
        '  help: add a branch for each, or a "default"\n'
        '7:92 unreachable-branch: params.n is never "y"; its values: "1", "2", "null", "true", "x"\n'
        "  help: remove the branch, or add the value to the enum"
    )


def counted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[object]:
    """What a function of ``schema_paths`` is called with from now on."""
    function, calls = getattr(schema_paths, name), list[object]()

    def counting(value: object) -> object:
        calls.append(value)
        return function(value)

    monkeypatch.setattr(schema_paths, name, counting)
    return calls


def reading(output: str, names: list[str]) -> str:
    """A workflow with a reference to each of those parts of one output."""
    groups = {f"s{at}": names[at : at + 50] for at in range(0, len(names), 50)}
    steps = []
    for step, group in groups.items():
        inputs = ", ".join(f'"steps.s.output{name}"' for name in group)
        steps.append(f"  - {{id: {step}, inputs: [{inputs}]}}")
    ids = ["s", *groups]
    head = ["---", "steps:", f"  - {{id: s, output: {output}}}", *steps, "---"]
    return "\n".join(head) + "".join(f"\n## {name}\nA." for name in ids) + "\n"


MEMBERS = ", ".join(map(str, range(300)))
NAMED = ", ".join(f"a{number}: 1" for number in range(100))


@pytest.mark.parametrize(
    ("output", "part", "findings"),
    [
        (f"{{enum: [{MEMBERS}, {{{NAMED}}}]}}", ".a{}", 0),
        (f"{{enum: [{MEMBERS}]}}", ".a{}", 100),
        (f"{{enum: [{MEMBERS}, {{b: 1}}]}}", ".a{}", 100),
        (f"{{type: array, items: {{enum: [{MEMBERS}, {{b: 1}}]}}}}", "[{}].b", 0),
    ],
)
def test_members_are_looked_at_once_for_all_references(
    check: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, output: str, part: str, findings: int
) -> None:
    seen = counted(monkeypatch, "_kind")
    checked = check(reading(output, [part.format(number) for number in range(100)]), stop_after="types")
    assert len(checked.rules) == findings
    assert len(seen) <= 301


def test_alternatives_beyond_the_budget_are_not_expanded(
    check: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = counted(monkeypatch, "_options")
    output = "{anyOf: [" + ", ".join(["{type: string}"] * 400) + "]}"
    assert check(reading(output, [f".a{number}" for number in range(100)]), stop_after="types").rules == []
    assert len(seen) == 129


def test_conjunctions_are_read_once_for_all_references(
    check: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = counted(monkeypatch, "_options")
    output = "{allOf: [" + ", ".join(["{type: object}"] * 400) + "]}"
    assert check(reading(output, [f".a{number}" for number in range(100)]), stop_after="types").rules == []
    assert len(seen) == 400


def test_the_names_of_a_closed_object_are_sorted_once() -> None:
    other: JsonObject = {"type": "object", "additionalProperties": False, "properties": {"b": {}}}
    view = view_of({"anyOf": [CLOSED, other]})
    one, two = follow(view, ["x"]), follow(view, ["y"])
    assert isinstance(one, Broken) and isinstance(two, Broken)
    assert one.names == ("a", "b") and two.names is one.names


@pytest.mark.parametrize("default", ["default: z, ", ""])
def test_values_are_listed_once_for_all_routes(
    check: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, default: str
) -> None:
    seen = counted(monkeypatch, "canonical_bytes")
    values = ", ".join(f"v{number}" for number in range(100))
    routes = [
        f"  - {{id: r{number}, route: {{input: params.p, {default}when: [{{match: v1, step: z}}]}}}}"
        for number in range(20)
    ]
    head = ["---", f"params: {{p: {{enum: [{values}]}}}}", "steps:", *routes, "  - {id: z}", "---"]
    checked = check("\n".join(head) + "\n## z\nA.\n", stop_after="types")
    assert [rule for rule, _ in checked.rules] == ([] if default else ["non-exhaustive-route"] * 20)
    assert len(seen) == 100
