"""What is written as YAML is read back as the same JSON, by our reader."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from akm_schemas.json_types import Json, JsonObject
from akmc.migrate.yaml_text import yaml_mapping
from akmc_grammar.diagnostics import Sink
from akmc_grammar.yaml_reader import read_yaml
from akmc_grammar.yaml_tree import to_json

TEXTS = st.one_of(
    st.text(max_size=20),
    st.text(alphabet="ab: #-\n\t'\"\\{}[],&*!|>%@`~\u2028\u0085\ufeff\u00a0\U0001f600", max_size=12),
    st.sampled_from(["yes", "No", "on", "null", "~", "1", "1.0", "0x1f", "1_000", "10m", "2024-01-01", ".inf", "---"]),
).filter(lambda text: not any("\ud800" <= char <= "\udfff" for char in text))
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False), TEXTS
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)),
    max_leaves=8,
)


def read(text: str) -> Json:
    sink = Sink()
    root = read_yaml(text, file="a.md", sink=sink, first_line=1, dialect="frontmatter")
    assert sink.found == []
    assert root is not None
    return to_json(root)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4))
@example({"a": "x\n\ny\n"})
@example({"steps": [{"id": "a", "inputs": ["x\ny", "z"]}, [], {}, [["x\ny"]]]})
def test_values_come_back(value: JsonObject) -> None:
    assert read(yaml_mapping(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": {"b": "x y", "c": [1, True]}}, "a:\n  b: x y\n  c: [1, true]\n"),
        ({"timeout": "10m", "answer": "yes"}, 'timeout: 10m\nanswer: "yes"\n'),
        ({"a": "one\ntwo\n"}, "a: |\n  one\n  two\n"),
        ({"a": "one\ntwo"}, "a: |-\n  one\n  two\n"),
        ({"steps": [{"id": "a", "unit": {"timeout": 5}}]}, "steps:\n  - id: a\n    unit: { timeout: 5 }\n"),
        ({"a": "It's, so (x) [y]"}, "a: It's, so (x) [y]\n"),
        ({"a": {}, "b": []}, "a: {}\nb: []\n"),
        ({"a b": "x: y"}, 'a b: "x: y"\n'),
    ],
)
def test_form(value: JsonObject, text: str) -> None:
    assert yaml_mapping(value) == text
