"""User text made safe to show: nothing that a terminal would act on is written raw.

Escape sequences, control characters and bidirectional overrides in a source (or in a file's name) could hide or forge
what a person reads; see CVE-2021-42574 for the latter. They are shown as ``\\x1b`` or ``\\u202e``.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_SURROGATE = "[\ud800-\udfff]"  # compiled on use: classes beyond ASCII take milliseconds
# In JSON text these occur inside strings only, so the escaped form is the same document.
_JSON_HIDDEN = "[\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0001-\U000e007f]"


@lru_cache(maxsize=4096)
def shown(char: str) -> str:
    """``char``, or its escape when it is invisible or acts on a terminal."""
    code = ord(char)
    noncharacter = code & 0xFFFE == 0xFFFE  # XML cannot carry U+FFFE and U+FFFF
    if not noncharacter and unicodedata.category(char) not in _HIDDEN:
        return char
    if 0xDC80 <= code <= 0xDCFF:  # a byte of a file name that is no UTF-8 (PEP 383)
        return f"\\x{code - 0xDC00:02x}"
    known = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}.get(char)
    if known is not None:
        return known
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def visible(text: str) -> str:
    """``text`` on one line, with every character that is invisible or active escaped."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(shown, text))


def json_text(value: object, *, indent: int | None = None) -> str:
    """``value`` as JSON text that is safe on a terminal too: active characters are written as escapes."""
    import json

    text = json.dumps(value, ensure_ascii=False)
    if not text.isascii():
        text = re.sub(_SURROGATE, lambda match: shown(match.group()).replace("\\", "\\\\"), text)
    if indent is not None:  # json.dumps indents ten times slower
        import msgspec

        text = msgspec.json.format(text, indent=indent)
    return text if text.isascii() and "\x7f" not in text else re.sub(_JSON_HIDDEN, _json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    units = match.group().encode("utf-16-be")
    return "".join(f"\\u{units[index]:02x}{units[index + 1]:02x}" for index in range(0, len(units), 2))
