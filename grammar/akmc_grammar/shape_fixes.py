"""Safe fixes of findings about shapes.

A fix is safe when what it replaces had no meaning: the finding is an error, one rewriting is obvious, and the rest of the
source says nothing against it. What is only likely is a help line, never a fix.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, TypeGuard

from akm_schemas.bounds import ARGV_WORDS
from akmc_grammar.diagnostics import Edit, Fix
from akmc_grammar.places import Place
from akmc_grammar.yaml_core import resolve_plain
from akmc_grammar.yaml_tree import Mapping, Node, Scalar

_CLOSE: Final = 0.8
_CROWDED: Final = 256
"""No shape has nearly as many keys; what follows compares each key with all others."""
_PLAIN_WORDS: Final = r"[A-Za-z0-9_@%+=:./^ -]+"
_BARE: Final = r"-{0,2}[A-Za-z_./][A-Za-z0-9_./+=-]*"


def misspelt(word: str, known: Iterable[str]) -> str | None:
    """The only one of ``known`` that ``word`` can be a slip of: the same letters in another case or order, or very close."""
    candidates = sorted(known)
    same = [name for name in candidates if name.lower() == word.lower().replace("-", "_")]
    swapped = [name for name in candidates if sorted(name) == sorted(word)]
    import difflib  # on use: most checks compare no spellings

    close = same or swapped or difflib.get_close_matches(word, candidates, n=2, cutoff=_CLOSE)
    return close[0] if len(close) == 1 else None


def key_fix(name: str, mapping: Mapping, allowed: Iterable[str], place: Place) -> Fix | None:
    """Rename a misspelt key, unless the mapping has the right one too, or a second key that could be it.

    ``place`` is the key's.
    """
    if len(mapping.entries) > _CROWDED:
        return None
    known = frozenset(allowed)
    meant = misspelt(name, known)
    if meant is None or mapping.get(meant) is not None:
        return None
    others = [str(entry.key.value) for entry in mapping.entries if entry.key.value not in known]
    if sum(other == name or misspelt(other, known) == meant for other in others) > 1:
        return None
    return _replaced(f'rename the key to "{meant}"', place, meant)


def choice_fix(value: str, choices: Iterable[str], place: Place) -> Fix | None:
    """Write the one value of a closed vocabulary that was meant."""
    meant = misspelt(value, choices)
    return None if meant is None else _replaced(f'write "{meant}"', place, meant)


def list_fix(node: Node, place: Place) -> Fix | None:
    """Put a lone text into a list."""
    if not _on_one_line(node):
        return None
    text = f"[{flow_word(node.text)}]"
    return _replaced(f"write it as a list: {text}", place, text)


def words_fix(node: Node, place: Place) -> Fix | None:
    """Split a command of plain words, which every shell would split the same way."""
    if not _on_one_line(node) or not plain_words(node.text):
        return None
    text = argv_text(node.text)
    return _replaced(f"write {text}", place, text)


def quotes_fix(node: Node, place: Place) -> Fix | None:
    """Put quotes around a number or boolean where a text is expected; its spelling stays."""
    if not _on_one_line(node) or node.style != "plain" or not node.text:
        return None
    import json  # on use: most documents need no fix

    text = json.dumps(node.text, ensure_ascii=False)
    return _replaced(f"write {text}", place, text)


def plain_words(command: str) -> bool:
    """Whether a command line holds nothing that a shell would read otherwise than as words between blanks.

    Nor more of them than a command may have.
    """
    return re.fullmatch(_PLAIN_WORDS, command) is not None and ARGV_WORDS.holds(len(command.split()))


def argv_text(command: str) -> str:
    """The words of a plain command line as a YAML flow list of texts."""
    return f"[{', '.join(flow_word(word) for word in command.split())}]"


def flow_word(word: str) -> str:
    """``word`` as it can stand in a YAML flow list and be read as that text: bare, or in double quotes."""
    bare = re.fullmatch(_BARE, word) is not None and isinstance(resolve_plain(word), str)
    if bare:
        return word
    import json

    return json.dumps(word, ensure_ascii=False)


def _on_one_line(node: Node) -> TypeGuard[Scalar]:
    if not isinstance(node, Scalar):
        return False
    return node.span.line == node.span.end_line and node.style in ("plain", "single", "double")


def _replaced(title: str, place: Place, text: str) -> Fix:
    return Fix(title, (Edit(place, text),))
