"""``Retry-After`` of an HTTP answer: seconds, or a date (RFC 9110, section 10.2.3)."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from akm_schemas.bounds import TIMEOUT_MS

_LONGEST_S: Final = TIMEOUT_MS.high / 1000


def retry_after_s(value: str | None, date: str | None = None) -> float | None:
    """The seconds that ``value`` asks to wait for, ``None`` where it says nothing readable.

    A date is read against the server's own ``Date``, so that a wrong clock on either side does no harm.
    """
    text = (value or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text), _LONGEST_S)
    moment = _moment(text)
    if moment is None:
        return None
    sent = _moment(date or "")
    return min(max(0.0, moment - (time.time() if sent is None else sent)), _LONGEST_S)


def _moment(text: str) -> float | None:
    """A date of HTTP as seconds since 1970."""
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return _utc(date).timestamp()


def _utc(date: datetime) -> datetime:
    return date if date.tzinfo is not None else date.replace(tzinfo=UTC)
