"""Five-field cron expressions, validated by the cronsim library."""

from __future__ import annotations

import datetime
from typing import Final

FIELDS: Final = 5
_EPOCH: Final = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)


def cron_fault(text: str) -> str | None:
    """Why ``text`` is no five-field cron expression, or ``None``."""
    fields = text.split()
    if text.startswith("@"):
        return "nicknames are not supported; write the five fields"
    if len(fields) != FIELDS:
        return f"expected five fields (minute hour day month weekday), found {len(fields)}"
    from cronsim import CronSim, CronSimError

    try:
        CronSim(text, _EPOCH)
    except CronSimError as error:
        return str(error).lower() or "a field is out of range"
    return None
