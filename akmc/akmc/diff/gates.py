"""Gates: the rubric, its rounds, and the judge that reads it."""

from __future__ import annotations

from akm_schemas.plan import Gate
from akmc.diff.engines import describe, reach
from akmc.diff.model import ChangeClass
from akmc.diff.narrowing import first_line
from akmc.diff.prose import lines_changed, prose_diff
from akmc.diff.scope import Scope
from akmc.diff.targets import compare_commands, compare_value


def compare_gates(scope: Scope, path: str, old: Gate | None, new: Gate | None) -> None:
    """A judge on an engine that the old plan never spoke to is ``security``."""
    if new is None:
        if old is not None:
            scope.report("behaviour", path, "is no longer verified: the rubric is gone", old=old.rubric)
        return
    if old is None:
        class_: ChangeClass = "behaviour" if reach(new.judge.engine) in scope.known else "security"
        message = f"is verified now, judged on {describe(new.judge.engine)}"
        scope.report(class_, path, message, new=new.rubric)
        return
    prose = prose_diff(old.rubric, new.rubric)
    if prose:
        scope.report(
            "behaviour",
            f"{path}.rubric",
            f"rubric changed ({lines_changed(prose)})",
            prose=prose,
            narrowed=first_line(old.rubric, new.rubric),
        )
    compare_value(scope, f"{path}.maxLoops", "max_loops", old.max_loops, new.max_loops)
    compare_commands(scope, f"{path}.judge", old.judge, new.judge)
