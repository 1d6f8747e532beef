"""Long messages within their bounds."""

from __future__ import annotations

import pytest

from akm_run.artifacts import errors_text, schema_errors
from akm_run.clipping import clipped
from akm_run.dispatch.outcome import diagnostic
from akm_schemas.bounds import DIAGNOSTIC_CHARS
from akm_schemas.json_types import JsonObject


@pytest.mark.parametrize("separator", ["\n- ", "\n", "; "])
def test_the_count_of_further_errors_is_kept(separator: str) -> None:
    text = separator.join([*("an error of a reasonable length" for _ in range(90)), "and 12 more"])
    short = clipped(text)
    assert len(short) == DIAGNOSTIC_CHARS.high
    assert short.endswith(f" ...{separator}and 12 more")
    assert text.startswith(short.partition(" ...")[0])


def test_other_texts_are_cut_at_the_end() -> None:
    assert clipped("x" * 3000) == "x" * (DIAGNOSTIC_CHARS.high - 4) + " ..."
    assert clipped("x" * DIAGNOSTIC_CHARS.high) == "x" * DIAGNOSTIC_CHARS.high


def test_real_schema_errors_end_in_their_count_everywhere() -> None:
    schema: JsonObject = {"items": {"enum": ["a rather long allowed value", "another rather long allowed value"]}}
    errors = schema_errors(schema, list(range(80)))
    assert errors[-1] == "and 30 more"
    assert clipped(errors_text(errors)).endswith("\n- and 30 more")
    shown = diagnostic("validation_error", "; ".join(errors), "said on stderr")
    assert shown.endswith("…; and 30 more\nsaid on stderr")
    assert len(shown) == DIAGNOSTIC_CHARS.high
