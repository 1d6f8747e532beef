"""Places: where something is said, symbolically until it is shown.

Passes name a place by its path in the source IR; the document that was read turns it into lines and columns.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

Path: TypeAlias = tuple[str | int, ...]


class Span(Struct, frozen=True, order=True, gc=False):
    """A range of a source text. Lines and columns count from 1, columns in code points; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Place(Struct, frozen=True):
    """A symbolic place in one file.

    ``file`` is the path as shown to a person. ``path`` walks the source IR, for example
    ``("steps", 2, "map", "over")``, ``("sections", 0)`` or ``("sections", 0, "gate")``. ``part`` picks the key or the
    value of a mapping entry; ``occurrence`` the n-th entry with that key (duplicates). ``offset`` and ``length``
    narrow the place to code points inside a scalar. A place that a scanner already knows carries its ``span``.
    """

    file: str
    path: Path = ()
    part: Literal["key", "value"] = "value"
    occurrence: int = 0
    offset: int | None = None
    length: int | None = None
    span: Span | None = None
