"""What to type instead: durations, names, bounds, commands."""

from __future__ import annotations

import pytest

from akm_schemas import keys
from akm_schemas.bounds import ARGV_WORDS, CONCURRENCY, CWD_LENGTH, STEPS, Bound
from akm_schemas.yaml_keys import YAML_STEP
from akmc_grammar.reference_grammar import parse_duration
from akmc_grammar.shape_fixes import argv_text, flow_word, misspelt, plain_words
from akmc_grammar.shape_hints import duration, meant_key, misplaced_or_misspelt, missing_key, named_help, within
from akmc_grammar.yaml_core import resolve_plain


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5 minutes", "5m"),
        ("1h", "60m"),
        ("1.5s", "1500ms"),
        ("90 SEC", "90s"),
        ("2 days", "2880m"),
        ("0.5 min", "30s"),
        ("250 msec", "250ms"),
    ],
)
def test_durations_in_other_words(text: str, said: str) -> None:
    assert duration(text).startswith(f'write "{said}": ')
    assert isinstance(parse_duration(said), int)


@pytest.mark.parametrize("text", ["soon", "", "5 fortnights", "0 s", "s", "1e3s"])
def test_what_is_no_duration_gets_the_forms(text: str) -> None:
    assert duration(text).startswith("write digits and one of ms, s, m")


@pytest.mark.parametrize(
    ("bound", "found", "said"),
    [
        (CONCURRENCY, 0, "write 1 or more"),
        (CONCURRENCY, 65, "write 64 or less"),
        (STEPS, 300, "split the workflow in two: at most 256 steps"),
        (ARGV_WORDS, 0, "list at least one"),
        (Bound("env", 1, 64, "refs"), 0, "list at least one, or drop the key"),
        (CWD_LENGTH, 2000, "shorten it: at most 1024 characters"),
        (CWD_LENGTH, 0, "write a text"),
    ],
)
def test_bounds(bound: Bound, found: int, said: str) -> None:
    assert within(bound, found) == said


@pytest.mark.parametrize(
    ("record", "name", "said"),
    [
        (keys.UNIT, "concurrency", '"concurrency" is a key of map: move it there'),
        (keys.MAP, "timeout", '"timeout" is a key of unit: move it there'),
        (keys.UNIT, "tiemout", 'did you mean "timeout"?'),
        (keys.STEP, "Max-Loops", 'did you mean "max_loops"? It is a key of gate: move it there'),
        (keys.WORKFLOW, "zzz", "drop it: nothing reads it; notes for people go into a comment or the body"),
        (YAML_STEP, "runs-on", '"runs-on" is a key of job: move it there'),
    ],
)
def test_unknown_keys(record: keys.Record, name: str, said: str) -> None:
    assert misplaced_or_misspelt(record, name) == said


def test_yaml_steps_hear_of_no_markdown_home() -> None:
    assert "Markdown" in misplaced_or_misspelt(YAML_STEP, "retry")
    assert "conditional" in misplaced_or_misspelt(YAML_STEP, "if")
    assert meant_key(YAML_STEP, "rnu") == "run"
    assert meant_key(keys.UNIT, "concurrency") is None


def test_every_required_key_has_an_example() -> None:
    records = (keys.WORKFLOW, keys.STEP, keys.MAP, keys.ROUTE, keys.BRANCH, keys.RETRY, keys.EXEC, keys.OUTPUT)
    required = [(record, key) for record in records for key in record.keys if key.required]
    assert len(required) >= 9
    assert all(missing_key(record, key).startswith(f'add it, such as "{key.name}: ') for record, key in required)


def test_names() -> None:
    assert named_help("dry-run").startswith('write "dry_run": ')
    assert named_help("2nd").startswith('write "_2nd": ')
    assert named_help("...").startswith("an ASCII letter")


@pytest.mark.parametrize(
    "word", ["make", "-j4", "--all", "1", "true", "null", "a:b", "x=1", "~", "%d", "1e3", "./a", "."]
)
def test_words_of_a_flow_list_stay_texts(word: str) -> None:
    written = flow_word(word)
    assert written == f'"{word}"' or (written == word and resolve_plain(word) == word)


def test_commands() -> None:
    assert argv_text("sleep 1  x") == '[sleep, "1", x]'
    assert [plain_words(text) for text in ("make all", "a && b", "ls *.py", "", "  ")] == [True, *[False] * 4]


@pytest.mark.parametrize(
    ("word", "meant"),
    [("tiemout", "timeout"), ("TIMEOUT", "timeout"), ("on-error", "on_error"), ("time", None), ("modes", "model")],
)
def test_slips(word: str, meant: str | None) -> None:
    assert misspelt(word, ["timeout", "on_error", "model"]) == meant
