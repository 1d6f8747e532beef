"""One source file as it was read."""

from __future__ import annotations

import hashlib
from functools import cached_property

from msgspec import Struct

BOM = "\ufeff"


class SourceText(Struct, frozen=True, dict=True):
    """``name`` is the path as shown; ``raw`` the bytes of the file; ``text`` without BOM and with LF line ends.

    Only LF (and CR LF) end a line. ``text`` is ``None`` when the bytes are not UTF-8; ``bad_offset`` is then the
    position of the first bad byte.
    """

    name: str
    raw: bytes
    text: str | None
    bad_offset: int | None = None

    @classmethod
    def of(cls, name: str, raw: bytes) -> SourceText:
        """Decode ``raw``."""
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError as error:
            return cls(name, raw, None, error.start)
        return cls(name, raw, text.removeprefix(BOM).replace("\r\n", "\n"))

    @cached_property
    def lines(self) -> list[str]:
        """The lines of ``text`` without their ends (``[]`` when it is not UTF-8)."""
        return [] if self.text is None else self.text.split("\n")

    @cached_property
    def sha256(self) -> str:
        """SHA-256 hex of the raw bytes."""
        return hashlib.sha256(self.raw).hexdigest()

    @cached_property
    def normal_sha256(self) -> str:
        """SHA-256 hex of the normalised text (``sourceHash``)."""
        return hashlib.sha256((self.text or "").encode()).hexdigest()
