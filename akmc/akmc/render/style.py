"""Colours of the text format."""

from __future__ import annotations

from msgspec import Struct

_RESET = "\x1b[0m"
_CODES = {"error": "1;31", "warning": "1;33", "note": "1;36", "bold": "1", "frame": "1;34"}


class Style(Struct, frozen=True):
    """Wraps pieces of text in SGR sequences, or leaves them alone."""

    color: bool

    def paint(self, kind: str, text: str) -> str:
        """``text`` in the colour of ``kind``: a severity, ``bold`` or ``frame``."""
        return f"\x1b[{_CODES[kind]}m{text}{_RESET}" if self.color else text
