"""References, asset refs and durations: the regular expressions, the LALR grammar, and the words for what is refused."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akm_schemas.bounds import TIMEOUT_MS
from akm_schemas.references import Reference
from akmc_grammar.reference_grammar import (
    AssetRef,
    ReferenceFault,
    parse_asset_ref,
    parse_duration,
    parse_reference,
)

generated: Any = import_module("akmc_grammar._generated.reference_parser")
PARSER: Any = generated.Lark_StandAlone()


def lalr_accepts(text: str, start: str) -> bool:
    try:
        PARSER.parse(text, start=start)
    except generated.UnexpectedInput:
        return False
    return True


@pytest.mark.parametrize(
    ("text", "root", "name", "path"),
    [
        ("params.rows", "params", "rows", []),
        ("params._a1", "params", "_a1", []),
        ("steps.scan.output", "steps", "scan", []),
        ("steps.output.output.output", "steps", "output", ["output"]),
        ("steps.a-b.output.rows[0].kind-x[10][4294967295]", "steps", "a-b", ["rows", 0, "kind-x", 10, 4294967295]),
    ],
)
def test_references(text: str, root: str, name: str, path: list[str | int]) -> None:
    found = parse_reference(text)
    assert isinstance(found, Reference)
    assert (found.text, found.root, found.name, found.path) == (text, root, name, path)


@pytest.mark.parametrize(
    ("text", "offset", "piece"),
    [
        ("steps.first", 11, 'the artifact of a step is "steps.ID.output"'),
        ("steps.first.output.", 19, "found the end"),
        ("steps.first.output[01]", 20, "leading zero"),
        ("steps.first.output[-1]", 19, "leading zero"),
        ("steps.first.output['x']", 19, "with a dot"),
        ("steps.first.output.2nd", 19, 'found "2" at character 20'),
        ("steps.first.output[12345678901]", 29, "at most 10"),
        ("steps.first.result", 12, 'expected "output"'),
        ("steps.first.outputs", 18, 'did you mean "steps.first.output"?'),
        ("${{ steps.first.output }}", 0, 'write "steps.first.output" without the braces'),
        ("x {{ params.a }}", 2, "bare"),
        (" params.a", 0, "remove the blank"),
        ("params.a\n", 8, "remove the blank"),
        ("steps.first.output[\uff10]", 19, "ASCII only"),
        ("params.na\u00efve", 9, "ASCII only"),
        ("PARAMS.a", 0, 'did you mean "params.a"?'),
        ("env.HOME", 0, 'expected "params." or "steps."'),
        ("item", 0, "no name for it"),
        ("params.a-b", 8, "the end of the reference"),
        ("params.a.b", 8, "the end of the reference"),
        ("steps..output", 6, "a name"),
        ("params", 6, 'expected "."'),
        ("", 0, "empty"),
        ("\x07", 0, "\\x07"),
    ],
)
def test_faults_say_where_and_what_instead(text: str, offset: int, piece: str) -> None:
    found = parse_reference(text)
    assert isinstance(found, ReferenceFault)
    assert found.offset == offset
    assert found.help
    assert piece in f"{found.message} {found.help}"
    assert found.message.isprintable()


_PIECES = st.sampled_from(
    [
        "params",
        "steps",
        "output",
        ".",
        "[",
        "]",
        "0",
        "1",
        "01",
        "a",
        "-b",
        "_",
        "x9",
        "env",
        "item",
        "é",
        "０",
        "/",
        "//",
        "workflows",
        "tasks",
        "ms",
        "s",
        "none",
        "\n",
    ]
)
_TEXTS = st.lists(_PIECES, max_size=9).map("".join) | st.text(max_size=12)


@settings(max_examples=100, deadline=None)
@given(_TEXTS)
def test_the_expression_and_the_grammar_accept_the_same_references(text: str) -> None:
    found = parse_reference(text)
    assert isinstance(found, Reference) is lalr_accepts(text, "reference")
    if isinstance(found, ReferenceFault):
        assert 0 <= found.offset <= len(text)


@settings(max_examples=100, deadline=None)
@given(st.from_regex(r"steps\.[a-c]{1,2}\.output(\.[a-c-]{1,2}|\[[0-9]{1,2}\]){0,3}", fullmatch=True))
def test_near_references_are_judged_alike(text: str) -> None:
    assert isinstance(parse_reference(text), Reference) is lalr_accepts(text, "reference")


@settings(max_examples=100, deadline=None)
@given(_TEXTS)
def test_the_expression_and_the_grammar_accept_the_same_refs_and_durations(text: str) -> None:
    assert (parse_asset_ref(text) is not None) is lalr_accepts(text, "asset_ref")
    assert (parse_duration(text) is not None) is lalr_accepts(text, "duration")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("workflows/x", (None, "workflows", "x")),
        ("team//workflows/release", ("team", "workflows", "release")),
        ("scripts/a/b_c.py", (None, "scripts", "a/b_c.py")),
        ("env//env/a", ("env", "env", "a")),
        ("tasks/_a..b", (None, "tasks", "_a..b")),
    ],
)
def test_asset_refs(text: str, expected: tuple[str | None, str, str]) -> None:
    assert parse_asset_ref(text) == AssetRef(*expected, text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "workflows",
        "workflows/",
        "/workflows/x",
        "agents/x",
        "tasks/../x",
        "tasks/.x",
        "tasks/a//b",
        "tasks/a/",
        "a/tasks/x",
        *("Tasks/x", "tasks/x\n", "tasks/é", "//tasks/x", "a//b//tasks/x", "./tasks/x", "tasks/-x", "tasks\\x"),
    ],
)
def test_what_is_no_asset_ref(text: str) -> None:
    assert parse_asset_ref(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("none", "none"), ("10", 10), ("250ms", 250), ("5s", 5000), ("3m", 180_000), ("0", 0), ("010s", 10_000)],
)
def test_durations(text: str, expected: int | str) -> None:
    assert parse_duration(text) == expected


@pytest.mark.parametrize(
    "text", ["", "1.5s", "1h", "10 m", "5M", "1_000ms", "-1", "+1", "1e3", "ms", "None", "٣s", "5s\n"]
)
def test_what_is_no_duration(text: str) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize("text", ["2147483648", "36000m", "9" * 5000 + "ms"])
def test_absurd_durations_are_beyond_the_bound(text: str) -> None:
    found = parse_duration(text)
    assert isinstance(found, int)
    assert not TIMEOUT_MS.holds(found)


def test_well_formed_references_need_no_parser() -> None:
    code = (
        "import sys; from akmc_grammar.reference_grammar import parse_reference as p;"
        "p('steps.a.output'); print('lark' in sys.modules, 'akmc_grammar._generated.reference_parser' in sys.modules);"
        "p('nope'); print('lark' in sys.modules, 'akmc_grammar._generated.reference_parser' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False", "False", "True"]
