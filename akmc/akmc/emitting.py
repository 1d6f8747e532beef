"""The forms of ``akmc compile --emit``."""

from __future__ import annotations

from typing import Any

import msgspec

from akmc.session.freezing import PlanResult


def emitted(result: PlanResult, form: str, *, pretty: bool) -> bytes:
    """The bytes to write: ``source-ir``, ``resolved`` (the program as it stands), ``plan`` or ``text``."""
    if form == "source-ir":
        return _json(_source_ir(result), pretty)
    if form == "resolved":
        return _json(_resolved(result), pretty)
    assert result.plan is not None
    if form == "text":
        from akmc.render.plan_text import plan_text

        return plan_text(result.plan).encode()
    from akm_schemas.decode import encode_plan, plan_json

    return _json(plan_json(result.plan), pretty) if pretty else encode_plan(result.plan)


def _json(value: Any, pretty: bool) -> bytes:
    from akm_schemas.canonical import canonical_bytes, pretty_bytes

    data = pretty_bytes(value) if pretty else canonical_bytes(value)
    return data.rstrip(b"\n") + b"\n"


def _source_ir(result: PlanResult) -> Any:
    assert result.analysis is not None and result.analysis.document is not None
    return msgspec.to_builtins(result.analysis.document.ir)


def _resolved(result: PlanResult) -> Any:
    """The source IR beside what the passes have added to it, keyed by dotted IR paths."""
    assert result.analysis is not None
    program = result.analysis.program
    found: dict[str, Any] = {"source": _source_ir(result)}
    if program is not None:
        found["assets"] = {_dotted(path): asset.ref for path, asset in program.assets.items()}
        for name in ("references", "env_files"):
            table = getattr(program, name)
            found[name] = {_dotted(path): msgspec.to_builtins(value) for path, value in table.items()}
        if program.plan is not None:
            found["plan"] = msgspec.to_builtins(program.plan)
    return found


def _dotted(path: tuple[str | int, ...]) -> str:
    return ".".join(map(str, path))
