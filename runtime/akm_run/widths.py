"""How many units may run at once: the run's width at publication, the host's at dispatch (spec 3, section 3).

And the open files that they take."""

from __future__ import annotations

import os
from contextlib import suppress

from akm_schemas.plan import Plan

_MOST = 16
_SPARED = 2  # cores left to the interpreter and to everything else on the machine
_FILES_OF_A_UNIT = 16  # pipes, logs and connections, at the moment when there are most of them
_FILES_BESIDE = 64


def cores() -> int:
    """The processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def host_width() -> int:
    """``min(16, max(1, cores - 2))``."""
    return min(_MOST, max(1, cores() - _SPARED))


def run_width(plan: Plan) -> int:
    """The width that a run of ``plan`` is published with: its configured one, else the host's now."""
    return plan.execution.max_concurrency or host_width()


def make_room(width: int) -> None:
    """Raise this process's limit of open files to what ``width`` units take at once, as far as the system lets it.

    The limit that a shell is given may be as low as 256; units have the raised one too.
    """
    if os.name != "posix":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES_BESIDE + width * _FILES_OF_A_UNIT
    wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if resource.RLIM_INFINITY != soft < wanted:
        with suppress(OSError, ValueError):  # not allowed here after all: what is there has to do
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
