"""The pipeline holds its own rules, and one broken pass hides nothing of the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import msgspec
import pytest
from msgspec.structs import replace

from akmc_grammar.rules import RULES
from akmc_passes import references, seal
from akmc_passes.contract import Context, Pass, Program
from akmc_passes.pipeline import PIPELINE, Timing, describe_passes, pass_names, run_pipeline, validate
from akmc_passes.verify import InvariantError, verify_program

TEXT = (
    "---\nsteps:\n  - {id: build, inputs: [steps.gone.output], unit: {exec: {command: [make]}}}\n---\n## build\nGo.\n"
)
GOOD = "---\nsteps:\n  - {id: build, unit: {exec: {command: [make]}}}\n---\n## build\nGo.\n"


@dataclass
class Fake:
    """A pass that is not a module."""

    NAME: str
    AFTER: tuple[str, ...] = ()
    EMITS: tuple[str, ...] = ()
    does: Callable[[Program, Context], Program] = lambda program, _: program

    def run(self, program: Program, context: Context) -> Program:
        """See ``contract.Pass``."""
        return self.does(program, context)


def breaking(program: Program, context: Context) -> Program:
    """A bug."""
    raise ZeroDivisionError(f"a bug in {program.document.source.name}, {len(context.read_set)} file read")


def forging(program: Program, _: Context) -> Program:
    """Break an invariant: bind an env file where there is no ref."""
    return replace(program, env_files={("steps", 0, "nowhere"): cast(Any, None)})


def test_the_pipeline_is_valid() -> None:
    assert validate() == []
    assert pass_names() == [step.NAME for step in PIPELINE]
    assert pass_names()[-2:] == ["lower", "seal"]


def test_every_rule_of_a_pass_is_reported_by_it() -> None:
    names = set(pass_names())
    not_by_a_pass = {"unrecognised-extension", "unreadable-source"}  # said about paths before there is a program
    for rule in RULES.values():
        if rule.owner in names and rule.name not in not_by_a_pass:
            owner = next(step for step in PIPELINE if rule.owner == step.NAME)
            assert rule.name in owner.EMITS, rule.name


@pytest.mark.parametrize(
    ("passes", "fault"),
    [
        ((Fake("a"), Fake("a")), "a: two passes have this name"),
        ((Fake("a", AFTER=("b",)), Fake("b")), "a: runs before b"),
        ((Fake("a", AFTER=("a",)),), "a: runs before a"),
        ((Fake("a", AFTER=("c",)),), "a: relies on c, which is no pass"),
        ((Fake("a", EMITS=("no-such-rule",)),), "a: reports no-such-rule, which is no rule"),
        ((Fake("a", EMITS=("no-engine",)),), "a: reports no-engine, which engines owns and does not report"),
        ((Fake("engines", EMITS=("no-engine", "no-engine")),), "engines: names a rule twice"),
    ],
)
def test_a_broken_pipeline_is_found(passes: tuple[Pass, ...], fault: str) -> None:
    assert validate(passes) == [fault]


def test_a_pass_says_in_its_first_line_what_it_is_about() -> None:
    for name, line in describe_passes():
        assert line.endswith("."), name


def test_a_crash_is_recorded_and_hides_no_finding(check: Callable[..., Any]) -> None:
    checked = check(TEXT, stop_after="resolve")
    passes = (Fake("environment", does=breaking), Fake("after", AFTER=("environment",)), references)
    timings: list[Timing] = []
    run_pipeline(checked.program, checked.context, passes=cast("tuple[Pass, ...]", passes), timings=timings)
    assert [item.rule.name for item in checked.context.sink.found] == ["unknown-step-reference"]
    (crash,) = checked.context.crashes
    assert (crash.name, crash.summary) == ("environment", "ZeroDivisionError: a bug in workflows/a.md, 1 file read")
    assert "Traceback" in crash.traceback and crash.file == "workflows/a.md"
    assert [timing.name for timing in timings] == ["environment", "references"]


def test_a_broken_invariant_is_a_crash_of_the_pass(check: Callable[..., Any]) -> None:
    checked = check(GOOD, stop_after="resolve")
    result = run_pipeline(checked.program, checked.context, passes=(Fake("engines", does=forging),))
    assert result is checked.program
    assert checked.context.crashes[0].summary.startswith("InvariantError: env files bound")


def test_stop_after(check: Callable[..., Any]) -> None:
    checked = check(GOOD, stop_after="references")
    assert checked.program.plan is None
    with pytest.raises(KeyError, match="nonsense"):
        run_pipeline(checked.program, checked.context, stop_after="nonsense")


def test_invariants_of_plans(check: Callable[..., Any]) -> None:
    program = check(GOOD, freeze=True).program
    plan = program.plan
    verify_program(replace(program), program)
    with pytest.raises(InvariantError, match="sealed in part"):
        verify_program(replace(program, plan=_with(plan, plan_hash="")), program)
    with pytest.raises(InvariantError, match="open and sealed"):
        verify_program(replace(program, open=True), program)
    with pytest.raises(InvariantError, match="not the source's"):
        verify_program(replace(program, plan=_with(plan, steps=[])), program)
    with pytest.raises(InvariantError, match="no step"):
        verify_program(replace(program, choices={("steps", 9): cast(Any, None)}), program)
    with pytest.raises(InvariantError, match="replaced the document"):
        verify_program(replace(program, document=replace(program.document, ref="other")), program)


def _with(plan: Any, **changes: Any) -> Any:
    return msgspec.structs.replace(plan, **changes)


def test_an_unreadable_document_runs_through(check: Callable[..., Any]) -> None:
    checked = check("no frontmatter\n", freeze=True)
    assert checked.rules == [("missing-frontmatter", 1)]
    assert checked.program.plan is None
    assert seal.run(checked.program, checked.context) is checked.program
