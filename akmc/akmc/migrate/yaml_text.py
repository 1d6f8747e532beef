"""JSON values as readable YAML: block style outside, short values in flow style; the same text for the same value.

A text is written plain only where every reader of YAML takes it for that text; several lines become a literal block,
everything else a double-quoted JSON string, which YAML reads alike.
"""

from __future__ import annotations

import json
import re
from typing import Final

from akm_schemas.json_types import Json, JsonObject
from akmc_grammar.yaml_core import resolve_plain

WIDTH: Final = 100
_DURATION: Final = re.compile(r"[0-9]+(?:ms|s|m)")
_PLAIN_FLOW: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_./$-]*(?: [A-Za-z0-9_./$-]*[A-Za-z0-9_./$])*")
_PLAIN_BLOCK: Final = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_./$,;()'!?+=&\[\] -]*[A-Za-z0-9_./$,;()'!?+=&\]-])?")
_OTHER_TRUTHS: Final = frozenset({"y", "n", "yes", "no", "on", "off"})  # booleans of YAML 1.1
# What JSON leaves raw and YAML's line rules or character set do not.
_ESCAPED: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")


def yaml_mapping(value: JsonObject) -> str:
    """A whole document, one entry of the root after the other, with a line end."""
    lines: list[str] = []
    for name, item in value.items():
        lines += _entry(name, item, 0, outer=True)
    return "".join(line + "\n" for line in lines)


def _entry(name: str, value: Json, indent: int, *, outer: bool = False) -> list[str]:
    """``name: value`` at ``indent``; mappings directly below the root are always written out."""
    head = f"{' ' * indent}{_key(name)}:"
    if isinstance(value, str) and (block := _literal(value, indent + 2)):
        return [f"{head} {block[0]}", *block[1:]]
    spread = outer and (isinstance(value, dict) or _has_mappings(value))
    flow = "" if spread and value else _flow(value)
    if not isinstance(value, dict | list):
        return [f"{head} {scalar_text(value, flow=False)}"]
    if flow and (len(head) + len(flow) < WIDTH or not value):
        return [f"{head} {flow}"]
    return [head, *_block(value, indent + 2)]


def _block(value: JsonObject | list[Json], indent: int) -> list[str]:
    lines: list[str] = []
    if isinstance(value, dict):
        for name, item in value.items():
            lines += _entry(name, item, indent)
        return lines
    for item in value:
        dash = " " * indent + "- "
        if isinstance(item, dict | list) and item:
            inner = _block(item, indent + 2)
            lines += [dash + inner[0][indent + 2 :], *inner[1:]]
        elif isinstance(item, str) and (block := _literal(item, indent + 2)):
            lines += [dash + block[0], *block[1:]]
        else:
            lines.append(dash + _flow(item))
    return lines


def _has_mappings(value: Json) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def _flow(value: Json) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(name)}: {_flow(item)}" for name, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return scalar_text(value, flow=True)


def _key(name: str) -> str:
    """A key; ``on`` and ``no`` are texts in YAML 1.2, and as keys nobody quotes them."""
    return name if name in _OTHER_TRUTHS else scalar_text(name, flow=True)


def scalar_text(value: Json, *, flow: bool) -> str:
    """A scalar on one line; ``flow`` when it stands inside brackets or as a key."""
    if not isinstance(value, str):
        return json.dumps(value)
    pattern = _PLAIN_FLOW if flow else _PLAIN_BLOCK
    if _DURATION.fullmatch(value):
        return value
    if pattern.fullmatch(value) and value.lower() not in _OTHER_TRUTHS and resolve_plain(value) == value:
        return value
    return _ESCAPED.sub(_escape, json.dumps(value, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _literal(value: str, indent: int) -> list[str]:
    """The lines of a literal block, the first one its head; empty when the text needs quotes or has one line."""
    text = value[:-1] if value.endswith("\n") else value
    lines = text.split("\n")
    plain = all(not line or (line.strip() and line.replace("\t", "").isprintable()) for line in lines)
    if len(lines) < 2 or not plain or not lines[-1] or lines[0][:1] in ("", " ", "\t"):
        return []
    head = "|" if value.endswith("\n") else "|-"
    return [head, *(" " * indent + line if line else "" for line in lines)]
