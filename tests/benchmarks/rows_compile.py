"""Compiling the largest workflow and many composed ones, and comparing two plans."""

from __future__ import annotations

import json
import math
import pathlib
import sys
from collections.abc import Sequence

from .harness import Figure, Row, Scale, at_most, below, processes, program, script, spend, within

CONFIG = {"engines": {"a": {"kind": "agent", "platform": "claude"}}, "defaults": {"engine": "a"}}
LARGEST = 1024 * 1024
STEPS = 256
NEEDED = "import click, msgspec, ruamel.yaml"
CHILDREN = 200
DEPTH = 8
DIFFED_STEPS = 1000


def workflow_of(steps: int, size: int) -> str:
    """A chain of ``steps`` steps with schemas, in exactly ``size`` bytes."""
    head = "---\nparams: {topic: {type: string}}\nsteps:\n  - {id: s0, inputs: [params.topic]}\n"
    head += "".join(
        f"  - id: s{step}\n    inputs: [steps.s{step - 1}.output]\n"
        "    output: {type: object, properties: {a: {type: string}}, required: [a]}\n"
        for step in range(1, steps)
    )
    headings = [f"## s{step}\n\n" for step in range(steps)]
    line = "Look at what the step before has found, and report.\n"
    room = (size - len(head) - len("---\n") - sum(map(len, headings))) // steps // len(line)
    text = head + "---\n" + "".join(heading + line * room for heading in headings)
    return text + "x" * (size - len(text))


def _prepared(scratch: pathlib.Path) -> pathlib.Path:
    (scratch / "engine.json").write_text(json.dumps(CONFIG))
    folder = scratch / "workflows"
    folder.mkdir(exist_ok=True)
    return folder


def _compile(file: str, plan: str) -> list[str]:
    return [*program("akmc"), "compile", "--config", "engine.json", f"workflows/{file}", "-o", plan]


def _largest(scratch: pathlib.Path, scale: Scale) -> Figure:
    (_prepared(scratch) / "large.md").write_text(workflow_of(STEPS, LARGEST))
    floor = [sys.executable, "-c", NEEDED]
    return processes(_compile("large.md", "plan.json"), floor, scratch, scale.rounds * 3, "wall")


def slope(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The exponent of ``cost = a * size ** exponent``, by least squares over the logarithms."""
    xs, ys = [math.log(size) for size in sizes], [math.log(cost) for cost in costs]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def _exponent(scratch: pathlib.Path, scale: Scale) -> Figure:
    """Least processor seconds of compiling n steps in n * 4 KiB, imports and start left out."""
    folder = _prepared(scratch)
    sizes = (16, 32, 64, 128, 256)
    for steps in sizes:
        (folder / f"w{steps}.md").write_text(workflow_of(steps, steps * LARGEST // STEPS))
    calls = [["compile", "--config", "engine.json", f"workflows/w{steps}.md", "-o", "p.json"] for steps in sizes]
    return Figure(slope(sizes, _in_process(scratch, scale, calls)), 1.0, "")


def _in_process(scratch: pathlib.Path, scale: Scale, calls: list[list[str]]) -> list[float]:
    """Least processor seconds of each call of ``akmc``, in one process that has imported everything."""
    (scratch / "calls.json").write_text(json.dumps({"rounds": scale.rounds, "calls": calls}))
    out = spend(script("akmc_calls.py", "calls.json"), scratch, keep=True).out
    found: list[float] = json.loads(out)
    return found


def composed(folder: pathlib.Path, name: str, workflows: int, depth: int) -> list[str]:
    """``workflows`` sources in ``depth`` layers, each above the last composing one or two of the next: shared children.

    Returns the names of the first layer.
    """
    layers = [[f"{name}-{layer}-{index}" for index in range(workflows // depth)] for layer in range(depth)]
    for layer, names in enumerate(layers):
        below_it = layers[layer + 1] if layer + 1 < depth else []
        for index, own in enumerate(names):
            children = [below_it[index], *([below_it[index - 1]] if index % 2 else [])] if below_it else []
            (folder / f"{own}.yml").write_text(_composing(children))
    return layers[0]


def _composing(children: list[str]) -> str:
    steps = [f"      - {{id: c{place}, uses: workflows/{child}}}\n" for place, child in enumerate(children)]
    steps.append("      - {id: own, run: echo x}\n")
    head = "name: composing\non: {workflow_dispatch: {}}\njobs:\n  main:\n    runs-on: [self-hosted]\n    steps:\n"
    return head + "".join(steps)


def _composition(scratch: pathlib.Path, scale: Scale) -> Figure:
    """The exponent over 64 to 200 sources of checking all of them with the freeze rules, eight deep.

    With fewer than 64 a layer has fewer than eight workflows, and each source has fewer others below it: then it is not
    the number of sources alone that grows.
    """
    folder = _prepared(scratch)
    sizes = (64, 96, 128, 160, 200)
    calls = []
    for count in sizes:
        names = composed(folder, f"n{count}", count, DEPTH)
        calls.append(["check", "--config", "engine.json", "--freeze", *(f"workflows/{name}.yml" for name in names)])
    return Figure(slope(sizes, _in_process(scratch, scale, calls)), 1.0, "")


def _parsed(scratch: pathlib.Path, scale: Scale) -> Figure:
    """How often a source is parsed: 1 when no child is parsed twice."""
    names = composed(_prepared(scratch), "n", CHILDREN, DEPTH)
    words = ["check", "--config", "engine.json", "--freeze", *(f"workflows/{name}.yml" for name in names)]
    out = spend(script("count_parses.py", *words), scratch, keep=True).out
    return Figure(float(out), float(CHILDREN), "")


def _diff(scratch: pathlib.Path, scale: Scale) -> Figure:
    """Two plans of 1 000 steps each, in four composed workflows of 249 and the one that composes them."""
    folder = _prepared(scratch)
    for version, word in (("old", "found"), ("new", "seen")):
        parts = [f"{version}{part}" for part in range(4)]
        for part in parts:
            text = workflow_of(DIFFED_STEPS // 4 - 1, LARGEST // 8).replace(
                "topic: {type: string}", "topic: {type: string, default: x}"
            )
            (folder / f"{part}.md").write_text(text.replace("found", word))
        (folder / f"{version}.yml").write_text(_composing(parts))
        spend(_compile(f"{version}.yml", f"{version}.json"), scratch)
    words = [*program("akmc"), "diff", "old.json", "new.json"]
    spent = [spend(words, scratch, fine=(0, 1)).wall for _ in range(scale.rounds * 2)]
    floor = [spend([sys.executable, "-c", "import click, msgspec"], scratch).wall for _ in range(scale.rounds * 2)]
    return Figure(min(spent), min(floor))


ROWS = (
    Row("akmc compile, 256 steps in 1 MiB / import click, msgspec, ruamel.yaml", within(0.5), _largest),
    Row("akmc compile, exponent from 16 to 256 steps", below(1.1, ""), _exponent),
    Row("akmc check --freeze, exponent from 64 to 200 composed workflows, 8 deep", below(1.1, ""), _composition),
    Row("akmc check --freeze, 200 composed workflows, parses / sources", at_most(1.0), _parsed),
    Row("akmc diff, two plans of 1 000 steps / import click, msgspec", within(0.5), _diff),
)
