"""The tables of keys in the language and config pages are those of the code, and every key table is on a page.

``AKMC_UPDATE_GOLDEN=1 pytest tests/house/test_key_tables.py`` writes them anew; read the diff.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from akm_run.environment import ALLOWLIST
from akm_schemas import bounds, config_keys, keys, task_keys, yaml_keys
from akm_schemas.keys import Key, Record, Shape
from akm_schemas.subset_keywords import ANNOTATIONS, ENFORCED
from akmc_passes.interpreters import INTERPRETERS

DOCS = Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"<!-- ([a-z][\w. :]*?) -->\n.*?<!-- end -->", re.DOTALL)
LANGUAGE: dict[str, Record] = {
    record.name: record
    for record in (
        *(keys.WORKFLOW, keys.DEFAULTS, keys.BUDGET, keys.STEP, keys.UNIT, keys.EXEC, keys.LLM, keys.RETRY, keys.MAP),
        *(keys.ROUTE, keys.BRANCH, keys.GATE, keys.OUTPUT, yaml_keys.YAML_ROOT, yaml_keys.YAML_JOB, task_keys.TASK),
    )
} | {"yaml step": yaml_keys.YAML_STEP}
CONFIG: dict[str, Record] = {
    record.name: record
    for record in (
        *(config_keys.CONFIG, config_keys.DEFAULTS, config_keys.WORKFLOW),
        *(config_keys.LLM_ENGINE, config_keys.AGENT_ENGINE),
    )
}
LIMITS = (
    *(bounds.SOURCE_BYTES, bounds.YAML_DEPTH_MARKDOWN, bounds.YAML_DEPTH_YAML, bounds.YAML_NODES),
    *(bounds.BODY_MARKS, bounds.ALLOWED_NAMES, bounds.STEPS),
    *(bounds.PARAMS, bounds.OUTPUTS, bounds.INPUTS, bounds.BRANCHES, bounds.INSTRUCTION_BYTES, bounds.RUBRIC_BYTES),
    *(bounds.SCHEMA_BYTES, bounds.SCHEMA_DEPTH, bounds.EXTRA_PARAMS_BYTES, bounds.SCRIPT_BYTES, bounds.ENV_FILE_BYTES),
    *(
        bounds.MAP_ITEMS,
        bounds.RUN_UNITS,
        bounds.PLAN_BYTES,
        bounds.CHILD_BYTES,
        bounds.COMPOSITION_DEPTH,
        bounds.SCHEDULES,
    ),
)


def plain(number: int) -> str:
    return f"{number:,}".replace(",", " ")


def limit(bound: bounds.Bound) -> str:
    """``1 to 64 words``, without the upper end where that is only the largest exact integer."""
    if bound.high >= bounds.SAFE_INTEGER:
        return f"{bound.low} or more" if bound.low else ""
    if bound.low == 0 and bound.unit:
        return f"at most {plain(bound.high)} {bound.unit}"
    return f"{plain(bound.low)} to {plain(bound.high)} {bound.unit}".strip()


def with_limit(words: str, bound: bounds.Bound | None) -> str:
    return f"{words}, {limit(bound)}" if bound is not None and limit(bound) else words


def text_words(shape: keys.Text) -> str:
    if shape.choices:
        return ", ".join(f"`{choice}`" for choice in shape.choices)
    words = "name" if shape is keys.ENGINE_NAME else "text"
    size = shape.size
    return with_limit(words, size if size is not None and size.high < 4096 else None)


def words_of(shape: Shape) -> str:
    """What a value may be, in a few words."""
    match shape:
        case keys.Text():
            return text_words(shape)
        case keys.Integer(bound=bound):
            return with_limit("integer", bound)
        case keys.ListOf(item=item, bound=bound):
            words = f"list of {words_of(item)}"
            return with_limit(f"one, or a {words}" if shape.single else words, bound)
        case keys.Named(value=value, bound=bound):
            at_most = f", at most {bound.high}" if bound.high < bounds.SAFE_INTEGER else ""
            entry = "an entry, see below" if isinstance(value, keys.Anything) else words_of(value)
            return f"mapping from names to {entry}{at_most}"
        case keys.Record(name=name):
            members = ", ".join(key.name for key in shape.keys)
            return f"`{{{members}}}`" if len(shape.keys) <= 5 else f"mapping, see {name}"
        case keys.AnyMapping(size=size):
            return with_limit("mapping", size)
        case _:
            return SIMPLE[type(shape)]


SIMPLE: dict[type, str] = {
    keys.Number: "number",
    keys.Boolean: "`true`, `false`",
    keys.Timeout: "`500`, `500ms`, `30s`, `5m`, `none`",
    keys.MatchValue: "text, number or boolean",
    keys.ReferenceText: "reference",
    keys.Schema: "schema",
    keys.Anything: "see below",
}


def row(key: Key) -> str:
    name = f"`{key.name}`" + (" (required)" if key.required else "")
    return f"| {name} | {words_of(key.shape)} | {key.doc} |"


def key_table(record: Record) -> list[str]:
    return ["| Key | Value | Meaning |", "| --- | --- | --- |", *map(row, record.keys)]


def keywords() -> list[str]:
    named = [", ".join(f"`{word}`" for word in sorted(words)) for words in (ENFORCED, ANNOTATIONS)]
    return [
        f"* Enforced: {named[0]} (`items` is one schema, `additionalProperties` is `false`).",
        f"* For people, and passed on: {named[1]}, `x-...`.",
    ]


def interpreters() -> list[str]:
    rows = [f"| `{extension}` | `{' '.join(argv)}` |" for extension, argv in INTERPRETERS.items()]
    return ["| Extension | Run by |", "| --- | --- |", *rows]


def limits() -> list[str]:
    rows = [f"| {bound.name} | {limit(bound)} |" for bound in LIMITS]
    return ["| What | Limit |", "| --- | --- |", *rows]


def allowlist() -> list[str]:
    return [", ".join(f"`{name}`" for name in ALLOWLIST) + "."]


MAKERS: dict[str, Callable[[], list[str]]] = {
    "keywords": keywords,
    "interpreters": interpreters,
    "bounds": limits,
    "allowlist": allowlist,
}


def filled(text: str) -> tuple[str, list[str]]:
    """A page with its tables as they should be, and the names of these."""
    names: list[str] = []

    def block(match: re.Match[str]) -> str:
        name = match[1]
        names.append(name)
        if name.startswith("keys: "):
            lines = key_table((LANGUAGE | CONFIG)[name.removeprefix("keys: ")])
        else:
            lines = MAKERS[name]()
        return "\n".join([f"<!-- {name} -->", "", *lines, "", "<!-- end -->"])

    return BLOCK.sub(block, text), names


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ("language.md", {f"keys: {name}" for name in LANGUAGE} | {"keywords", "interpreters", "bounds"}),
        ("config.md", {f"keys: {name}" for name in CONFIG}),
        ("running.md", {"allowlist"}),
    ],
)
def test_the_tables_are_those_of_the_code(page: str, expected: set[str]) -> None:
    path = DOCS / page
    text = path.read_text()
    now, names = filled(text)
    assert sorted(names) == sorted(expected), "a table is missing, or there twice"
    if os.environ.get("AKMC_UPDATE_GOLDEN"):
        path.write_text(now)
    assert path.read_text() == now, "run it with AKMC_UPDATE_GOLDEN=1 and read the diff"
