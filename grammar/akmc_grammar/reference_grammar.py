"""References, asset refs and durations: text in, data out.

A regular expression over the terminals of ``reference.lark`` accepts; what it refuses is given to the LALR parser,
which knows what was expected where. The parser is imported only then. Source: spec 1, sections 1, 2.3 and 2.5.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from msgspec import Struct

from akm_schemas.references import Reference

_IDENT: Final = "[A-Za-z_][A-Za-z0-9_-]*"
_SEGMENT: Final = "[A-Za-z0-9_][A-Za-z0-9._-]*"

_REFERENCE: Final = re.compile(
    rf"params\.(?P<param>[A-Za-z_][A-Za-z0-9_]*)"
    rf"|steps\.(?P<step>{_IDENT})\.output(?P<path>(?:\.{_IDENT}|\[(?:0|[1-9][0-9]{{0,9}})\])*)"
)
_PATH_PART: Final = re.compile(rf"\.({_IDENT})|\[([0-9]+)\]")
_ASSET_REF: Final = rf"(?:(?P<bundle>{_SEGMENT})//)?(?P<family>workflows|tasks|commands|scripts|env)/(?P<name>{_SEGMENT}(?:/{_SEGMENT})*)"
_DURATION: Final = r"(?P<count>[0-9]+)(?P<unit>ms|s|m)?"
_UNIT_MS: Final = {None: 1, "ms": 1, "s": 1000, "m": 60_000}
# int() refuses texts beyond some thousand digits; a count of more than 18 is above every bound anyway.
_COUNT_DIGITS: Final = 18


class ReferenceFault(Struct, frozen=True):
    """Why a text is no reference: ``offset`` in code points, what was found and expected, and what to write instead."""

    offset: int
    message: str
    help: str | None = None


class AssetRef(Struct, frozen=True):
    """``[bundle//]family/name``; ``name`` may hold further slashes; ``bundle`` is ``None`` for the own one."""

    bundle: str | None
    family: str
    name: str
    text: str


def parse_reference(text: str) -> Reference | ReferenceFault:
    """Read a whole value as a reference (``params.x``, ``steps.x.output.rows[0]``); the first fault otherwise."""
    match = _REFERENCE.fullmatch(text)
    if match is None:
        from akmc_grammar.reference_faults import explain_reference

        return explain_reference(text)
    if match["param"] is not None:
        return Reference(text=text, root="params", name=match["param"], path=[])
    path: list[str | int] = [name or int(index) for name, index in _PATH_PART.findall(match["path"])]
    return Reference(text=text, root="steps", name=match["step"], path=path)


def is_reference(text: str) -> bool:
    """Whether a whole value is a reference."""
    return _REFERENCE.fullmatch(text) is not None


def parse_duration(text: str) -> int | Literal["none"] | None:
    """Milliseconds of ``<n>``, ``<n>ms``, ``<n>s`` or ``<n>m``; ``"none"`` as it is; ``None`` when malformed.

    The bound is the caller's (``bounds.TIMEOUT_MS``); a count of absurd length comes back as a number above it.
    """
    if text == "none":
        return "none"
    match = re.fullmatch(_DURATION, text)
    if match is None:
        return None
    digits = match["count"].lstrip("0")
    count = int(digits or "0") if len(digits) <= _COUNT_DIGITS else 10**_COUNT_DIGITS
    return count * _UNIT_MS[match["unit"]]


def parse_asset_ref(text: str) -> AssetRef | None:
    """Read a whole value as an asset ref of any family; ``None`` when it is none."""
    match = re.fullmatch(_ASSET_REF, text)
    return None if match is None else AssetRef(match["bundle"], match["family"], match["name"], text)
