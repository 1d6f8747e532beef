"""exec units: a command line spawned directly, stdout its artifact (spec 3, section 4)."""

from __future__ import annotations

from akm_run.dispatch.contract import Cancel, UnitRequest, UnitResult
from akm_run.dispatch.local import Invocation, perform_process
from akm_schemas.plan import ExecTarget


def perform(request: UnitRequest, cancel: Cancel) -> UnitResult:
    """Run the command of an exec target."""
    target = request.target
    assert isinstance(target, ExecTarget)
    cwd = target.cwd if isinstance(target.cwd, str) else None
    return perform_process(request, cancel, Invocation(tuple(target.command), cwd, pass_env=tuple(target.pass_env)))
