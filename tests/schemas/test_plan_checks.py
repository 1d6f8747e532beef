"""Bounds and cross-references of plans whose hashes match."""

from __future__ import annotations

from typing import Any

import pytest

from akm_schemas.decode import PlanError, decode_plan
from akm_schemas.plan_references import reference_text
from akm_schemas.plan_sizes import embedded_plans, own_size
from akm_schemas.references import Reference


def refused(kit: Any, plan: Any) -> PlanError:
    with pytest.raises(PlanError) as caught:
        decode_plan(kit.file_of(kit.sealed(plan)))
    return caught.value


def change(plan: Any, path: tuple[Any, ...], value: Any) -> Any:
    place = plan
    for part in path[:-1]:
        place = place[part]
    if value is REMOVED:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return plan


REMOVED = object()
ASK, FAN, PICK, LIST, KID = (("steps", index) for index in range(5))
STEP_REF = {"text": "steps.ask.output", "root": "steps", "name": "ask", "path": []}


def param_ref(name: str) -> dict[str, Any]:
    return {"text": f"params.{name}", "root": "params", "name": name, "path": []}


@pytest.mark.parametrize(
    ("path", "value", "where", "reason"),
    [
        # the plan
        (("params", "a-b"), {}, "params.a-b", '"a-b" is no name of a param'),
        (("params", "n" * 129), {}, 'params["' + "n" * 57 + '..."]', "is no name of a param"),
        (("params", "limit", "pattern"), "x", "params.limit.pattern", "`pattern` is not enforced"),
        (("params", "limit", "default"), "x", "params.limit.default", "does not satisfy its own schema"),
        (("params",), {f"p{n}": {} for n in range(129)}, "params", "found 129, expected 0 to 128"),
        (("budget", "maxUnits"), 0, "budget.maxUnits", "0 is out of range, expected 1 to 10000"),
        (("budget", "maxUnits"), 10_001, "budget.maxUnits", "out of range"),
        (("budget", "maxTokens"), 0, "budget.maxTokens", "out of range"),
        (("execution", "maxConcurrency"), 65, "execution.maxConcurrency", "65 is out of range, expected 1 to 64"),
        (("steps",), [], "steps", "expected 1 to 256 steps"),
        # steps
        ((*ASK, "id"), "1a", "steps[0].id", '"1a" is no id of a step'),
        ((*ASK, "id"), "a\n", "steps[0].id", "is no id of a step"),
        ((*ASK, "id"), "fan", "steps[1].id", '"fan" is the id of step 0 already'),
        ((*ASK, "index"), 1, "steps[0].index", "says 1, the step stands at 0"),
        ((*ASK, "kind"), "map", "steps[0].map", "a map step needs a map"),
        ((*ASK, "kind"), "route", "steps[0].unit", "a route step has no unit"),
        ((*ASK, "unit"), REMOVED, "steps[0].unit", "a unit step needs a unit"),
        ((*FAN, "kind"), "unit", "steps[1].map", "a unit step has no map"),
        ((*FAN, "map", "concurrency"), 0, "steps[1].map.concurrency", "out of range"),
        ((*FAN, "inputs"), [STEP_REF] * 65, "steps[1].inputs", "at most 64 references"),
        ((*FAN, "output"), {"type": "strig"}, "steps[1].output.type", "no JSON Schema type"),
        # references
        ((*FAN, "inputs", 0), param_ref("nope"), "steps[1].inputs[0]", 'no param "nope"; declared params: limit'),
        ((*FAN, "inputs", 0, "path"), ["a"], "steps[1].inputs[0]", "is no reference"),
        ((*FAN, "map", "over", "text"), "steps.ask.output", "steps[1].map.over.text", "differ"),
        ((*FAN, "map", "over", "name"), "fan", "steps[1].map.over.text", "differ"),
        ((*FAN, "map", "over", "path"), ["a b"], "steps[1].map.over", "is no reference"),
        ((*ASK, "inputs"), [STEP_REF], "steps[0].inputs[0]", 'step "ask" does not come before this one'),
        ((*PICK, "route", "input", "path"), [-1], "steps[2].route.input", "is no reference"),
        ((*PICK, "route", "input", "path"), [10**10], "steps[2].route.input", "is no reference"),
        (
            (*LIST, "inputs"),
            [{"text": "steps.pick.output", "root": "steps", "name": "pick", "path": []}],
            "steps[3].inputs[0]",
            "is a route, which promotes no artifact",
        ),
        (
            (*LIST, "inputs"),
            [{"text": "steps.x.output", "root": "steps", "name": "x", "path": []}],
            "steps[3].inputs[0]",
            'no step "x"',
        ),
        # routes
        ((*PICK, "inputs"), [STEP_REF], "steps[2].inputs", "a route step has no inputs"),
        ((*PICK, "output"), {"type": "string"}, "steps[2].output", "a route step has no output"),
        ((*PICK, "route", "when"), [], "steps[2].route.when", "expected 1 to 256 branches"),
        ((*PICK, "route", "when", 1, "match"), "1.5", "steps[2].route.when[1].match", 'the match "1.5" is there twice'),
        ((*PICK, "route", "when", 2, "match"), "true", "steps[2].route.when[2].match", "is there twice"),
        ((*PICK, "route", "when", 0, "step"), "ask", "steps[2].route.when[0].step", "does not come after its router"),
        ((*PICK, "route", "when", 0, "step"), "pick", "steps[2].route.when[0].step", "does not come after its router"),
        ((*PICK, "route", "default"), "nope", "steps[2].route.default", 'no step "nope"'),
        # units
        ((*ASK, "unit", "instructions"), "", "steps[0].unit.instructions", "found 0, expected 1 to 262144 bytes"),
        ((*ASK, "unit", "instructions"), "é" * 131_073, "steps[0].unit.instructions", "found 262146"),
        ((*ASK, "unit", "retry", "max"), 101, "steps[0].unit.retry.max", "expected 0 to 100"),
        ((*ASK, "unit", "retry", "on"), ["oops"], "steps[0].unit.retry.on[0]", "known: aborted, content_policy_reject"),
        ((*ASK, "unit", "retry", "on"), ["timeout"] * 2, "steps[0].unit.retry.on[1]", "listed twice"),
        ((*ASK, "unit", "timeoutMs"), 0, "steps[0].unit.timeoutMs", "0 is out of range"),
        ((*ASK, "unit", "timeoutMs"), 2**31, "steps[0].unit.timeoutMs", "out of range"),
        ((*ASK, "unit", "output"), {"const": 1}, "steps[0].unit.output.const", "not enforced"),
        ((*ASK, "unit", "output"), {}, "steps[0].unit.output", "leaving it out"),
        ((*LIST, "unit", "env", 0, "name"), "A=B", "steps[3].unit.env[0].name", "cannot name an environment variable"),
        ((*LIST, "unit", "env", 1, "name"), "", "steps[3].unit.env[1].name", "cannot name an environment variable"),
        ((*LIST, "unit", "env", 0, "value"), "a\0", "steps[3].unit.env[0].value", "NUL"),
        ((*LIST, "unit", "env", 2, "path"), "/etc/passwd", "steps[3].unit.env[2].path", "expected a relative path"),
        ((*LIST, "unit", "env", 2, "path"), "a\\b", "steps[3].unit.env[2].path", "expected a relative path"),
        # gates
        ((*ASK, "gate", "rubric"), "", "steps[0].gate.rubric", "leaving it out"),
        ((*ASK, "gate", "rubric"), "x" * 262_145, "steps[0].gate.rubric", "found 262145"),
        ((*ASK, "gate", "maxLoops"), 0, "steps[0].gate.maxLoops", "expected 1 to 100"),
        ((*ASK, "gate", "judge", "prompt"), "x", "steps[0].gate.judge", "a judge has no ref, prompt"),
        (
            (*ASK, "gate", "judge", "inputBindings"),
            [{"kind": "literal", "name": "a", "value": 1}],
            "steps[0].gate.judge",
            "",
        ),
        # command targets
        (
            (*ASK, "unit", "target", "engine", "name"),
            "akm-x",
            "steps[0].unit.target.engine.name",
            "no name of an engine",
        ),
        (
            (*ASK, "unit", "target", "engine", "name"),
            "a--b",
            "steps[0].unit.target.engine.name",
            "no name of an engine",
        ),
        (
            (*ASK, "unit", "target", "engine", "name"),
            "a" * 64,
            "steps[0].unit.target.engine.name",
            "no name of an engine",
        ),
        (
            (*ASK, "unit", "target", "engine", "apiKey"),
            "sk-123",
            "steps[0].unit.target.engine.apiKey",
            "the name of an env",
        ),
        ((*ASK, "unit", "target", "engine", "endpoint"), "", "steps[0].unit.target.engine.endpoint", "URL with a host"),
        ((*ASK, "unit", "target", "concurrency"), 0, "steps[0].unit.target.concurrency", "0 is out of range"),
        ((*ASK, "unit", "target", "llm"), {}, "steps[0].unit.target.llm", "leaving it out"),
        (
            (*ASK, "unit", "target", "llm", "extraParams"),
            {"a": "x" * 65_536},
            "steps[0].unit.target.llm.extraParams",
            "expected 0 to 65536 bytes",
        ),
        ((*FAN, "unit", "target", "llm"), {"temperature": 1}, "steps[1].unit.target.llm", '"coder", which is no llm'),
        ((*FAN, "unit", "target", "options"), {}, "steps[1].unit.target.options", "leaving it out"),
        ((*FAN, "unit", "target", "engine", "args"), [], "steps[1].unit.target.engine.args", "leaving it out"),
        (
            (*FAN, "unit", "target", "engine", "platform"),
            "claude",
            "steps[1].unit.target.engine.llmEngine",
            "belongs to opencode-sdk, found on claude",
        ),
        # scripts
        (
            (*LIST, "unit", "target", "byteLength"),
            3,
            "steps[3].unit.target.byteLength",
            "says 3, the script has 16 bytes",
        ),
        ((*LIST, "unit", "target", "bytesBase64"), "QUJD", "steps[3].unit.target.byteLength", "the script has 3 bytes"),
        ((*LIST, "unit", "target", "bytesBase64"), "QR==", "steps[3].unit.target.bytesBase64", "without stray bits"),
        ((*LIST, "unit", "target", "interpreter"), [], "steps[3].unit.target.interpreter", "expected 1 to 64 words"),
        ((*LIST, "unit", "target", "extension"), "", "steps[3].unit.target.extension", "expected the extension"),
        # children
        ((*KID, "unit", "target", "taskRef"), "tasks/t", "steps[4].unit.target.taskRef", "goes with via task"),
        ((*KID, "unit", "target", "via"), "task", "steps[4].unit.target.taskRef", "goes with via task"),
        (
            (*KID, "unit", "target", "inputBindings", 0, "name"),
            "sizes",
            "steps[4].unit.target.inputBindings[0].name",
            'no param "sizes"; declared params: name, size',
        ),
        (
            (*KID, "unit", "target", "inputBindings", 0, "name"),
            "name",
            "steps[4].unit.target.inputBindings[1].name",
            "twice",
        ),
        (
            (*KID, "unit", "target", "inputBindings", 1, "from"),
            {"text": "steps.kid.output", "root": "steps", "name": "kid", "path": []},
            "steps[4].unit.target.inputBindings[1].from",
            "does not come before",
        ),
        (
            (*KID, "unit", "target", "inputBindings", 1, "schema"),
            {"type": 1},
            "steps[4].unit.target.inputBindings[1].schema.type",
            "the name of a type",
        ),
        # outputs and provenance
        (("outputs", "a-b"), {"from": STEP_REF}, "outputs.a-b", "no name of an output"),
        (("outputs", "all", "from"), param_ref("limit"), "outputs.all.from", "from a step, not from a param"),
        (("outputs", "all", "schema"), {}, "outputs.all.schema", "leaving it out"),
        (("outputs",), {f"o{n}": {"from": STEP_REF} for n in range(65)}, "outputs", "expected 0 to 64 outputs"),
        (("provenance", "sourceHash"), "A" * 64, "provenance.sourceHash", "64 lower-case hexadecimal digits"),
        (("provenance", "sourceReadSet", 0, "path"), "../a", "provenance.sourceReadSet[0].path", "relative path"),
        (("provenance", "sourceReadSet", 0, "size"), -1, "provenance.sourceReadSet[0].size", "-1 is no size"),
        (("provenance", "toolchain", "lowering"), 0, "provenance.toolchain.lowering", "a number from 1"),
        (("provenance", "spans", "steps.0"), [1, 2, 3], 'provenance.spans["steps.0"]', "expected [line, column"),
        (("provenance", "spans", "steps.0"), [0, 1, 1, 1], 'provenance.spans["steps.0"]', "expected [line, column"),
    ],
)
def test_refused(kit: Any, path: tuple[Any, ...], value: Any, where: str, reason: str) -> None:
    error = refused(kit, change(kit.rich_plan(), path, value))
    assert error.kind in ("bounds", "malformed")
    assert error.path == where
    assert reason in error.message


@pytest.mark.parametrize(
    ("key", "value", "where", "reason"),
    [
        ("command", [], "command", "expected 1 to 64 words"),
        ("command", ["a"] * 65, "command", "found 65"),
        ("command", ["a", ""], "command[1]", "found 0, expected 1 to 4096 bytes"),
        ("command", ["é" * 2049], "command[0]", "found 4098"),
        ("command", ["a\0b"], "command[0]", "NUL"),
        ("cwd", "", "cwd", "expected 1 to 1024 characters"),
        ("cwd", "x" * 1025, "cwd", "found 1025"),
        ("cwd", "../x", "cwd", "no .."),
        ("cwd", "a/../b", "cwd", "no .."),
        ("cwd", "/x", "cwd", "relative"),
        ("cwd", "~/x", "cwd", "relative"),
        ("cwd", "C:/x", "cwd", "relative"),
        ("cwd", "a\nb", "cwd", "relative"),
        ("passEnv", ["A=B"], "passEnv[0]", "cannot name"),
        ("passEnv", ["A", "A"], "passEnv[1]", "listed twice"),
        ("passEnv", [f"A{n}" for n in range(33)], "passEnv", "at most 32 names"),
    ],
)
def test_exec_targets(kit: Any, key: str, value: Any, where: str, reason: str) -> None:
    plan = kit.plan_of(kit.unit_step("a", {**kit.exec_target("make"), key: value}))
    error = refused(kit, plan)
    assert (error.kind, error.path) == ("bounds", f"steps[0].unit.target.{where}")
    assert reason in error.message


def test_what_lies_on_a_bound_passes(kit: Any) -> None:
    target = kit.exec_target(*["x" * 4096] * 64, cwd="a/" * 511 + "b", passEnv=[f"A{n}" for n in range(32)])
    step = kit.unit_step("a" * 200, target, inputs=[param_ref("p0")] * 64)
    step["unit"] |= {
        "timeoutMs": 2_147_483_647,
        "retry": {"max": 100, "on": ["timeout"]},
        "instructions": "x" * 262_144,
    }
    step["gate"] = kit.gate(maxLoops=1, rubric="y" * 262_144)
    step["unit"]["env"] = [
        {"kind": "env-ref", "ref": "b//env/e", "path": "../b/env/e.env", "keys": [], "secretNames": []}
    ]
    plan = kit.plan_of(
        step,
        params={f"p{n}": {} for n in range(127)} | {"n" * 128: {"type": "string", "x-y": 1}},
        budget={"maxUnits": 10_000, "maxTokens": 2**53},
        execution={"maxConcurrency": 64},
    )
    plan["provenance"]["schedule"] = ["0 0 * * *"] * 64
    assert decode_plan(kit.file_of(kit.sealed(plan))).steps[0].index == 0


def test_256_steps_pass_and_one_more_does_not(kit: Any) -> None:
    steps = [kit.unit_step(f"s{n}", kit.exec_target("true")) for n in range(257)]
    assert len(decode_plan(kit.file_of(kit.sealed(kit.plan_of(*steps[:256])))).steps) == 256
    assert refused(kit, kit.plan_of(*steps)).path == "steps"


def test_children_are_checked_too(kit: Any) -> None:
    child = kit.sealed(kit.plan_of(kit.unit_step("x", kit.exec_target()), params={}))
    error = refused(kit, kit.plan_of(kit.unit_step("kid", kit.child_target(child))))
    assert error.path == "steps[0].unit.target.frozenPlan.steps[0].unit.target.command"


def test_reference_text() -> None:
    assert reference_text(Reference(text="", root="params", name="a", path=[])) == "params.a"
    parts: list[str | int] = ["rows", 0, "a-b", 10]
    assert reference_text(Reference(text="", root="steps", name="s", path=parts)) == "steps.s.output.rows[0].a-b[10]"


def test_sizes_leave_embedded_plans_out(kit: Any) -> None:
    plan = kit.rich_plan()
    (child_path, child), (deep_path, deep) = embedded_plans(plan)
    assert child_path == ("steps", 4, "unit", "target", "frozenPlan")
    assert deep_path == (*child_path, "steps", 0, "unit", "target", "frozenPlan")
    whole = len(kit.file_of(plan)) - 1
    joints = 2 * len('"frozenPlan":,')
    assert own_size(plan) + own_size(child) + own_size(deep) + joints == whole
    assert plan == kit.rich_plan(), "measuring changes nothing"
    assert own_size(deep) == len(kit.file_of(deep)) - 1
