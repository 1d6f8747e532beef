"""How many units may run at once: the run's width at publication, the host's at dispatch (spec 3, section 3)."""

from __future__ import annotations

import os

from akm_schemas.plan import Plan

_MOST = 16
_SPARED = 2  # cores left to the interpreter and to everything else on the machine


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
