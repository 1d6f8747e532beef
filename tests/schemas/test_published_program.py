"""The schema of the superseded YAML program: two versions, one difference."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import jsonschema
import pytest

from akm_schemas import publish

VALIDATOR = jsonschema.Draft7Validator(
    json.loads((publish.FOLDER / "akm-workflow-program.json").read_text(encoding="utf-8"))
)
UNIT: dict[str, Any] = {
    "model": "fast",
    "timeout": "10m",
    "retry": {"max": 3, "on": ["timeout", "aborted"]},
    "on_error": "continue",
    "instructions": "Read ${{ params.topic }}.",
    "output": {"type": "string"},
    "env": ["env/ci"],
    "isolation": "worktree",
}
ROUTE = {"input": "${{ steps.a.output }}", "when": {"yes": "c", "2": "c"}, "default": "c"}
GATE = {"criteria": ["It reads well"], "max_loops": 3, "required": True}


def program(version: int) -> dict[str, Any]:
    """A program that uses every key of its version."""
    defaults: dict[str, Any] = {"runner": "inherit"} if version == 1 else {"engine": "main", "llm": {"temperature": 0}}
    unit: dict[str, Any] = {"runner": "llm", "profile": "p"} if version == 1 else {"engine": "e", "llm": {}}
    unit = {**unit, **UNIT}
    fan = {"over": "${{ params.list }}", "concurrency": 2, "reducer": "vote", "unit": deepcopy(unit)}
    return {
        "version": version,
        "name": "n",
        "description": "d",
        "params": {"topic": {"type": "string"}},
        "defaults": {**defaults, "model": "m", "timeout": 1000, "on_error": "fail"},
        "budget": {"max_tokens": 1, "max_units": 1},
        "steps": [
            {"id": "a", "title": "A", "unit": unit, "output": {}, "gate": GATE},
            {"id": "b", "map": fan},
            {"id": "r", "route": ROUTE},
            {"id": "c", "unit": {"instructions": "Finish."}},
        ],
    }


def faults(document: Any) -> list[str]:
    """Pointers of what the schema finds, sorted."""
    return sorted("/".join(map(str, error.absolute_path)) for error in VALIDATOR.iter_errors(document))


def changed(version: int, path: list[Any], value: Any) -> dict[str, Any]:
    """The program with one value put in; ``...`` takes the key away."""
    document = deepcopy(program(version))
    here: Any = document
    for step in path[:-1]:
        here = here[step]
    if value is ...:
        del here[path[-1]]
    else:
        here[path[-1]] = value
    return document


@pytest.mark.parametrize("version", [1, 2])
def test_a_program_with_every_key_is_valid(version: int) -> None:
    assert faults(program(version)) == []


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        (["name"], ..., ""),
        (["name"], "", "name"),
        (["nmae"], "x", ""),
        (["params", "a-b"], {}, "params"),
        (["steps"], [], "steps"),
        (["steps", 0, "id"], "1a", "steps/0/id"),
        (["steps", 0, "id"], "a\n", "steps/0/id"),
        (["steps", 0, "unit"], ..., "steps/0"),
        (["steps", 0, "route"], ROUTE, "steps/0"),
        (["steps", 0, "unit", "instructions"], ..., "steps/0/unit"),
        (["steps", 0, "unit", "timeout"], "1h", "steps/0/unit/timeout"),
        (["steps", 0, "unit", "timeout"], 0, "steps/0/unit/timeout"),
        (["steps", 0, "unit", "retry", "on"], ["llm_unreachable"], "steps/0/unit/retry/on/0"),
        (["steps", 0, "gate", "criteria"], [], "steps/0/gate/criteria"),
        (["steps", 1, "map", "unit"], ..., "steps/1/map"),
        (["steps", 2, "route", "when"], {}, "steps/2/route/when"),
        (["steps", 2, "route", "when"], [], "steps/2/route/when"),
        (["budget", "max_units"], 0, "budget/max_units"),
        (["defaults", "on_error"], "stop", "defaults/on_error"),
    ],
)
def test_a_mistake_is_found_at_its_place(version: int, path: list[Any], value: Any, place: str) -> None:
    assert faults(changed(version, path, value)) == [place]


@pytest.mark.parametrize(
    ("version", "path", "value"),
    [
        (1, ["defaults", "engine"], "main"),
        (1, ["defaults", "llm"], {}),
        (1, ["steps", 0, "unit", "engine"], "main"),
        (1, ["steps", 1, "map", "unit", "llm"], {}),
        (2, ["defaults", "runner"], "llm"),
        (2, ["steps", 0, "unit", "runner"], "llm"),
        (2, ["steps", 0, "unit", "profile"], "p"),
        (2, ["steps", 1, "map", "unit", "profile"], "p"),
    ],
)
def test_each_version_chooses_its_runner_in_its_own_words(version: int, path: list[Any], value: Any) -> None:
    assert faults(changed(version, path, value)) == ["/".join(map(str, path[:-1]))]


@pytest.mark.parametrize("version", [0, 3, 4, "1", None, True])
def test_another_version_is_the_only_fault(version: Any) -> None:
    assert faults({**program(1), "version": version}) == ["version"]
    assert faults({"name": "n"}) == [""]
