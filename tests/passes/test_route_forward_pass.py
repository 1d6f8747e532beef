"""Routes: targets, matches, what can be skipped and what cannot be reached."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from akmc_grammar.ir import Branch, Route, SourceIR, Step
from akmc_passes.spine import Spine


def _unit(name: str) -> Step:
    return Step(id=name, kind="unit")


def _route(name: str, *targets: str, default: str | None = None, reads: str = "steps.a.output") -> Step:
    when = [Branch(match=target, step=target) for target in targets]
    route = Route(input=reads, when=when, default=default) if default is not None else Route(input=reads, when=when)
    return Step(id=name, kind="route", route=route)


def _spine(*steps: Step) -> Spine:
    return Spine(SourceIR(source_format="markdown", steps=list(steps)))


def test_what_always_runs() -> None:
    spine = _spine(_unit("a"), _route("r", "x", "y"), _unit("x"), _unit("y"), _unit("z"))
    assert spine.always == {0, 1, 4}
    assert spine.surely_run[2] == {0, 1}


def test_a_route_with_one_way_out_skips_nothing() -> None:
    assert _spine(_unit("a"), _route("r", "x"), _unit("x")).always == {0, 1, 2}
    assert _spine(_unit("a"), _route("r", "x", default="x"), _unit("x")).always == {0, 1, 2}
    assert _spine(_unit("a"), _route("r", "x", default="y"), _unit("x"), _unit("y")).always == {0, 1}


def test_skips_cascade_through_routers() -> None:
    spine = _spine(
        _unit("a"), _route("r", "s", "y"), _route("s", "x", "y"), _unit("x"), _unit("y"), _route("t", "x2"), _unit("x2")
    )
    assert spine.always == {0, 1, 5, 6}
    assert spine.surely_run[3] == {0, 1, 2}  # x runs only when both routers ran
    assert 2 not in spine.surely_run[4]  # y also without s


def test_what_a_router_read_was_there() -> None:
    spine = _spine(
        _unit("a"),
        _route("r", "x", "y"),
        _unit("x"),
        _unit("y"),
        _route("s", "z", "w", reads="steps.x.output"),
        _unit("z"),
        _unit("w"),
    )
    assert 2 in spine.surely_run[5]
    assert 3 not in spine.surely_run[5]


def test_targets_that_lead_nowhere_are_ignored() -> None:
    spine = _spine(_unit("a"), _route("r", "a", "r", "nowhere", "b"), _unit("b"))
    assert spine.targets_of == {1: frozenset({2})}
    assert spine.unreachable(spine.named_targets) == []


ROUTES = """---
params: {mode: {enum: [on, off]}}
steps:
  - id: pick
  - id: fork
    route:
      input: steps.pick.output
      when:
        - {match: 1, step: pick}
        - {match: "1", step: fork}
        - {match: true, step: shp}
        - {match: 1.0, step: ship}
        - {match: "true", step: ship}
      default: fork
  - id: ship
  - id: sure
    route:
      input: params.mode
      when: [{match: on, step: left}, {match: of, step: lost}]
      default: right
  - id: left
  - id: lost
  - id: right
---
## pick
A.
## ship
A.
## left
A.
## lost
A.
## right
A.
"""


def test_every_fault_of_a_route(check: Callable[..., Any]) -> None:
    checked = check(ROUTES)
    assert checked.rules == [
        ("route-backward", 9),
        ("duplicate-route-match", 10),
        ("route-self", 10),
        ("route-unknown-target", 11),
        ("duplicate-route-match", 12),
        ("duplicate-route-match", 13),
        ("route-self", 14),
        ("unreachable-branch", 19),
        ("unreachable-step", 22),
    ]
    assert 'did you mean "ship"?' in checked.printed


def test_a_default_that_no_value_reaches(check: Callable[..., Any]) -> None:
    text = """---
params: {mode: {enum: [on, off]}}
steps:
  - id: fork
    route: {input: params.mode, when: [{match: on, step: a}, {match: off, step: a}], default: b}
  - id: a
  - id: b
---
## a
A.
## b
B.
"""
    assert check(text).rules == [("unreachable-step", 7)]
