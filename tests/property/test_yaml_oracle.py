"""YAML values against ruamel's pure loader, and against the value that was written."""

from __future__ import annotations

import json
import os
import random
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from yaml_styles import block

from akmc_grammar.diagnostics import Sink
from akmc_grammar.yaml_reader import read_yaml
from akmc_grammar.yaml_tree import to_json

REFUSED = object()
PIECES = [
    *(
        "a: ",
        "b: ",
        "- ",
        "  ",
        "\n",
        "\n",
        "\n  ",
        "[",
        "]",
        "{",
        "}",
        ", ",
        ": ",
        "'",
        '"',
        "|\n",
        "> \n",
        "#c",
        " # c",
    ),
    *(
        "x",
        "1",
        "1.5",
        "true",
        "null",
        "~",
        "0x1f",
        "0o7",
        "1e3",
        "-",
        "?",
        "? ",
        "yes",
        "&a ",
        "*a",
        "%",
        '"\\n"',
        "a:b",
    ),
    *("http://x", "...\n", "@", "+1", ".5", "on", "1:30", "é", "\U0001f9ea"),
]
# Where ruamel and this reader part, each for a reason: dates are texts in the core schema of YAML 1.2, keys are texts; ruamel
# also reads 0b1, 1_0 and -0x1f as numbers, which the core schema does not know.
_SIGNED_RADIX = re.compile(r"[-+]0[xo]")
_STUCK_COMMENT = re.compile(r"""["'\[\]{},]#""")
DIVERGENCES = {"non-json-value", "yaml-custom-tag", "bound-exceeded"}
# DEL and C1 controls may not stand raw in YAML, so no style but an escape could write them.
TEXTS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn"), exclude_characters="\ufeff"), max_size=12)
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS.filter(bool), inner, max_size=3),
    max_leaves=10,
)


def read(text: str) -> tuple[Any, set[str]]:
    sink = Sink()
    root = read_yaml(text, file="x", sink=sink, first_line=1, dialect="frontmatter")
    rules = {finding.rule if isinstance(finding.rule, str) else finding.rule.name for finding in sink.found}
    return (REFUSED if sink.has_errors else None if root is None else to_json(root)), rules


def oracle(text: str) -> Any:
    loader = YAML(typ="safe", pure=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # reused anchors, which are legal
            value = loader.load(text)
        json.dumps(value, allow_nan=False)
    except (YAMLError, TypeError, ValueError):
        return REFUSED
    return value


def exact(value: Any) -> str:
    """Types count: 1, 1.0 and true are three values."""
    return repr(value)


@pytest.mark.parametrize("text", ["-0x1f", "+0x1f", "-0o7", "+0o7"])
def test_only_decimals_have_a_sign(text: str) -> None:
    assert read(f"k: {text}") == ({"k": text}, set()), "YAML 1.2, section 10.3.2"


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
@example("''#c")
def test_values_are_those_of_ruamel(text: str) -> None:
    assume(not _SIGNED_RADIX.search(text))
    text = f"k:\n  {text}"  # a document is a mapping; ruamel and libyaml part about block texts at column 1
    ours, rules = read(text)
    theirs = oracle(text)
    if ours is REFUSED or theirs is REFUSED:
        assert ours is theirs or rules & DIVERGENCES or _ruamel_errs(text), (text, ours, theirs, rules)
    else:
        assert exact(ours) == exact(theirs), text


def _ruamel_errs(text: str) -> bool:
    """Flow mappings with an aliased key, and marks of a document's end inside a value, which only one of them takes.

    And a comment without a blank before it, which ruamel takes behind quotes and brackets (YAML 1.2, section 6.6).
    """
    return "..." in text or "*a" in text or _STUCK_COMMENT.search(text) is not None


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(TEXTS.filter(bool), JSON_VALUES, min_size=1, max_size=4), st.integers(0, 10**6))
def test_what_was_written_is_what_is_read_in_every_style(value: dict[str, Any], seed: int) -> None:
    text = "\n".join(block(value, random.Random(seed)))
    ours, rules = read(text)
    assert rules == set(), text
    assert exact(ours) == exact({key: ours[key] for key in ours})
    assert ours == value, text


SUITE = os.environ.get("AKMC_YAML_TEST_SUITE")
# ids of the suite and what this reader makes of them; all other cases agree. Why, is in fuzz/README.md.
KNOWN = {
    *("9C9N", "DK95", "QB6E", "Y79Y"),  # taken, though faulty: lines that are indented too little, or with a tab
    *("4MUZ", "5MUD", "6BCT", "6CA3", "9SA2", "A2M4", "CFD4", "HWV9"),  # refused, though sound
    *("K3WX", "NJ66", "Q5MG", "QT73", "R4YG", "VJP3", "WZ62"),
    *("652Z", "HM87"),  # refused, though sound: a text in brackets that begins with "?"
}


@pytest.mark.skipif(SUITE is None, reason="AKMC_YAML_TEST_SUITE names no copy of the yaml-test-suite as JSON")
def test_the_yaml_test_suite_parts_only_where_it_is_known_to() -> None:
    parted = {case["id"] for case in json.loads(Path(SUITE or "").read_text()) if not _agrees(case)}
    assert parted == KNOWN


def _agrees(case: dict[str, Any]) -> bool:
    for part in case["cases"]:
        ours, rules = read(part["yaml"])
        if part.get("fail"):
            if ours is not REFUSED:
                return False
        elif ours is REFUSED:
            several = "\n---" in part["yaml"] or part["yaml"].count("---") + part["yaml"].count("\n...") > 1
            if rules == {"invalid-yaml"} and not several:
                return False
        elif part.get("json") is not None and part["json"].strip():
            try:
                wanted = json.loads(part["json"])
            except ValueError:  # several documents
                continue
            if ours != wanted:
                return False
    return True
