"""Plain words for what the old formats put into prose, and where old step ids are still mentioned.

Nothing is substituted in prose any more: a unit gets params, item and inputs as attached context, so that words which
name them are enough. Inside code the words stand in angle brackets, the usual form of a placeholder there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from akmc.migrate.model import Notes
from akmc.migrate.prose import Prose

_MOUSTACHE = re.compile(r"(?<!\$)\{\{[ \t]*(?:params\.)?(?P<name>[A-Za-z0-9_][A-Za-z0-9_.-]*)[ \t]*\}\}")
_ARTICLE = re.compile(r"(?i:(?<![^\s(\"'])(?:the|a|an))[ \t]+$")


def param_words(name: str, in_code: bool) -> str:
    """Words for a param."""
    return f"<{name} parameter>" if in_code else f"the `{name}` parameter"


def input_words(reference: str, in_code: bool) -> str:
    """Words for an entry of ``inputs``, under the name that the unit sees."""
    return f"<{reference} input>" if in_code else f"the input `{reference}`"


def item_words(path: str, in_code: bool) -> str:
    """Words for the item of a map unit, or for the part of it at ``path`` (dotted, may be empty)."""
    if in_code:
        return f"<item.{path}>" if path else "<item>"
    return f"`{path}` of the item" if path else "the item"


def index_words(in_code: bool) -> str:
    """Words for the index of a map unit's item."""
    return "<index of the item>" if in_code else "the index of the item"


def without_second_article(words: str, before: str) -> str:
    """``words`` without their article when ``before``, the text in front of them, ends with one."""
    if words.startswith("the ") and _ARTICLE.search(before.rpartition("\n")[2][-12:]):
        return words[len("the ") :]
    return words


def name_moustaches(prose: Prose, param_of: Callable[[str], str | None], notes: Notes) -> Prose:
    """``{{ name }}`` of a param becomes words; any other stays as it is and is listed.

    ``param_of`` gives the new name of a param, ``None`` for what is none.
    """

    def words(match: re.Match[str], in_code: bool) -> str | None:
        name = param_of(match["name"])
        if name is None:
            notes.warn(prose.span(match.start()), f'"{match[0]}" names no declared param: it stays as plain text')
            return None
        return without_second_article(param_words(name, in_code), prose.text[: match.start()])

    return prose.replaced(_MOUSTACHE, words)


def list_old_ids(proses: Iterable[Prose], renamed: dict[str, list[str]], notes: Notes) -> None:
    """Remark on every place in prose that mentions a step by an id that it no longer has.

    ``renamed`` maps the old id to the new ids of the steps that had it.
    """
    for old, new in renamed.items():
        names = " or ".join(f'"{name}"' for name in new)
        mention = re.compile(rf"(?<![A-Za-z0-9_.-]){re.escape(old)}(?![A-Za-z0-9_-]|\.[A-Za-z0-9])")
        for prose in proses:
            for match in mention.finditer(prose.text):
                notes.warn(prose.span(match.start()), f'the prose mentions "{old}", which is now {names}')
