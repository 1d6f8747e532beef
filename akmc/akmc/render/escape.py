"""User text made safe to show, as ``akm_schemas.visible`` has it for both programs, and values as such JSON."""

from __future__ import annotations

import re

from akm_schemas.visible import shown, visible, visible_json

__all__ = ["json_text", "shown", "visible"]

_SURROGATE = "[\ud800-\udfff]"  # compiled on use: classes beyond ASCII take milliseconds


def json_text(value: object, *, indent: int | None = None) -> str:
    """``value`` as JSON text that is safe on a terminal too: active characters are written as escapes."""
    import json

    text = json.dumps(value, ensure_ascii=False)
    if not text.isascii():
        text = re.sub(_SURROGATE, lambda match: shown(match.group()).replace("\\", "\\\\"), text)
    if indent is not None:  # json.dumps indents ten times slower
        import msgspec

        text = msgspec.json.format(text, indent=indent)
    return text if text.isascii() and "\x7f" not in text else visible_json(text)
