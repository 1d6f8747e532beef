"""Explains a text that is no reference; imported only when there is one to explain.

The LALR parser of ``reference.lark`` says where it stopped and which terminals it would have taken; a few shapes that
authors bring from elsewhere get a help line of their own.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from akmc_grammar.reference_grammar import ReferenceFault, is_reference
from akmc_grammar.shape_fixes import misspelt

if TYPE_CHECKING:
    from collections.abc import Iterable

_EXPECTED: Final = {
    "_PARAMS": '"params."',
    "_STEPS": '"steps."',
    "_DOT": '"."',
    "_OUTPUT": '"output"',
    "_OPEN": '"["',
    "_CLOSE": '"]"',
    "NAME": "a param name (letters, digits, _)",
    "IDENT": "a name (letters, digits, _ and -, not beginning with a digit or -)",
    "INDEX": "an index (0, or digits without a leading zero, at most 10)",
    "$END": "the end of the reference",
}
FORMS: Final = 'a reference is "params.NAME" or "steps.ID.output", the latter with ".name" or "[0]" behind it'
_SHOWN: Final = 60


@cache
def _generated() -> Any:
    """The generated parser's module (it carries no types)."""
    return import_module("akmc_grammar._generated.reference_parser")


@cache
def _parser() -> Any:
    """A parser, which every text uses after another."""
    return _generated().Lark_StandAlone()


def explain_reference(text: str) -> ReferenceFault:
    """The first fault of ``text``, which the regular expression of references refused."""
    special = _foreign_shape(text)
    if special is not None:
        return special
    offset, expected = _first_refusal(text)
    found = "the end" if offset >= len(text) else f'"{_shown(text[offset])}"'
    wanted = _joined(_EXPECTED[name] for name in expected if name in _EXPECTED)
    message = f'"{_shown(text)}" is no reference: found {found} at character {offset + 1}, expected {wanted}'
    return ReferenceFault(offset, message, _help(text, offset, expected))


def _first_refusal(text: str) -> tuple[int, frozenset[str]]:
    """Where the parser stops and the terminals that it would take there."""
    generated = _generated()
    interactive = _parser().parse_interactive(text, start="reference")
    try:
        for token in interactive.lexer_thread.lex(interactive.parser_state):
            interactive.feed_token(token)
    except generated.UnexpectedCharacters as error:
        return int(error.pos_in_stream), frozenset(interactive.accepts())
    except generated.UnexpectedToken as error:
        return int(error.token.start_pos or 0), frozenset(interactive.accepts())
    return len(text), frozenset(interactive.accepts())


def _foreign_shape(text: str) -> ReferenceFault | None:
    """Shapes that deserve their own words: empty text, expressions, blanks around."""
    shown = _shown(text)
    if not text.strip():
        return ReferenceFault(0, "a reference cannot be empty", FORMS)
    if "${{" in text or "{{" in text:
        inner = text.replace("${{", "").replace("{{", "").replace("}}", "").strip()
        return ReferenceFault(
            text.index("{{") - (1 if "${{" in text else 0),
            f'"{shown}" is an expression, and references are bare: there is no template language',
            f'write "{_shown(inner)}" without the braces' if inner else FORMS,
        )
    if text != text.strip():
        leading = len(text) - len(text.lstrip())
        offset = 0 if leading else len(text.rstrip())
        where = "before" if leading else "behind"
        return ReferenceFault(offset, f'"{shown}" is no reference: it has a blank {where} it', "remove the blank")
    return None


def _help(text: str, offset: int, expected: frozenset[str]) -> str:
    """What to write instead, by what stands at ``offset``."""
    rest = text[offset:]
    if meant := _misspelt(text):
        return f'did you mean "{meant}"?'
    if offset == 0:
        head = text.partition(".")[0]
        if head in ("item", "item_index"):
            return "a map unit gets its item attached; there is no name for it"
        if head.lower() in ("params", "steps"):
            return f'names are written as declared: "{head.lower()}"'
        return FORMS
    if "_OUTPUT" in expected or (not rest and "_DOT" in expected and "_OPEN" not in expected):
        return 'the artifact of a step is "steps.ID.output"'
    if text[offset - 1] == "[" and rest[:1] in ("'", '"'):
        return "a property is written with a dot: .name"
    if not rest[:1].isascii():
        return "references are ASCII only"
    if text[offset - 1] == "[" or "_CLOSE" in expected:
        return "an index is [0], [1], ...: at most 10 digits without sign or leading zero"
    return FORMS


def _misspelt(text: str) -> str | None:
    """The reference that ``text`` is with its fixed words spelt right, or ``None``."""
    if len(text) > _SHOWN or not text.isascii():
        return None
    parts = text.split(".")
    root = misspelt(parts[0], ("params", "steps"))
    if root is None or len(parts) < (2 if root == "params" else 3):
        return None
    parts[0] = root
    if root == "steps":
        word, bracket, index = parts[2].partition("[")
        parts[2] = f"{misspelt(word, ('output',)) or word}{bracket}{index}"
    meant = ".".join(parts)
    return meant if meant != text and is_reference(meant) else None


def _shown(text: str) -> str:
    """``text`` for a message: characters that do not print escaped, and not too long."""
    visible = "".join(
        character if character.isprintable() else character.encode("unicode_escape", "replace").decode()
        for character in text[:_SHOWN]
    )
    return visible if len(text) <= _SHOWN else visible + "..."


def _joined(names: Iterable[str]) -> str:
    words = sorted(names)
    if len(words) < 2:
        return "".join(words) or "a reference"
    return ", ".join(words[:-1]) + " or " + words[-1]
