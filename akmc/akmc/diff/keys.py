"""Which keys of a source say a part of a plan: unit, map and route bags, and the defaults that they fall back to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from akm_schemas.plan import Step

if TYPE_CHECKING:
    from akmc_grammar.places import Path

# Part of a unit -> keys below the unit's bag, keys of the document's defaults. Longest first: the first prefix decides,
# and what follows it is walked too.
_UNIT: Final[tuple[tuple[tuple[str, ...], tuple[Path, ...]], ...]] = (
    (("target", "command"), (("exec", "command"),)),
    (("target", "cwd"), (("exec", "cwd"),)),
    (("target", "passEnv"), (("exec", "pass_env"),)),
    (("target", "engine"), (("engine",), ("defaults", "engine"))),
    (("target", "model"), (("model",), ("defaults", "model"))),
    (("target", "llm"), (("llm",), ("defaults", "llm"))),
    (("target", "inputBindings"), (("with",), ("uses", "with"))),
    (("target", "options"), (("uses",),)),
    (("target", "template"), (("uses",),)),
    (("target",), (("uses",), ("exec",))),
    (("timeoutMs",), (("timeout",), ("defaults", "timeout"))),
    (("onError",), (("on_error",), ("defaults", "on_error"))),
)
_TOP: Final = {"maxUnits": "max_units", "maxTokens": "max_tokens"}


def source_keys(step: Step | None, parts: list[str]) -> list[Path]:
    """Paths of the source IR to look for, the most exact first; ``parts`` walk the plan, below ``step`` if there is one."""
    if step is None:
        path: Path = tuple(_TOP.get(part, part) for part in parts)
        return [path[:size] for size in range(len(path), 0, -1)]
    own: Path = ("steps", step.index)
    return [*_in_step(step, own, parts), own]


def own_keys(step: Step, parts: list[str]) -> list[Path]:
    """Of ``source_keys`` those that say this part and no other: none that a whole target or unit stands at."""
    own: Path = ("steps", step.index)
    bag = (*own, "map", "unit") if step.kind == "map" else (*own, "unit")
    whole = {own, bag, (*bag, "uses"), (*bag, "exec"), (*own, "instructions")}
    return [path for path in source_keys(step, parts) if path not in whole]


def _in_step(step: Step, own: Path, parts: list[str]) -> list[Path]:
    if not parts:
        return [(*own, "id")]
    if parts == ["kind"]:
        return [(*own, name) for name in ("route", "map", "unit")]
    if parts[0] == "gate":
        loops = [(*own, "gate", "max_loops")] if parts[1:] == ["maxLoops"] else []
        return [*loops, (*own, "rubric")]
    if parts[0] != "unit":
        return [(*own, *parts[:size]) for size in range(len(parts), 0, -1)]
    bag = (*own, "map", "unit") if step.kind == "map" else (*own, "unit")
    rest = parts[1:]
    if rest and rest[-1] in ("instructions", "prompt"):
        bound = [(*bag, "uses", "with", name) for name in ("content", "arguments", "ref")]
        return [*(bound if rest[-1] == "prompt" else []), (*own, "instructions"), (*bag, "uses")]
    return [*_in_bag(bag, rest), (*bag, "uses"), bag]


def _in_bag(bag: Path, rest: list[str]) -> list[Path]:
    for prefix, places in _UNIT:
        if tuple(rest[: len(prefix)]) == prefix:
            deeper = tuple(rest[len(prefix) :])
            full = [path if path[0] == "defaults" else (*bag, *path) for path in places]
            return [
                found
                for path in full
                for found in _shortened((*path, *deeper), len(bag) if path[0] != "defaults" else 1)
            ]
    return _shortened((*bag, *rest), len(bag))


def _shortened(path: Path, least: int) -> list[Path]:
    """``path`` and the paths above it, down to ``least`` parts, which is left out."""
    return [path[:size] for size in range(len(path), least, -1)]
