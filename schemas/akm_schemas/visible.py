"""Text of others made safe to show: nothing that hides, reorders or commands is written raw, by either program.

Escape sequences, control characters, bidirectional overrides and invisible characters in a source, a name or a program's
output could hide or forge what a person reads; see CVE-2021-42574. They are shown as ``\\x1b`` or ``\\u202e``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_KNOWN: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def is_hidden(char: str) -> bool:
    """Whether ``char`` is invisible, acts on a terminal, or is one that XML cannot carry (U+FFFE, U+FFFF)."""
    from unicodedata import category  # most text is printable and needs none of it

    return ord(char) & 0xFFFE == 0xFFFE or category(char) in _CATEGORIES


@lru_cache(maxsize=4096)
def shown(char: str) -> str:
    """``char``, or its escape when it is hidden."""
    if not is_hidden(char):
        return char
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is no UTF-8 (PEP 383)
        return f"\\x{code - 0xDC00:02x}"
    if code <= 0xFF:
        return _KNOWN.get(char, f"\\x{code:02x}")
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def visible(text: str) -> str:
    """``text`` on one line, with every hidden character escaped."""
    return text if text.isprintable() else "".join(map(shown, text))  # no hidden character counts as printable


def visible_rows(text: str) -> list[str]:
    """The lines of ``text``, each visible."""
    return [visible(row.expandtabs(4)) for row in text.replace("\r\n", "\n").split("\n")]


@lru_cache(maxsize=4096)
def _shown_in_json(char: str) -> str:
    if not is_hidden(char):  # hidden ones stand in strings, where they may be escaped
        return char
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def visible_json(text: str) -> str:
    """``text`` with hidden characters, line breaks aside, as JSON escapes: of JSON text the same document."""
    return "\n".join(row if row.isprintable() else "".join(map(_shown_in_json, row)) for row in text.split("\n"))
