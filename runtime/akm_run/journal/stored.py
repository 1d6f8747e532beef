"""Results that stay in the journal until they are shown: a completed run's may have hundreds of megabytes each.

Read within ``one_moment``: what is found when a document is made is then still there when it is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

import msgspec

from akm_run.journal import blobs
from akm_run.journal.reader import Reader
from akm_run.journal.trouble import DamagedFault
from akm_schemas.json_types import Json

_ARTIFACT: Final = (
    "SELECT artifact, blobs.rowid FROM steps LEFT JOIN blobs ON sha256 = artifact_blob WHERE run_id = ? AND step = ?"
)
_OUTPUTS: Final = "SELECT outputs, blobs.rowid FROM runs LEFT JOIN blobs ON sha256 = outputs_blob WHERE run_id = ?"

Text: TypeAlias = bytes | memoryview
"""JSON text, or a part of it that is not copied."""


@dataclass(frozen=True, slots=True)
class Stored:
    """A stored value. ``read`` gives its canonical JSON anew, for nothing of it is kept here; ``decode`` makes a value of
    that or of a part of it, and raises DamagedFault for bytes that the journal never wrote."""

    read: Callable[[], Text]
    decode: Callable[[object], Json]

    def members(self) -> dict[str, Stored]:
        """The members of an object by name, which all keep the text that was read for them."""
        try:
            found = msgspec.json.decode(self.read(), type=dict[str, msgspec.Raw])
        except (msgspec.DecodeError, ValueError):
            self.decode(self.read())  # says what is wrong with it, if it is JSON at all
            raise
        return {name: self._member(raw) for name, raw in found.items()}

    def _member(self, raw: msgspec.Raw) -> Stored:
        return Stored(lambda: memoryview(raw), self.decode)


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
    def read() -> bytes:
        inline, rowid = journal.connection.execute(query, key).fetchone()
        data = inline if rowid is None else blobs.read(journal.connection, rowid)
        if not isinstance(data, bytes | str):
            raise DamagedFault(journal.path, "a stored value is no canonical JSON (it is a number)")
        return data if isinstance(data, bytes) else data.encode()

    return Stored(read, journal.stored)
