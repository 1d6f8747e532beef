"""User text as words of a message."""

from __future__ import annotations

_CLIP = 60


def quoted(text: str) -> str:
    """User text in double quotes, clipped to 60 characters and kept on one line."""
    flat = text.replace("\n", "\\n").replace("\r", "\\r")
    return f'"{flat if len(flat) <= _CLIP else flat[: _CLIP - 1] + "…"}"'
