"""Agent engines: the harness's own non-interactive command line, its prompt on stdin (spec 3, section 4).

Environment, process group and failures are those of exec units; beyond them a harness gets its pass-through names.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from msgspec import UNSET

from akm_run.answers import model_answer
from akm_run.dispatch.contract import Cancel, UnitRequest, UnitResult
from akm_run.dispatch.local import Invocation, perform_process
from akm_run.dispatch.outcome import failed
from akm_run.dispatch.platforms import platform_of
from akm_run.dispatch.platforms.contract import CannotRun
from akm_run.dispatch.prompt import system_text, user_text
from akm_schemas.plan import AgentEngine, CommandTarget


def perform(request: UnitRequest, cancel: Cancel) -> UnitResult:
    """Ask the engine's program once."""
    target = request.target
    assert isinstance(target, CommandTarget)
    engine = target.engine
    assert isinstance(engine, AgentEngine)
    platform = platform_of(engine)
    try:
        line = platform.command_line(engine, None if target.model is UNSET else target.model)
    except CannotRun as fault:
        return failed("spawn_failed", str(fault))
    program = engine.bin if isinstance(engine.bin, str) and engine.bin else platform.PROGRAM
    assert program is not None, "a platform without a program of its own refuses engines without one"
    prompt = f"{system_text(request)}\n\n{user_text(request)}\n"
    invocation = Invocation(
        argv=(_program(program, request.workspace), *line.arguments),
        cwd=engine.workspace if isinstance(engine.workspace, str) else None,
        contained=False,  # a person's own config says where the engine works, not the workflow
        pass_env=(*line.credentials, *line.settings),
        variables=line.variables,
        credentials=_values(line.credentials),
        stdin=prompt.encode("utf-8", "surrogatepass"),
        read=model_answer,
        unwrap=platform.READ,
    )
    return perform_process(request, cancel, invocation)


def _program(name: str, workspace: Path) -> str:
    """A bare name is for the PATH; a relative path starts at the workspace, wherever the engine works."""
    return str(workspace / name) if "/" in name and not name.startswith("/") else name


def _values(names: Iterable[str]) -> tuple[str, ...]:
    """What those of the variables hold that are set."""
    return tuple(value for name in names if (value := os.environ.get(name)))
