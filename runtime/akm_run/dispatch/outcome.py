"""How a failed unit is described: a reason of the fixed vocabulary and a diagnostic of bounded length."""

from __future__ import annotations

from akm_run.clipping import clipped
from akm_run.dispatch.contract import UnitResult
from akm_schemas.bounds import DIAGNOSTIC_CHARS, STDERR_TAIL_CHARS


class UnitFault(Exception):
    """A unit that cannot be performed: ``reason`` as in spec 3, section 4; the message says what to act on."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message


def diagnostic(reason: str, message: str, stderr: str = "") -> str:
    """Reason and message first, then the last ``STDERR_TAIL_CHARS`` characters of stderr; ``DIAGNOSTIC_CHARS`` in all.

    Both texts must be redacted already: a value that the cut divides would no longer be recognised.
    """
    tail = stderr.rstrip()[-STDERR_TAIL_CHARS.high :]
    room = DIAGNOSTIC_CHARS.high - (len(tail) + 1 if tail else 0)
    head = clipped(f"{reason}: {message}", room, "…")
    return f"{head}\n{tail}" if tail else head


def failed(
    reason: str,
    message: str,
    *,
    stderr: str = "",
    notices: tuple[str, ...] = (),
    errors: tuple[str, ...] = (),
) -> UnitResult:
    """The result of a failed unit."""
    text = diagnostic(reason, message, stderr)
    return UnitResult(failure_reason=reason, diagnostic=text, notices=notices, errors=errors)
