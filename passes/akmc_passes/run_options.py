"""Options of ``akm-run PLAN``, by name. A param of the same name cannot be a flag and comes in through a file.

The interpreter is not imported here; a test compares this table with its command.
"""

from __future__ import annotations

from typing import Final

RUN_OPTIONS: Final = frozenset(
    {
        "bundle",
        "color",
        "db",
        "dry-run",
        "events",
        "executor",
        "expect",
        "help",
        "host-concurrency",
        "json",
        "max-retries",
        "max-steps",
        "params-file",
        "record",
        "replay",
        "reuse",
        "timeout",
        "version",
        "workspace",
    }
)
