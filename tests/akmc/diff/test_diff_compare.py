"""Changes of two plans: class, path and words (spec 2, section 4)."""

from __future__ import annotations

from typing import Any

import pytest

from akm_schemas.plan import Plan
from akmc.diff.compare import compare_plans
from akmc.diff.model import PlanDiff

ENUM = {"type": "string", "enum": ["fast", "slow"]}


def _only(diff: PlanDiff) -> tuple[str, str, str]:
    (change,) = diff.changes
    return change.class_, change.path, change.message


def test_equal_plans(plans: Any) -> None:
    plan = plans.plan(plans.step("build"))
    diff = compare_plans(plan, plan)
    assert (diff.equal, diff.changes) == (True, [])


def test_provenance_alone_is_one_change(plans: Any) -> None:
    old = plans.plan(plans.step("build"))
    new = plans.plan(plans.step("build", unit={"instructions": "Other words."}))
    class_, path, message = _only(compare_plans(old, new))
    assert (class_, path) == ("provenance", "provenance")
    assert 'step "build"' in message


def test_provenance_beside_other_changes_is_not_listed(plans: Any, changes: Any) -> None:
    old = plans.plan(plans.step("build", plans.exec("make")))
    new = plans.plan(plans.step("build", plans.exec("make", "all"), unit={"instructions": "Other words."}))
    assert changes(old, new) == [("security", "steps.build.unit.target.command")]


def test_prose_is_behaviour_with_its_words_marked(plans: Any) -> None:
    old = plans.plan(plans.step("gather", plans.prompt(), unit={"instructions": "Head.\n\nCollect the blue files."}))
    new = plans.plan(plans.step("gather", plans.prompt(), unit={"instructions": "Head.\n\nCollect the green files."}))
    (change,) = compare_plans(old, new).changes
    assert (change.class_, change.path) == ("behaviour", "steps.gather.unit.instructions")
    assert isinstance(change.prose, list)
    marked = {line.op: [line.text[start:end] for start, end in line.marks] for line in change.prose if line.marks}
    assert marked == {"-": ["blue"], "+": ["green"]}


@pytest.mark.parametrize(
    ("before", "after", "path", "says"),
    [
        ({"command": ["make"]}, {"command": ["make", "all"]}, "target.command", "runs `make all`, ran `make`"),
        ({"cwd": "src"}, {"cwd": "tools"}, "target.cwd", 'runs in "tools", ran in "src"'),
        ({"cwd": "src"}, {}, "target.cwd", "the workspace root"),
        ({"passEnv": ["CI"]}, {"passEnv": ["CI", "X"]}, "target.passEnv", 'can also see "X"'),
        ({"passEnv": ["CI", "X"]}, {"passEnv": ["CI"]}, "target.passEnv", 'no longer sees "X"'),
    ],
)
def test_what_an_exec_step_can_do_is_security(
    plans: Any, before: dict[str, Any], after: dict[str, Any], path: str, says: str
) -> None:
    old, new = (plans.plan(plans.step("build", {**plans.exec("make"), **keys})) for keys in (before, after))
    class_, where, message = _only(compare_plans(old, new))
    assert (class_, where) == ("security", f"steps.build.unit.{path}")
    assert says in message


def test_script_bytes_are_security_and_their_lines_are_shown(plans: Any) -> None:
    old, new = (plans.plan(plans.step("s", plans.script(text))) for text in ("ls\n", "ls -a\n"))
    (change,) = compare_plans(old, new).changes
    assert (change.class_, change.path) == ("security", "steps.s.unit.target.bytes")
    assert isinstance(change.prose, list)
    assert [line.text for line in change.prose if line.op in "-+"] == ["ls", "ls -a"]


ENV = {"kind": "env-ref", "ref": "env/x", "path": "env/x.env", "keys": ["A"], "secretNames": []}


@pytest.mark.parametrize(
    ("before", "after", "class_", "says"),
    [
        ([], [ENV], "security", 'can also see env ref "env/x"'),
        ([ENV], [], "security", 'no longer sees env ref "env/x"'),
        ([ENV], [{**ENV, "secretNames": ["s"]}], "security", 'more secrets: "s"'),
        ([], [{"kind": "pass-through", "name": "P"}], "security", 'also hands on and scrubs "P"'),
        (
            [{"kind": "pass-through", "name": "P"}],
            [],
            "security",
            'no longer hands on and scrubs "P": its value is kept',
        ),
        ([], [{"kind": "literal", "name": "L", "value": "1"}], "security", 'variable "L" is "1", was not set'),
        ([{"kind": "literal", "name": "L", "value": "1"}], [], "security", 'variable "L" is no longer set, was "1"'),
        (
            [{"kind": "literal", "name": "PATH", "value": "/bin"}],
            [{"kind": "literal", "name": "PATH", "value": "./bin"}],
            "security",
            'variable "PATH" is "./bin", was "/bin"',
        ),
    ],
)
def test_environment_bindings(plans: Any, before: list[Any], after: list[Any], class_: str, says: str) -> None:
    old, new = (plans.plan(plans.step("s", plans.exec("make"), unit={"env": env})) for env in (before, after))
    found = _only(compare_plans(old, new))
    assert found[0] == class_
    assert says in found[2]


@pytest.mark.parametrize(
    ("keys", "class_", "path"),
    [
        ({"endpoint": "https://elsewhere.example/chat/completions"}, "security", "endpoint"),
        ({"apiKey": "OTHER_KEY"}, "security", "apiKey"),
        ({"name": "renamed"}, "behaviour", "name"),
    ],
)
def test_engine_parts(plans: Any, keys: dict[str, Any], class_: str, path: str) -> None:
    target = plans.prompt()
    old = plans.plan(plans.step("ask", target))
    new = plans.plan(plans.step("ask", {**target, "engine": {**target["engine"], **keys}}))
    assert _only(compare_plans(old, new))[:2] == (class_, f"steps.ask.unit.target.engine.{path}")


@pytest.mark.parametrize(
    ("keys", "class_"),
    [
        ({"isolation": "worktree"}, "security"),
        ({"timeoutMs": None}, "behaviour"),
        ({"retry": {"max": 2, "on": []}}, "behaviour"),
        ({"onError": "continue"}, "behaviour"),
        ({"output": {"type": "string"}}, "behaviour"),
    ],
)
def test_policies_of_a_unit(plans: Any, changes: Any, keys: dict[str, Any], class_: str) -> None:
    old, new = (plans.plan(plans.step("s", plans.exec("make"), unit=unit)) for unit in ({}, keys))
    assert [found[0] for found in changes(old, new)] == [class_]


@pytest.mark.parametrize(
    ("before", "after", "class_", "says"),
    [
        (ENUM, None, "breaking", "param is gone"),
        (ENUM, {**ENUM, "enum": ["fast"]}, "breaking", '"slow" was accepted and is refused now'),
        (ENUM, {**ENUM, "enum": ["fast", "slow", "slower"]}, "behaviour", "accepts more"),
        ({**ENUM, "default": "fast"}, ENUM, "breaking", "lost its default"),
        ({**ENUM, "default": "fast"}, {**ENUM, "default": "slow"}, "behaviour", 'default is "slow", was "fast"'),
        (ENUM, {**ENUM, "description": "How"}, "behaviour", "annotations"),
        (None, ENUM, "behaviour", "may leave out"),
        ({"type": "string"}, {"type": "string", "not": {"minLength": 5000}}, "breaking", "compatibility not proved"),
    ],
)
def test_params(plans: Any, before: Any, after: Any, class_: str, says: str) -> None:
    old, new = (
        plans.plan(plans.step("s"), params={} if schema is None else {"mode": schema}) for schema in (before, after)
    )
    found = _only(compare_plans(old, new))
    assert found[:2] == (class_, "params.mode")
    assert says in found[2]


def test_a_param_that_a_reference_needs_is_breaking(plans: Any, changes: Any) -> None:
    old = plans.plan(plans.step("s"))
    new = plans.plan(plans.step("s", inputs=[plans.ref("params.mode")]), params={"mode": ENUM})
    assert ("breaking", "params.mode") in changes(old, new)
    unread = plans.plan(plans.step("s"), params={"mode": ENUM})
    assert ("breaking", "params.mode") in changes(unread, new)


def _export(plans: Any, schema: Any = None, unit: Any = None) -> Plan:
    output = {"from": plans.ref("steps.s.output"), **({} if schema is None else {"schema": schema})}
    plan: Plan = plans.plan(plans.step("s", unit=unit or {}), outputs={"report": output})
    return plan


def test_an_export_that_may_yield_more_is_breaking(plans: Any, changes: Any) -> None:
    old, new = _export(plans, {"enum": [1]}), _export(plans, {"enum": [1, 2]})
    assert changes(old, new) == [("breaking", "outputs.report")]
    assert changes(new, old) == [("behaviour", "outputs.report")]


def test_an_export_without_schema_is_followed_to_its_step(plans: Any, changes: Any) -> None:
    old = _export(plans, unit={"output": {"enum": [1]}})
    new = _export(plans, unit={"output": {"enum": [1, 2]}})
    assert changes(old, new) == [("breaking", "outputs.report"), ("behaviour", "steps.s.unit.output")]


def test_an_export_through_a_combinator_is_not_proved(plans: Any) -> None:
    def plan(schema: Any) -> Plan:
        output = {"from": {**plans.ref("steps.s.output.a"), "path": ["a"]}}
        sealed: Plan = plans.plan(plans.step("s", output=schema), outputs={"report": output})
        return sealed

    old, new = ({"anyOf": [{"type": "object", "required": names}]} for names in (["a"], ["b"]))
    found = [change for change in compare_plans(plan(old), plan(new)).changes if change.class_ == "breaking"]
    assert [change.message for change in found] == ["compatibility not proved: its schema cannot be followed"]


def test_exports_that_are_gone_or_new(plans: Any, changes: Any) -> None:
    bare = plans.plan(plans.step("s"))
    assert changes(_export(plans), bare) == [
        ("breaking", "outputs.report"),
        ("behaviour", "outputs.runId"),
        ("behaviour", "outputs.status"),
    ]
    assert ("breaking", "outputs.runId") in changes(bare, _export(plans))


def test_added_steps_are_security_when_they_widen(plans: Any, changes: Any) -> None:
    ask = plans.step("ask", plans.prompt())
    old = plans.plan(ask)
    assert changes(old, plans.plan(ask, plans.step("more", plans.prompt(), unit={"instructions": "Sum it up."}))) == [
        ("behaviour", "steps.more")
    ]
    assert changes(old, plans.plan(ask, plans.step("run", plans.exec("make")))) == [("security", "steps.run")]
    remote = {
        **plans.prompt(),
        "engine": {"kind": "llm", "name": "r", "endpoint": "https://r.example/chat/completions"},
    }
    assert changes(old, plans.plan(ask, plans.step("far", remote))) == [("security", "steps.far")]
    assert changes(plans.plan(ask, plans.step("run")), old) == [("behaviour", "steps.run")]


def test_renames_and_moves(plans: Any) -> None:
    a, b = plans.step("a", plans.exec("one")), plans.step("b", plans.exec("two"))
    c = plans.step("c", plans.exec("three"), inputs=[plans.ref("steps.a.output")])
    renamed = [plans.step("first", plans.exec("one")), b, {**c, "inputs": [plans.ref("steps.first.output")]}]
    assert _only(compare_plans(plans.plan(a, b, c), plans.plan(*renamed))) == (
        "behaviour",
        "steps.first",
        'was called "a"',
    )
    assert _only(compare_plans(plans.plan(a, b, c), plans.plan(b, c, a)))[2] == 'moved after step "c"'


def test_a_changed_kind_of_target_is_security(plans: Any, changes: Any) -> None:
    old, new = (plans.plan(plans.step("s", target)) for target in (plans.prompt(), plans.exec("make")))
    assert changes(old, new) == [("security", "steps.s.unit.target")]


def test_routes_maps_and_gates(plans: Any) -> None:
    def plan(step: str, concurrency: int, rubric: str) -> Plan:
        gate = {"rubric": rubric, "maxLoops": 1, "judge": plans.prompt()}
        fan = {"over": plans.ref("steps.a.output"), "concurrency": concurrency, "reducer": "collect"}
        route = {"input": plans.ref("steps.a.output"), "when": [{"match": 1, "step": step}]}
        steps = [plans.step("a", gate=gate), plans.step("r", route=route), plans.step("b", map=fan), plans.step("c")]
        sealed: Plan = plans.plan(*steps)
        return sealed

    diff = compare_plans(plan("b", 4, "Is done."), plan("c", 2, "Is well done."))
    assert [(change.path, change.message) for change in diff.changes] == [
        ("steps.a.gate.rubric", "rubric changed (1 line out, 1 in)"),
        ("steps.r.route.when", 'match 1 goes to step "c", went to step "b"'),
        ("steps.b.map.concurrency", "concurrency is 2, was 4"),
    ]


def test_children_are_compared_whole(plans: Any, changes: Any) -> None:
    def plan(command: str) -> Plan:
        kid = plans.plan(plans.step("inner", plans.exec(command)))
        sealed: Plan = plans.plan(plans.step("kid", plans.child(kid)))
        return sealed

    path = "steps.kid.unit.target.frozenPlan.steps.inner.unit.target.command"
    assert changes(plan("one"), plan("two")) == [("security", path)]


def test_places_point_into_the_source(plans: Any) -> None:
    old, new = (plans.plan(plans.step("a"), plans.step("b", plans.exec(word))) for word in ("one", "two"))
    (change,) = compare_plans(old, new).changes
    place = change.place
    assert place
    assert (place.side, place.file, place.line, place.column) == ("new", "workflows/a.md", 4, 5)


def test_reuse_follows_the_input_hash(plans: Any) -> None:
    def plan(word: str) -> Plan:
        steps = [
            plans.step("a", plans.exec(word)),
            plans.step("b", plans.exec("two"), inputs=[plans.ref("steps.a.output")]),
            plans.step("c", plans.exec("three")),
        ]
        sealed: Plan = plans.plan(*steps)
        return sealed

    steps = compare_plans(plan("one"), plan("1")).steps
    assert [(step.id, step.reuse, step.why) for step in steps] == [
        ("a", "again", "command changed"),
        ("b", "depends", 'taken over if step "a" yields the same again'),
        ("c", "reused", "nothing that it depends on changed"),
    ]


def test_a_new_default_forces_every_unit(plans: Any) -> None:
    old = plans.plan(plans.step("a"))
    new = plans.plan(plans.step("a"), params={"mode": {"enum": ["x"], "default": "x"}})
    (step,) = compare_plans(old, new).steps
    assert step.reuse == "again"
    assert '"mode"' in step.why


def test_a_renamed_step_is_found_again_although_its_prose_changed(plans: Any) -> None:
    text = "Collect all the blue files of the folder and list them by size."
    old = plans.plan(plans.step("gather", plans.prompt(), unit={"instructions": text}), plans.step("z"))
    new = plans.plan(
        plans.step("collect", plans.prompt(), unit={"instructions": text.replace("blue", "green")}), plans.step("z")
    )
    assert [change.path for change in compare_plans(old, new).changes] == [
        "steps.collect",
        "steps.collect.unit.instructions",
    ]
    other = plans.plan(plans.step("tell", plans.prompt(), unit={"instructions": "Write a poem."}), plans.step("z"))
    assert [change.path for change in compare_plans(old, other).changes] == ["steps.gather", "steps.tell"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}),
        ({"type": "boolean"}, {"enum": [True, False]}),
        ({"enum": [False, True]}, {"type": "boolean"}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"type": ["null", "string"]}),
        ({"type": ["integer", "string"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}),
        ({"type": "null"}, {"enum": [None]}),
    ],
)
def test_a_param_of_equal_meaning_accepts_the_same(plans: Any, before: Any, after: Any) -> None:
    step = plans.step("a")
    diff = compare_plans(plans.plan(step, params={"p": before}), plans.plan(step, params={"p": after}))
    assert [(change.class_, change.message) for change in diff.changes] == [
        ("behaviour", "accepts the same, written differently")
    ]


def test_an_export_of_equal_meaning_yields_the_same(plans: Any) -> None:
    before, after = {"type": "boolean"}, {"enum": [True, False]}
    diff = compare_plans(_export(plans, schema=before), _export(plans, schema=after))
    assert [(change.class_, change.message) for change in diff.changes if change.path.startswith("outputs.")] == [
        ("behaviour", "yields the same, written differently")
    ]
