"""Agent engines on ``platform: command``: any command line that reads a prompt on stdin and prints the answer."""

from __future__ import annotations

from pathlib import Path

from akm_run.answers import model_answer
from akm_run.dispatch.contract import Cancel, UnitRequest, UnitResult
from akm_run.dispatch.local import Invocation, perform_process
from akm_run.dispatch.outcome import failed
from akm_run.dispatch.prompt import system_text, user_text
from akm_schemas.plan import AgentEngine, CommandTarget


def perform(request: UnitRequest, cancel: Cancel) -> UnitResult:
    """Ask the engine's program; environment, process group and failures are those of exec units."""
    target = request.target
    assert isinstance(target, CommandTarget)
    engine = target.engine
    assert isinstance(engine, AgentEngine)
    if not isinstance(engine.bin, str) or not engine.bin:
        return failed("spawn_failed", f"engine {engine.name!r} names no program; set its `bin` and compile again")
    prompt = f"{system_text(request)}\n\n{user_text(request)}\n"
    invocation = Invocation(
        argv=(_program(engine.bin, request.workspace), *(engine.args if isinstance(engine.args, list) else ())),
        cwd=engine.workspace if isinstance(engine.workspace, str) else None,
        contained=False,  # a person's own config says where the engine works, not the workflow
        stdin=prompt.encode("utf-8", "surrogatepass"),
        read=model_answer,
    )
    return perform_process(request, cancel, invocation)


def _program(name: str, workspace: Path) -> str:
    """A bare name is for the PATH; a relative path starts at the workspace, wherever the engine works."""
    return str(workspace / name) if "/" in name and not name.startswith("/") else name
