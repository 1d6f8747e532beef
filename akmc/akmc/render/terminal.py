"""What a terminal may be sent: the net below every command.

Commands escape what they show to people themselves (``akmc.render.escape``). This keeps a terminal safe from what one of
them forgot, and from bytes that must be exact for programs (plans, migrated sources) when a person looks at them.
"""

from __future__ import annotations

import re
from typing import Final

from akm_schemas.visible import visible_json

_OWN: Final = r"\x1b\[(?:[012]|(?:1;)?3[1-6])m|\x1b\[2J\x1b\[H"
"""Our colours, and the cleared screen of ``check --watch``."""


def harmless(data: bytes) -> bytes:
    """UTF-8 ``data`` with hidden characters escaped, colours aside; JSON stays the same document."""
    if data.isascii() and data.replace(b"\n", b"").decode().isprintable():
        return data
    pieces = re.split(f"({_OWN}|[\t\n])", data.decode("utf-8", "backslashreplace"))
    pieces[::2] = map(visible_json, pieces[::2])  # between them stands what is kept
    return "".join(pieces).encode()
