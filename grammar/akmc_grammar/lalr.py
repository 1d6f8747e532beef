"""Runs an LALR(1) table that Lark computed when the package was built.

Lark's standalone parsers bring their whole runtime, whose import takes longer than a check. A grammar without inline
texts (``body.lark``, whose terminals a scanner finds) needs none of it: the table, and the loop below.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Protocol, TypeAlias

from msgspec import Struct

SHIFT: Final = 0
"""A table entry ``(SHIFT, state)`` shifts a terminal, or goes on after a rule; ``(1, rule)`` reduces by that rule."""
KEEP, SPLICE, DROP, NOTHING = "k", "s", "d", "n"
"""What becomes of a symbol of a rule: a child, its children, left out; ``NOTHING`` stands for an optional that is not
there, and takes no symbol."""
END_TOKEN: Final = "$END"


class Token(Struct, frozen=True):
    """A terminal: ``line`` is its first line, ``end_line`` the one behind its last (both as the scanner counts)."""

    type: str
    line: int = 0
    end_line: int = 0


class Tree(Struct, frozen=True):
    """A reduced rule. A child that is ``None`` is an optional that is not there."""

    data: str
    children: list[Child]


Child: TypeAlias = Tree | Token | None


class Table(Protocol):
    """A generated module. ``STATES[state][symbol]`` is an entry; ``RULES[rule]`` the rule's name and, letter by letter,
    what becomes of its symbols; ``START`` and ``END`` are the states before and after the start rule."""

    START: int
    END: int
    STATES: tuple[dict[str, tuple[int, int]], ...]
    RULES: tuple[tuple[str, str], ...]


class UnexpectedToken(Exception):
    """A terminal that the grammar does not allow where it stands."""


def parse(table: Table, tokens: Iterable[Token]) -> Tree:
    """The tree of ``tokens`` by the one start rule of ``table``. Raises ``UnexpectedToken``."""
    states = [table.START]
    values: list[Child] = []
    for token in tokens:
        while True:
            action, target = _entry(table, states[-1], token)
            if action == SHIFT:
                states.append(target)
                values.append(token)
                break
            _reduce(table, target, states, values)
    end = Token(END_TOKEN)
    while states[-1] != table.END:
        _reduce(table, _entry(table, states[-1], end)[1], states, values)
    tree = values[-1]
    assert isinstance(tree, Tree)
    return tree


def _entry(table: Table, state: int, token: Token) -> tuple[int, int]:
    try:
        return table.STATES[state][token.type]
    except KeyError:
        expected = ", ".join(sorted(table.STATES[state]))
        raise UnexpectedToken(f"found {token.type}, expected one of {expected}") from None


def _reduce(table: Table, rule: int, states: list[int], values: list[Child]) -> None:
    """Replace the values of a rule's symbols by its tree."""
    name, fates = table.RULES[rule]
    size = len(fates) - fates.count(NOTHING)
    symbols = iter(values[len(values) - size :])
    children: list[Child] = []
    for fate in fates:
        symbol = None if fate == NOTHING else next(symbols)
        if fate == SPLICE:
            assert isinstance(symbol, Tree)
            if children:
                children += symbol.children
            else:
                # A repetition is a rule that begins with itself: taking its list over keeps long ones linear.
                children = symbol.children
        elif fate != DROP:
            children.append(symbol)
    del values[len(values) - size :], states[len(states) - size :]
    states.append(table.STATES[states[-1]][name][1])
    values.append(Tree(name, children))
