"""The ``${{ }}`` expressions of the YAML program.

The old closed grammar is ``params.<name> | steps.<id>.output.<path> | item | item_index``. A whole value becomes a bare
reference; inside prose a param or an output becomes an entry of ``inputs`` and words, an item words alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from akm_schemas.bounds import INPUTS
from akm_schemas.references import Reference
from akmc.migrate.mentions import index_words, input_words, item_words, param_words, without_second_article
from akmc.migrate.model import Notes
from akmc.migrate.prose import Prose
from akmc_grammar.reference_grammar import parse_reference

_EXPRESSION: Final = re.compile(r"\$\{\{(?P<inner>[^{}\n]*)\}\}")
_OPENER: Final = re.compile(r"\$\{\{(?![^{}\n]*\}\})")
_ITEM: Final = re.compile(r"item(?:\.(?P<path>[A-Za-z_][A-Za-z0-9_.\[\]-]*))?")
_DOTTED_INDEX: Final = re.compile(r"\.([0-9]+)(?=[.\[]|$)")


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression of one step may name: declared params, step id to index (the first of its name), routes.

    ``index`` is the step's own, ``name`` its new id, ``is_map`` whether there is an item.
    """

    index: int
    name: str
    is_map: bool
    params: frozenset[str]
    steps: Mapping[str, int]
    routes: frozenset[str]

    def fault(self, reference: Reference) -> str | None:
        """Why the step cannot have ``reference`` as an input, or ``None``."""
        if reference.root == "params":
            return None if reference.name in self.params else f'no param "{reference.name}" is declared'
        declared = self.steps.get(reference.name)
        if declared is None:
            return f'no step "{reference.name}" is declared'
        if declared >= self.index:
            return f'the step "{reference.name}" does not come before this one'
        return f'the route step "{reference.name}" has no output' if reference.name in self.routes else None


@dataclass(slots=True)
class Inputs:
    """The entries of one step's ``inputs``, each once, in the order of their first mention."""

    texts: list[str] = field(default_factory=list)

    def add(self, text: str) -> bool:
        """Add an entry; ``False`` when there is no room for it."""
        if text not in self.texts and len(self.texts) >= INPUTS.high:
            return False
        self.texts += [] if text in self.texts else [text]
        return True


def bare_reference(text: str) -> str:
    """The reference of a whole value ``${{ ref }}`` (or one that is bare already); other text as it is."""
    match = _EXPRESSION.fullmatch(text.strip())
    inner = text.strip() if match is None else match["inner"].strip()
    reference = _reference(inner)
    return text if reference is None else reference.text


def _reference(text: str) -> Reference | None:
    """A reference; an index that is written ``.0`` counts as ``[0]``."""
    found = parse_reference(_DOTTED_INDEX.sub(r"[\1]", text))
    return found if isinstance(found, Reference) else None


def say_in_words(prose: Prose, scope: Scope, inputs: Inputs | None, notes: Notes) -> Prose:
    """Expressions in ``prose`` as words, with their entries added to ``inputs``.

    Without ``inputs`` (a rubric, whose judge gets none) they are words alone. What cannot be read stays as it is.
    """

    def words(match: re.Match[str], in_code: bool) -> str | None:
        inner, span = match["inner"].strip(), prose.span(match.start())
        said = _item(inner, in_code)
        if said is not None:
            why = "a unit gets its item as attached context" if scope.is_map else "but this step is no map"
            notes.warn(span, f'"{match[0]}" is mentioned in words only: {why}')
        else:
            reference = _reference(inner)
            fault = "it is no expression of the old format" if reference is None else scope.fault(reference)
            if reference is None or fault is not None:
                notes.warn(span, f'"{match[0]}" stays as plain text: {fault}')
                return None
            said = _reference_words(reference, in_code)
            if inputs is None:
                notes.warn(span, f'"{match[0]}" is mentioned in words only: a judge gets no inputs')
            elif not inputs.add(reference.text):
                message = f'"{match[0]}" is mentioned in words only: a step has at most {INPUTS.high} inputs'
                notes.warn(span, message)
        return without_second_article(said, prose.text[: match.start()])

    for opener in _OPENER.finditer(prose.text):
        notes.warn(prose.span(opener.start()), 'an expression that "${{" opens is not closed: it stays as plain text')
    return prose.replaced(_EXPRESSION, words)


def _item(inner: str, in_code: bool) -> str | None:
    if inner == "item_index":
        return index_words(in_code)
    match = _ITEM.fullmatch(inner)
    return None if match is None else item_words(match["path"] or "", in_code)


def _reference_words(reference: Reference, in_code: bool) -> str:
    if reference.root == "params":
        return param_words(reference.name, in_code)
    return input_words(reference.text, in_code)
