"""Typed programs: steps with known values and known failures, written as Markdown workflows of exec units.

The descriptions are our own and not the product's, so that the reference model reads what the author meant.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st

ANY: Final = '{type: [array, boolean, integer, "null", number, object, string]}'
"""A schema that every JSON value fits, so that no reference is refused for its type before it runs."""


@dataclass(frozen=True)
class Say:
    """A unit step that prints ``value`` as JSON, or exits with 3."""

    id: str
    value: Any
    fails: bool = False
    on_error: str = "fail"
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Each:
    """A map step whose units print their item; those of the items in ``fails`` exit with 3."""

    id: str
    over: str
    fails: tuple[Any, ...] = ()
    on_error: str = "fail"
    reducer: str = "collect"
    inputs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Turn:
    """A route step; ``when`` pairs texts with step ids."""

    id: str
    input: str
    when: tuple[tuple[str, str], ...]
    default: str | None

    @property
    def targets(self) -> set[str]:
        """Every step that it can select."""
        return {target for _, target in self.when} | ({self.default} if self.default else set())


Step: TypeAlias = Say | Each | Turn


@dataclass(frozen=True)
class Program:
    """``outputs`` goes from names to references."""

    steps: tuple[Step, ...]
    outputs: dict[str, str]

    def markdown(self) -> str:
        """The workflow's source."""
        lines = ["---", "steps:", *(line for step in self.steps for line in _step(step))]
        if self.outputs:
            lines += ["outputs:", *(f"  {name}: {{from: {read}}}" for name, read in self.outputs.items())]
        body = [f"## {step.id}\nDo it.\n" for step in self.steps if not isinstance(step, Turn)]
        return "\n".join([*lines, "---", *body])


def _step(step: Step) -> list[str]:
    lines = [f"  - id: {step.id}"]
    if isinstance(step, Turn):
        when = ", ".join(f"{{match: {json.dumps(text)}, step: {target}}}" for text, target in step.when)
        default = f", default: {step.default}" if step.default else ""
        return [*lines, f"    route: {{input: {json.dumps(step.input)}, when: [{when}]{default}}}"]
    if step.inputs:
        lines.append(f"    inputs: {json.dumps(step.inputs)}")
    if isinstance(step, Say):
        script = "exit 3" if step.fails else f"printf %s {_quoted(step.value)}"
        head, margin = ["    unit:"], "      "
    else:
        failing = "".join(f'[ "$AKM_ITEM" = {_quoted(item)} ] && exit 3; ' for item in step.fails)
        script = f'{failing}printf %s "$AKM_ITEM"'
        head, margin = (
            ["    map:", f"      over: {json.dumps(step.over)}", f"      reducer: {step.reducer}", "      unit:"],
            " " * 8,
        )
    command = json.dumps(["sh", "-c", script], ensure_ascii=False)
    unit = [f"exec: {{command: {command}}}", f"output: {ANY}", f"on_error: {step.on_error}"]
    return [*lines, *head, *(margin + line for line in unit)]


def _quoted(value: Any) -> str:
    """A JSON value as canonical text in one shell word."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "'" + text.replace("'", "'\\''") + "'"


TEXTS: Final = st.sampled_from(["", "a", "b", "it's", "ä", "1", "true", '"', "two words", "\u2028", "\U0001f9ea"])
SCALARS: Final = st.none() | st.booleans() | st.integers(-3, 3) | TEXTS
VALUES: Final[st.SearchStrategy[Any]] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["k", "l", "m-n"]), inner, max_size=3),
    max_leaves=8,
)
ITEMS: Final[st.SearchStrategy[Any]] = st.integers(0, 2) | TEXTS | st.booleans()
ITEM_LISTS: Final = st.lists(ITEMS, max_size=5)


@st.composite
def programs(draw: st.DrawFn, most: int = 6) -> Program:
    """A program that checks without errors; what it comes to is for the reference model to say."""
    count = draw(st.integers(1, most))
    names = [f"s{index}" for index in range(count)]
    steps: list[Step] = []
    for index, name in enumerate(names):
        values = [step.id for step in steps if isinstance(step, Say | Each)]
        free = [
            step.id for step in steps if isinstance(step, Say) or (isinstance(step, Each) and step.reducer == "vote")
        ]
        kinds = ["say", *(["each"] if values else []), *(["turn"] if free and index + 1 < count else [])]
        kind = draw(st.sampled_from(kinds))
        on_error = draw(st.sampled_from(["fail", "continue"]))
        inputs = tuple(draw(st.lists(_reads(free), max_size=2, unique=True))) if free else ()
        if kind == "say":
            fails = draw(st.integers(0, 9)) == 0
            steps.append(Say(name, draw(VALUES | ITEM_LISTS), fails, on_error, inputs))
        elif kind == "each":
            whole = f"steps.{draw(st.sampled_from(values))}.output"
            over = draw(_reads(free)) if draw(st.booleans()) and free else whole
            fails_on: tuple[Any, ...] = tuple(draw(st.lists(ITEMS, max_size=1)))
            steps.append(Each(name, over, fails_on, on_error, draw(st.sampled_from(["collect", "vote"])), inputs))
        else:
            later = st.sampled_from(names[index + 1 :])
            texts = draw(
                st.lists(st.sampled_from(["a", "b", "1", "true", "", "0"]), min_size=1, max_size=3, unique=True)
            )
            when = tuple((text, draw(later)) for text in texts)
            steps.append(Turn(name, draw(_reads(free)), when, draw(st.none() | later)))
    readable = [step.id for step in steps if not isinstance(step, Turn)]
    chosen = draw(st.lists(st.sampled_from(readable), max_size=2, unique=True)) if readable else []
    return Program(tuple(steps), {f"o{index}": f"steps.{name}.output" for index, name in enumerate(chosen)})


def _reads(names: list[str]) -> st.SearchStrategy[str]:
    """References into steps whose artifacts may be anything."""
    paths = st.sampled_from(["", "", "", ".k", "[0]", ".k.l", "[1].k"])
    return st.builds(lambda name, path: f"steps.{name}.output{path}", st.sampled_from(names), paths)
