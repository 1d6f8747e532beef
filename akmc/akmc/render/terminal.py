"""What a terminal may be sent: the net below every command.

Commands escape what they show to people themselves (``akmc.render.escape``). This keeps a terminal safe from what one of
them forgot, and from bytes that must be exact for programs (plans, migrated sources) when a person looks at them.
"""

from __future__ import annotations

import re
from typing import Final

_OWN: Final = r"\x1b\[(?:[012]|(?:1;)?3[1-6])m|\x1b\[2J\x1b\[H"
"""Our colours, and the cleared screen of ``check --watch``."""
_COMMANDS: Final = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"


def harmless(data: bytes) -> bytes:
    """UTF-8 ``data`` with controls and changes of direction escaped, colours aside; JSON stays the same document."""
    if data.isascii() and data.replace(b"\n", b"").decode().isprintable():
        return data
    text = data.decode("utf-8", "backslashreplace")
    return re.sub(f"{_OWN}|{_COMMANDS}", _shown, text).encode()


def _shown(match: re.Match[str]) -> str:
    found = match[0]
    return found if len(found) > 1 else f"\\u{ord(found):04x}"
