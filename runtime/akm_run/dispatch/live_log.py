"""What a unit's process prints, handed on while it runs, for ``akm-run logs --follow``.

Secrets are scrubbed before anything is handed on. A value may come in pieces, so the end of the text is held back until
no value can begin in what is handed on and go on beyond what was read.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from akm_run.redaction import Redactor
from akm_schemas.bounds import STDOUT_BYTES

_LONGEST_ESCAPE: Final = 16  # characters that one may become when JSON is escaped twice


class LiveLog:
    """Both streams of one process, as they come, to ``write``; at most ``STDOUT_BYTES`` characters.

    A log that cannot be written costs the log and never the unit: ``fault`` says why.
    """

    def __init__(self, write: Callable[[str], None] | None, redactor: Redactor) -> None:
        self._write = write
        self._redactor = redactor
        self._held_back = _LONGEST_ESCAPE * redactor.longest
        self._decoders: dict[str, codecs.IncrementalDecoder] = {}  # of the streams on which something came
        self._pending: dict[str, str] = {}
        self._room = STDOUT_BYTES.high
        self.fault: str | None = None

    def take(self, stream: str, data: bytes) -> None:
        """What was read from ``stream`` (``stdout`` or ``stderr``)."""
        if self._write is None:
            return
        decoder = self._decoders.get(stream)
        if decoder is None:
            decoder = self._decoders[stream] = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending[stream] = self._pending.get(stream, "") + decoder.decode(data)
        self._flush(stream, self._held_back)

    def close(self) -> None:
        """Hand on what was held back."""
        for stream in self._pending:
            self._flush(stream, 0)

    def _flush(self, stream: str, held_back: int) -> None:
        text = self._pending[stream]
        cut = len(text) - held_back
        if cut <= 0:
            return
        if held_back:  # a value that begins before the cut ends with it in the part that is kept
            cut = min((start for start, end in self._redactor.spans(text) if start < cut < end), default=cut)
        self._pending[stream] = text[cut:]
        self._hand_on(self._redactor.text(text[:cut]))

    def _hand_on(self, text: str) -> None:
        text, self._room = text[: self._room], max(0, self._room - len(text))
        if not text or self._write is None or self.fault is not None:
            return
        try:
            self._write(text)
        except OSError as error:
            self.fault = f"its log cannot be written: {os.strerror(error.errno or 0).lower()}"


@contextmanager
def live_log(write: Callable[[str], None] | None, redactor: Redactor) -> Iterator[LiveLog]:
    """A log for the time of the block; ``None`` keeps nothing."""
    log = LiveLog(write, redactor)
    try:
        yield log
    finally:
        log.close()
