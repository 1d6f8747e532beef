"""Run ids: the one place that makes them, and that lets one become the name of a file.

Ids come from state files, which anybody may have written; nothing of one may lead out of the folder it is put into.
"""

from __future__ import annotations

import re
import secrets
import time
from typing import Final

from akm_run.faults import UsageFault

_RUN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", re.ASCII)
EXPECTED: Final = "at most 100 letters, digits, - and _, a letter or digit first"


def new_run_id() -> str:
    """A run id: when it was made (UTC) and 8 random hex digits, so that ids sort by age and can be typed."""
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime()) + "-" + secrets.token_hex(4)


def is_run_id(text: object) -> bool:
    """Whether ``text`` can be the id of a run."""
    return isinstance(text, str) and _RUN_ID.fullmatch(text) is not None


def as_file_name(run_id: str) -> str:
    """``run_id``, to name a file or folder with; raises UsageFault for what no version of this program made."""
    if not is_run_id(run_id):
        raise UsageFault(
            f'"{run_id}" is no id that a run can have: {EXPECTED}',
            "the state file was changed by something else: put a copy back, or start anew with --db",
        )
    return run_id
