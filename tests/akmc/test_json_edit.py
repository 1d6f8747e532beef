"""One member changes, everything else keeps its bytes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akmc.json_edit import remove_member, set_member

WRITTEN = '{\n    "b":  1,\n\n    "a": {"x": [1,2],  "y": 2},\n    "c": {},\n\t"d": {\n\t\t"e": null\n\t}\n}\n\n'


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        (("b",), 7, '"b":  1', '"b":  7'),
        (("a", "y"), "é", '"y": 2', '"y": "é"'),
        (("a", "z"), True, '"y": 2}', '"y": 2, "z": true}'),
        (("c", "k"), 1, '"c": {}', '"c": {\n        "k": 1\n    }'),
        (("c",), {"k": [1]}, '"c": {}', '"c": {\n        "k": [\n            1\n        ]\n    }'),
        (("d", "f"), 1, '"e": null', '"e": null,\n\t\t"f": 1'),
        (("n", "m"), 1, "\n\t}\n}", '\n\t},\n\t"n": {\n\t    "m": 1\n\t}\n}'),
    ],
)
def test_only_the_member_changes(path: tuple[str, ...], value: Any, old: str, new: str) -> None:
    assert WRITTEN.count(old) == 1
    assert set_member(WRITTEN, path, value) == WRITTEN.replace(old, new)


def test_an_empty_object_and_other_line_ends() -> None:
    assert set_member("{}", ("a", "b"), 1) == '{\n  "a": {\n    "b": 1\n  }\n}'
    text = '{\r\n  "a": 1\r\n}\r\n'
    assert set_member(text, ("b",), {"c": 2}) == '{\r\n  "a": 1,\r\n  "b": {\r\n    "c": 2\r\n  }\r\n}\r\n'
    assert set_member('{"a": {}}', ("a", "b"), 1) == '{"a": {\n  "b": 1\n}}'


def test_what_is_no_object_is_named() -> None:
    with pytest.raises(ValueError, match=r"^a\.x$"):
        set_member(WRITTEN, ("a", "x", "deep"), 1)


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        (("b",), '"b":  1,\n\n    ', ""),
        (("a", "x"), '"x": [1,2],  ', ""),
        (("a", "y"), ',  "y": 2', ""),
        (("d", "e"), '\n\t\t"e": null\n\t', ""),
        (("d",), ',\n\t"d": {\n\t\t"e": null\n\t}', ""),
    ],
)
def test_only_the_member_goes(path: tuple[str, ...], old: str, new: str) -> None:
    assert WRITTEN.count(old) == 1
    assert remove_member(WRITTEN, path) == WRITTEN.replace(old, new)


@pytest.mark.parametrize("path", [("x",), ("b", "x"), ("a", "x", "0"), ("c", "k"), ("a", "z")])
def test_what_is_not_there_cannot_go(path: tuple[str, ...]) -> None:
    with pytest.raises(KeyError):
        remove_member(WRITTEN, path)


VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=100)
@given(
    st.dictionaries(st.text(max_size=3), VALUES, max_size=4),
    st.lists(st.text(max_size=3), min_size=1, max_size=3),
    VALUES,
    st.sampled_from([None, 1, 2, "\t"]),
)
def test_the_text_means_what_was_asked_for(document: Any, path: list[str], value: Any, indent: Any) -> None:
    expected = json.loads(json.dumps(document))
    here = expected
    for name in path[:-1]:
        if not isinstance(here.setdefault(name, {}), dict):
            with pytest.raises(ValueError):
                set_member(json.dumps(document, indent=indent), path, value)
            return
        here = here[name]
    here[path[-1]] = value
    found = json.loads(set_member(json.dumps(document, indent=indent), path, value))
    assert found == expected and list(found) == list(expected)


@settings(max_examples=100)
@given(
    st.dictionaries(st.text(max_size=3), VALUES, min_size=1, max_size=4),
    st.sampled_from([None, 1, 2, "\t"]),
    st.data(),
)
def test_what_is_left_means_the_rest(document: Any, indent: Any, data: st.DataObject) -> None:
    path = [data.draw(st.sampled_from(sorted(document)))]
    holder = document
    while isinstance(inner := holder[path[-1]], dict) and inner and data.draw(st.booleans()):
        holder = inner
        path.append(data.draw(st.sampled_from(sorted(inner))))
    text = json.dumps(document, indent=indent)
    del holder[path[-1]]
    assert json.loads(remove_member(text, path)) == document
