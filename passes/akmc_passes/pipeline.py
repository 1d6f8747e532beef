"""The pipeline: passes in order, with everything that the command line asks of them.

``PIPELINE`` is one literal tuple; ``validate`` is what a test holds it to.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import cast

from msgspec import Struct

from akmc_grammar.rules import RULES
from akmc_passes import (
    bindings,
    bounds,
    composition,
    directories,
    engines,
    environment,
    lower,
    outputs,
    references,
    resolve,
    route_forward,
    schema_subset,
    seal,
    types,
)
from akmc_passes.contract import Context, Pass, PassCrash, Program
from akmc_passes.verify import verify_program

PIPELINE: tuple[Pass, ...] = (
    resolve,
    environment,
    directories,
    composition,
    references,
    outputs,
    bindings,
    schema_subset,
    bounds,
    types,
    route_forward,
    engines,
    lower,
    seal,
)


class Timing(Struct, frozen=True):
    """How long a pass took on one file, in seconds."""

    name: str
    file: str
    seconds: float


def run_pipeline(
    program: Program,
    context: Context,
    *,
    stop_after: str | None = None,
    timings: list[Timing] | None = None,
    passes: tuple[Pass, ...] = PIPELINE,
) -> Program:
    """Run ``passes`` in order on one program, the last one being ``stop_after`` (a ``KeyError`` for another name).

    A pass that raises, or that breaks an invariant, leaves a PassCrash in ``context.crashes``; its program is dropped,
    passes that rely on it are left out, and all others still run, so that no finding is lost.
    """
    if stop_after is not None and stop_after not in pass_names(passes):
        raise KeyError(stop_after)
    file = program.document.source.name
    crashed: set[str] = set()
    for step in passes:
        if crashed.intersection(step.AFTER):
            crashed.add(step.NAME)
        else:
            started = time.perf_counter()
            try:
                result = step.run(program, context)
                verify_program(result, program)
                program = result
            except Exception as error:  # noqa: BLE001 (a bug of a pass must not hide what the others found)
                crashed.add(step.NAME)
                context.crashes.append(crash_of(step.NAME, file, error))
            if timings is not None:
                timings.append(Timing(step.NAME, file, time.perf_counter() - started))
        if stop_after == step.NAME:
            break
    return program


def crash_of(name: str, file: str, error: Exception) -> PassCrash:
    """A record of a pass that raised."""
    import traceback

    lines = traceback.format_exception(error)
    return PassCrash(name, file, f"{type(error).__name__}: {error}", "".join(lines))


def pass_names(passes: Iterable[Pass] = PIPELINE) -> list[str]:
    """The names of the passes, in order."""
    return [step.NAME for step in passes]


def describe_passes(passes: Iterable[Pass] = PIPELINE) -> list[tuple[str, str]]:
    """Name and first docstring line of each pass, in order."""
    return [(step.NAME, (cast(str, step.__doc__) or "").partition("\n")[0]) for step in passes]


def validate(passes: tuple[Pass, ...] = PIPELINE) -> list[str]:
    """What is wrong with a pipeline, one line each; empty when nothing is.

    Names are unique; each pass comes after those that it relies on; each rule that it reports exists; a rule whose
    owner is a pass of the pipeline is reported by that pass; nothing is named twice.
    """
    faults: list[str] = []
    names = pass_names(passes)
    reported = {step.NAME: step.EMITS for step in passes}
    for index, step in enumerate(passes):
        name = step.NAME
        if name in names[:index]:
            faults.append(f"{name}: two passes have this name")
        faults.extend(f"{name}: runs before {other}" for other in step.AFTER if other in names[index:])
        faults.extend(f"{name}: relies on {other}, which is no pass" for other in step.AFTER if other not in names)
        if len(set(step.EMITS)) != len(step.EMITS):
            faults.append(f"{name}: names a rule twice")
        for rule in step.EMITS:
            owner = RULES[rule].owner if rule in RULES else None
            if owner is None:
                faults.append(f"{name}: reports {rule}, which is no rule")
            elif owner != name and rule not in reported.get(owner, ()):
                faults.append(f"{name}: reports {rule}, which {owner} owns and does not report")
    return faults
