"""Which keys of a task say a part of the unit that composes it (spec 1, section 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from akm_schemas.plan import Plan, SourceFile, Step

if TYPE_CHECKING:
    from akmc_grammar.document import Document
    from akmc_grammar.places import Path

# Part of a unit -> the task's keys for it, what follows the part is walked below the first of them.
_KEYS: Final[tuple[tuple[tuple[str, ...], tuple[Path, ...]], ...]] = (
    (("target", "command"), (("run",),)),
    (("target", "cwd"), (("working-directory",),)),
    (("target", "prompt"), (("with", "content"), ("with", "arguments"))),
    (("target", "options"), ((),)),
    (("target", "engine"), (("engine",),)),
    (("target", "model"), (("model",),)),
    (("target", "llm"), (("inference",),)),
    (("target", "inputBindings"), (("inputs",), ("with",))),
    (("timeoutMs",), (("timeout",),)),
    (("output",), (("output",),)),
)
_TARGET: Final[tuple[Path, ...]] = (("uses",), ("run",))


def composed_task(document: Document, plan: Plan, step: Step) -> SourceFile | None:
    """The file of the task that ``step`` composes, ``None`` when it composes none."""
    steps = document.ir.steps if document.ir is not None else []
    unit = steps[step.index].unit if step.index < len(steps) else None
    uses = getattr(unit, "uses", None)
    ref = getattr(uses, "ref", "")
    if "tasks" not in ref.rpartition("//")[2].split("/")[:1]:
        return None
    return next((item for item in plan.provenance.source_read_set if item.ref == ref), None)


def task_keys(parts: list[str], keys: Path) -> list[Path]:
    """Paths in the task to look for, the most exact first; ``parts`` walk the unit, ``keys`` narrow them."""
    if parts[:1] == ["env"]:
        return [("env", *keys), ("env",), *_TARGET] if keys else [("redact",), *_TARGET]
    found: list[Path] = []
    for prefix, places in _KEYS:
        if tuple(parts[: len(prefix)]) == prefix:
            deeper = (*parts[len(prefix) :], *keys)
            found += [(*place, *deeper[:size]) for place in places for size in range(len(deeper), -1, -1)]
            break
    return [*filter(None, found), *_TARGET]
