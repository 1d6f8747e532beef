"""The log of a run: what its units print, in one file of JSON Lines beside the state file.

One file for all units, because making one for each costs more than running a small unit. A line that a crash has torn is
no JSON, and readers pass over it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec

from akm_run.faults import UsageFault
from akm_run.run_ids import as_file_name
from akm_run.scope import printable
from akm_schemas.regular_files import open_regular


class LogLine(msgspec.Struct, frozen=True):
    """A piece of what the attempt ``unit`` has printed."""

    unit: str
    text: str


def log_file(state_file: Path, run_id: str) -> Path:
    """Where the log of a run lies; raises UsageFault for an id that names no file."""
    return state_file.with_name(state_file.name + ".logs") / f"{as_file_name(run_id)}.jsonl"


class RunLog:
    """Appends; made, private, when the first unit prints something. Safe to use from any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._descriptor: int | None = None

    def write(self, unit_id: str, text: str) -> None:
        """Append a piece; raises OSError."""
        line = msgspec.json.encode(LogLine(unit_id, text.encode("utf-8", "replace").decode())) + b"\n"
        with self._lock:
            if self._descriptor is None:
                self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
                self._descriptor = os.open(self._path, flags, 0o600)
                size = os.fstat(self._descriptor).st_size
                if size and os.pread(self._descriptor, 1, size - 1) != b"\n":
                    line = b"\n" + line  # a crash has torn what is before
            os.write(self._descriptor, line)

    def close(self) -> None:
        """Give the file back."""
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None


class LogReader:
    """Reads what was appended since the last time; whole lines only."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._decoder = msgspec.json.Decoder(LogLine)

    def more(self) -> Iterator[LogLine]:
        """The new lines; none where there is no log. Raises UsageFault for one that cannot be read."""
        try:
            file = open_regular(self._path)
        except FileNotFoundError:
            return  # no unit has printed anything, or the log was pruned
        except OSError as error:
            raise UsageFault(f'cannot read the log "{printable(self._path)}": {error.strerror or error}') from error
        with file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return  # still being written, or torn: looked at again
                self._offset += len(line)
                try:
                    yield self._decoder.decode(line)
                except msgspec.DecodeError:
                    continue  # torn by a crash
