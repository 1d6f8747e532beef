"""Results that stay in the journal until they are shown: a completed run's may have hundreds of megabytes each.

Read within ``one_moment``: what is found when a document is made is then still there when it is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final

import msgspec
from msgspec import Struct

from akm_run import cuts
from akm_run.journal import blobs
from akm_run.journal.reader import Reader
from akm_run.journal.trouble import DamagedFault
from akm_run.windowed import Windowed
from akm_schemas.json_types import Json

_ARTIFACT: Final = (
    "SELECT artifact, blobs.rowid FROM steps LEFT JOIN blobs ON sha256 = artifact_blob WHERE run_id = ? AND step = ?"
)
_OUTPUTS: Final = "SELECT outputs, blobs.rowid FROM runs LEFT JOIN blobs ON sha256 = outputs_blob WHERE run_id = ?"


class Stored(Struct, frozen=True):
    """A stored value. ``text`` opens its canonical JSON anew, for nothing of it is kept here; ``decode`` makes a value of
    that or of a part of it, and raises DamagedFault for bytes that the journal never wrote."""

    text: Callable[[], AbstractContextManager[Windowed]]
    decode: Callable[[object], Json]

    def members(self) -> dict[str, Stored]:
        """The members of an object by name; the large ones stay where they are."""
        with self.text() as text:
            if len(text) <= cuts.PIECE_BYTES:
                return self._small(text[:])
            found: dict[str, Stored] = {}
            for first, last, alone in cuts.runs(text, 1, len(text) - 1):
                value = cuts.text_end(text, first, last) + 1
                if alone and last - value > cuts.PIECE_BYTES and text[value - 1] == ord(":"):
                    found[str(self.decode(text[first : value - 1]))] = self._part(value, last)
                else:
                    found |= self._small(b"{" + text[first:last] + b"}")
            return found

    def _small(self, text: bytes) -> dict[str, Stored]:
        try:
            members = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
        except (msgspec.DecodeError, ValueError):
            self.decode(text)  # says what is wrong with it, if it is no JSON at all
            raise
        return {name: _in_memory(bytes(raw), self.decode) for name, raw in members.items()}

    def _part(self, start: int, stop: int) -> Stored:
        @contextmanager
        def part() -> Iterator[Windowed]:
            with self.text() as text:
                yield text.part(start, stop)

        return Stored(part, self.decode)


def stored_artifacts(journal: Reader, run_id: str) -> Iterator[tuple[int, Stored]]:
    """The steps that have promoted something, by index, with what it was."""
    query = "SELECT step FROM steps WHERE run_id = ? AND coalesce(artifact, artifact_blob) IS NOT NULL ORDER BY step"
    for (step,) in journal.connection.execute(query, (run_id,)).fetchall():
        yield step, _stored(journal, _ARTIFACT, (run_id, step))


def stored_outputs(journal: Reader, run_id: str) -> Stored | None:
    """The exports of a run, or ``None`` when there are none (yet)."""
    query = "SELECT 1 FROM runs WHERE run_id = ? AND coalesce(outputs, outputs_blob) IS NOT NULL"
    found = journal.connection.execute(query, (run_id,)).fetchone()
    return None if found is None else _stored(journal, _OUTPUTS, (run_id,))


def _stored(journal: Reader, query: str, key: tuple[str | int, ...]) -> Stored:
    @contextmanager
    def text() -> Iterator[Windowed]:
        inline, rowid = journal.connection.execute(query, key).fetchone()
        if rowid is not None:
            with blobs.opened(journal.connection, rowid) as data:
                yield data
            return
        if not isinstance(inline, bytes | str):
            raise DamagedFault(journal.path, "a stored value is no canonical JSON (it is a number)")
        yield Windowed.of(inline if isinstance(inline, bytes) else inline.encode())

    return Stored(text, journal.stored)


def _in_memory(data: bytes, decode: Callable[[object], Json]) -> Stored:
    return Stored(lambda: nullcontext(Windowed.of(data)), decode)
