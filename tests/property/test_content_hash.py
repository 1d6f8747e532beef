"""contentHash means behaviour: it stands still under every edit of form, and moves under every edit of what is done."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from moving_sources import MOVES, Sources, edit_at, written

from akmc.session.freezing import compile_source


def hashes(sources: Sources, seed: int) -> tuple[str, str]:
    """The contentHash of the Markdown and of the YAML root in the form that ``seed`` gives."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        roots = written(sources, random.Random(seed), folder)
        return _hash(folder / roots[0]), _hash(folder / roots[1])


def _hash(path: Path) -> str:
    result = compile_source(str(path))
    errors = [f"{item.path}:{item.span.line}: {item.message}" for item in result.findings]
    assert result.plan is not None, (errors, path.read_text())
    return result.plan.content_hash


@pytest.fixture(scope="module", autouse=True)
def no_user_config() -> Any:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as empty:
        patch.setenv("AKM_CONFIG_DIR", empty)
        yield


SEEDS = st.integers(0, 2**32)
BASE: Final[dict[str, tuple[str, str]]] = {}


def base() -> tuple[str, str]:
    """The hashes of the sources as they are."""
    if "base" not in BASE:
        BASE["base"] = hashes(Sources(), 0)
    return BASE["base"]


@given(SEEDS, st.sampled_from(("scan", "other", "last")), st.sampled_from(("KEY=other\n", "# c\nKEY='x'\n")))
def test_form_moves_nothing(seed: int, exec_step: str, env: str) -> None:
    """Also what reaches nobody: the prose of exec steps, values of env files."""
    sources = Sources(env=f"{env}OTHER=a${{secret:token}}b\n")
    sources.prose[exec_step] = f"Other words {seed}."
    sources.kid_prose["a"] = f"Other words {seed}."
    assert hashes(sources, seed) == base()


@pytest.mark.parametrize("row", MOVES, ids=lambda row: f"{row[1]}-{row[2][-1]}")
def test_every_key_that_reaches_a_dispatch_moves_it(row: tuple[str, str, tuple[str | int, ...], Any]) -> None:
    which, root, path, value = row
    sources = Sources()
    edit_at(root, *path)(sources, value)
    moved, stood = hashes(sources, len(path)), base()
    assert [moved[0] != stood[0], moved[1] != stood[1]] == ["M" in which, "Y" in which]


TEXTS: Final = ("prose:ask", "prose:each", "rubric", "command", "script", "kid")


@given(SEEDS, st.sampled_from(TEXTS), st.integers(0, 10_000), st.sampled_from("xX.é "))
def test_every_character_for_an_engine_counts(seed: int, where: str, at: int, character: str) -> None:
    """One character put anywhere inside what an engine, a judge or an interpreter gets."""
    sources = Sources()

    def put(text: str) -> str:
        # Not at an end, where blank lines are no part of the prose; not at a line's start, where it might be markup.
        place = at % (len(text) - 2) + 1
        while text[place - 1] == "\n":
            place += 1
        return text[:place] + character + text[place:]

    if where.startswith("prose:"):
        name = where.partition(":")[2]
        sources.prose[name] = put(sources.prose[name])
    elif where == "kid":
        sources.kid_prose["b"] = put(sources.kid_prose["b"])
    else:
        setattr(sources, where, put(getattr(sources, where)))
    moved, stood = hashes(sources, seed), base()
    markdown_moves = where.startswith("prose:") or where == "rubric"
    assert [moved[0] != stood[0], moved[1] != stood[1]] == [markdown_moves, not markdown_moves]


@given(SEEDS, st.permutations(range(4)))
def test_order_and_names_of_steps_count(seed: int, order: list[int]) -> None:
    sources = Sources()
    steps = sources.yaml["jobs"]["main"]["steps"]
    steps[:4] = [steps[index] for index in order]
    assert (hashes(sources, seed)[1] == base()[1]) == (order == sorted(order))
