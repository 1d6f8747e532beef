"""Texts and documents from the product's own grammars (``*.lark``), sound ones and ones about to be."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final

from hypothesis import strategies as st
from hypothesis.extra.lark import from_lark
from lark import Lark

_LINES: Final = {
    "TEXT": (
        "text",
        "",
        "- item",
        "> quote",
        "```\n## in a fence\n```",
        "<!-- c -->",
        "### Gate",
        "    ## code",
        "`x`",
    ),
    "H2": ("## a", "## b ##", "  ## c", "##\td"),
    "GATE": ("### gate", "   ### gate ###"),
}
_SMALL: Final = {  # short texts; the grammar's own terminals allow thousands of characters
    "NAME": st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,6}", fullmatch=True),
    "IDENT": st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,6}", fullmatch=True),
    "INDEX": st.from_regex(r"0|[1-9][0-9]{0,9}", fullmatch=True),
    "BUNDLE": st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,5}//", fullmatch=True),
    "SEGMENT": st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,6}", fullmatch=True),
    "COUNT": st.from_regex(r"[0-9]{1,12}", fullmatch=True),
}


@cache
def _grammar(name: str, start: str) -> Lark:
    text = (files("akmc_grammar") / f"{name}.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr", start=start, keep_all_tokens=True)


def references() -> st.SearchStrategy[str]:
    """``params.x`` and ``steps.a.output...`` as ``reference.lark`` writes them."""
    return _of("reference")


def asset_refs() -> st.SearchStrategy[str]:
    """``[bundle//]family/name``."""
    return _of("asset_ref")


def durations() -> st.SearchStrategy[str]:
    """``none``, ``5m``, ``250``."""
    return _of("duration")


def _of(start: str) -> st.SearchStrategy[str]:
    grammar = _grammar("reference", start)
    known = {terminal.name for terminal in grammar.terminals}
    return from_lark(grammar, start=start, explicit={name: value for name, value in _SMALL.items() if name in known})


def run_lines() -> st.SearchStrategy[str]:
    """One line of plain words."""
    return from_lark(
        _grammar("run", "run"),
        start="run",
        explicit={"WORD": st.from_regex(r"[A-Za-z0-9_@%+=:,./^-]{1,8} ", fullmatch=True)},
    ).map(str.strip)


def bodies() -> st.SearchStrategy[str]:
    """Bodies of Markdown workflows: the derivations of ``body.lark``, each line class written in one of its ways."""
    grammar = _grammar("body", "body")
    explicit = {name: st.sampled_from(lines).map(lambda line: f"{line}\n") for name, lines in _LINES.items()}
    return from_lark(grammar, start="body", explicit=explicit)


@st.composite
def nearly(draw: st.DrawFn, sound: st.SearchStrategy[str]) -> str:
    """A text of the grammar with up to two characters cut, doubled or put in."""
    text = draw(sound)
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(text)))
        piece = draw(st.sampled_from(["", ".", "..", "[", "]", "/", "//", " ", "\n", "0", "x", "é", "\0", "${{", "-"]))
        text = text[:at] + piece + text[at + draw(st.integers(0, 1)) :]
    return text
