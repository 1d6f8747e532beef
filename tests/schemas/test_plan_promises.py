"""What a freeze promises holds for whoever can hash: each pinned plan with one value changed and every hash made
right again is refused, and the message names the place. Engines have a module of their own."""

from __future__ import annotations

import pathlib
from typing import Any, Final

import pytest

from akm_schemas.canonical import canonical_bytes
from akm_schemas.decode import PlanError, decode_plan

PLANS: Final = pathlib.Path(__file__).resolve().parents[1] / "golden" / "plans"
NAMES: Final = sorted(path.name for path in PLANS.iterdir())
GONE: Final = "(removed)"  # no value of a plan
LLM: Final = "steps[0].unit.target"
KID: Final = "steps[7].unit.target"
INNER: Final = f"{KID}.frozenPlan.steps[0].unit"
EMBEDDED: Final = "steps.7.unit.target.frozenPlan.steps.0.unit"


@pytest.mark.parametrize("name", NAMES)
def test_a_pinned_plan_decodes_as_it_is_and_resealed(kit: Any, name: str) -> None:
    data = (PLANS / name / "plan.json").read_bytes()
    assert canonical_bytes(kit.resealed(kit.pinned(name))) + b"\n" == data
    assert decode_plan(data).plan_hash == kit.pinned(name)["planHash"]


# Name: plan, place, value, the place in the message, words of the reason.
PROMISES: Final[dict[str, tuple[str, str, Any, str, str]]] = {
    # commands
    "a command's ref": ("composed", "steps.3.unit.target.ref", "scripts/a.sh", "steps[3].unit.target.ref", "commands/"),
    "a climbing ref": ("composed", "steps.3.unit.target.ref", "commands/../x", "steps[3].unit.target.ref", "commands/"),
    "an absolute ref": ("composed", "steps.3.unit.target.ref", "/commands/x", "steps[3].unit.target.ref", "commands/"),
    "an empty prompt": ("composed", "steps.3.unit.target.prompt", "", "steps[3].unit.target.prompt", "expected 1 to"),
    "a long prompt": ("composed", "steps.3.unit.target.prompt", "x" * 262_145, "steps[3].unit.target.prompt", "262145"),
    "a ref without prompt": ("composed", "steps.3.unit.target.prompt", GONE, "steps[3].unit.target.prompt", "there is"),
    "a template without prompt": (
        "engines",
        "steps.0.unit.target.template",
        "arguments",
        f"{LLM}.prompt",
        "go with a prompt",
    ),
    "bindings without prompt": (
        "engines",
        "steps.0.unit.target.inputBindings",
        [{"kind": "literal", "name": "a", "value": 1}],
        f"{LLM}.prompt",
        "go with a prompt",
    ),
    # command lines
    "no words": ("exec", "steps.0.unit.target.command", [], f"{LLM}.command", "1 to 64 words"),
    "65 words": ("exec", "steps.0.unit.target.command", ["a"] * 65, f"{LLM}.command", "found 65"),
    "an empty word": ("exec", "steps.0.unit.target.command.1", "", f"{LLM}.command[1]", "1 to 4096 bytes"),
    "a long word": ("exec", "steps.0.unit.target.command.0", "é" * 2049, f"{LLM}.command[0]", "found 4098"),
    "NUL in a word": ("exec", "steps.0.unit.target.command.0", "a\0b", f"{LLM}.command[0]", "NUL"),
    **{
        f"cwd {text[:9]!r}": ("exec", "steps.0.unit.target.cwd", text, f"{LLM}.cwd", reason)
        for text, reason in {
            "": "1 to 1024 characters",
            "/": "is absolute",
            "..": "climbs out",
            "a/..": "climbs out",
            "c:x": "names a drive",
            "a~": 'holds a "~"',
            "a\\..\\b": "holds a backslash",
            "a\0": "control character",
            "a\x7f": "control character",
            "x" * 1025: "found 1025",
        }.items()
    },
    "NAME=value passed on": ("exec", "steps.0.unit.target.passEnv.0", "A=B", f"{LLM}.passEnv[0]", "cannot name"),
    "a variable of the interpreter": (
        "exec",
        "steps.0.unit.target.passEnv.0",
        "AKM_RUN_ID",
        f"{LLM}.passEnv[0]",
        "belongs to the interpreter",
    ),
    "a variable passed on twice": ("exec", "steps.0.unit.target.passEnv.1", "ZED", f"{LLM}.passEnv[1]", "twice"),
    "33 variables": ("exec", "steps.0.unit.target.passEnv", [f"A{n}" for n in range(33)], f"{LLM}.passEnv", "32 names"),
    # environments
    "a set variable's name": (
        "composed",
        "steps.0.unit.env.0.name",
        "A-B",
        "steps[0].unit.env[0].name",
        "cannot name",
    ),
    "a set variable of the interpreter": (
        "composed",
        "steps.0.unit.env.0.name",
        "AKM_PARAMS",
        "steps[0].unit.env[0].name",
        "belongs to the interpreter",
    ),
    "a variable set twice": ("composed", "steps.0.unit.env.1.name", "LEVEL", "steps[0].unit.env[1].name", "twice"),
    "NUL in a value": ("composed", "steps.0.unit.env.0.value", "a\0", "steps[0].unit.env[0].value", "NUL"),
    "a passed variable's name": (
        "composed",
        "steps.5.unit.env.0.name",
        "",
        "steps[5].unit.env[0].name",
        "cannot name",
    ),
    "an env ref": ("engines", "steps.1.unit.env.0.ref", "env/../x", "steps[1].unit.env[0].ref", "a ref of env/"),
    "an env ref of another family": (
        "engines",
        "steps.1.unit.env.0.ref",
        "tasks/ci",
        "steps[1].unit.env[0].ref",
        "a ref of env/",
    ),
    **{
        f"env file {text!r}": ("engines", "steps.1.unit.env.0.path", text, "steps[1].unit.env[0].path", reason)
        for text, reason in {
            "": "is empty",
            "/etc/env/ci.env": "is absolute",
            "../env/ci.env": "climbs out",
            "env/../../env/ci.env": "climbs out",
            "env\\ci.env": "holds a backslash",
            "C:env/ci.env": "names a drive",
            "env/ci.env\0": "control character",
            "env//ci.env": "empty segment",
            "env/other.env": 'is not the file of "env/ci"',
            "deep/env/ci.env": 'is not the file of "env/ci"',
            ".git/config": 'is not the file of "env/ci"',
        }.items()
    },
    "an env file's key": ("engines", "steps.1.unit.env.0.keys.0", "A=B", "steps[1].unit.env[0].keys[0]", "cannot name"),
    "keys out of order": ("engines", "steps.1.unit.env.0.keys.0", "Z", "steps[1].unit.env[0].keys[1]", "out of order"),
    "a key twice": ("engines", "steps.1.unit.env.0.keys.1", "MODE", "steps[1].unit.env[0].keys[1]", "each once"),
    **{
        f"secret {text!r}": (
            "engines",
            "steps.1.unit.env.0.secretNames.0",
            text,
            "steps[1].unit.env[0].secretNames[0]",
            "is no name of a secret",
        )
        for text in ("", "../x", "-x", "a b", "a/b", "a}", "a\0")
    },
    "secrets twice": (
        "engines",
        "steps.1.unit.env.0.secretNames",
        ["a", "a"],
        "steps[1].unit.env[0].secretNames[1]",
        "each once",
    ),
    "65 env files": (
        "engines",
        "steps.1.unit.env",
        lambda env: env * 65,
        "steps[1].unit.env",
        "at most 64",
    ),
    # scripts
    **{
        f"script {text!r}": ("composed", "steps.2.unit.target.ref", text, "steps[2].unit.target.ref", "scripts/")
        for text in ("", "scripts/../a.sh", "/scripts/a.sh", "scripts/a\\b.sh", "scripts/a\0.sh", "tasks/a.sh")
    },
    **{
        f"extension {text!r}": (
            "composed",
            "steps.2.unit.target.extension",
            text,
            "steps[2].unit.target.extension",
            'expected the extension of "scripts/list.sh"',
        )
        for text in ("", "sh", ".py", "/../../x.sh", ".sh\0", ".SH")
    },
    "a script without extension": (
        "composed",
        "steps.2.unit.target.ref",
        "scripts/list",
        "steps[2].unit.target.extension",
        "expected the extension",
    ),
    "no interpreter": ("composed", "steps.2.unit.target.interpreter", [], "steps[2].unit.target.interpreter", "words"),
    "NUL in an interpreter": (
        "composed",
        "steps.2.unit.target.interpreter.0",
        "sh\0",
        "steps[2].unit.target.interpreter[0]",
        "NUL",
    ),
    "another length": ("composed", "steps.2.unit.target.byteLength", 15, "steps[2].unit.target.byteLength", "says 15"),
    # children
    "a child's ref": ("composed", "steps.7.unit.target.ref", "tasks/kid", f"{KID}.ref", "a ref of workflows/"),
    "a task's ref": (
        "composed",
        "steps.8.unit.target.taskRef",
        "workflows/x",
        "steps[8].unit.target.taskRef",
        "a ref of tasks/",
    ),
    "direct with a task": ("composed", "steps.7.unit.target.taskRef", "tasks/wrap", f"{KID}.taskRef", "via task"),
    "env on a child": (
        "composed",
        "steps.7.unit.env",
        [{"kind": "literal", "name": "A", "value": "1"}],
        "steps[7].unit.env",
        "cannot reach a child workflow",
    ),
    "a value that the child's param refuses": (
        "composed",
        "steps.7.unit.target.inputBindings.0.value",
        "three",
        f"{KID}.inputBindings[0].value",
        'the schema of the child\'s param "count"',
    ),
    "another schema than the child's param has": (
        "composed",
        "steps.7.unit.target.inputBindings.1.schema",
        {},
        f"{KID}.inputBindings[1].schema",
        'not the schema of the child\'s param "name"',
    ),
    "a param that the child needs": (
        "composed",
        "steps.7.unit.target.inputBindings",
        lambda bindings: bindings[:1],
        f"{KID}.inputBindings",
        '"name" is not bound',
    ),
    "an unknown param": (
        "composed",
        "steps.7.unit.target.inputBindings.0.name",
        "n",
        f"{KID}.inputBindings[0].name",
        "no param",
    ),
    "a later step in a binding": (
        "composed",
        "steps.7.unit.target.inputBindings.1.from",
        {"text": "steps.wrapped.output", "root": "steps", "name": "wrapped", "path": []},
        f"{KID}.inputBindings[1].from",
        "does not come before",
    ),
    "an export that the child lacks": (
        "composed",
        "outputs",
        {"a": {"from": {"text": "steps.kid.output.x", "root": "steps", "name": "kid", "path": ["x"]}}},
        "outputs.a.from",
        'exports no "x"; its exports: verdict',
    ),
    "a command inside a child": ("composed", f"{EMBEDDED}.target.command.0", "", f"{INNER}.target.command[0]", "bytes"),
    "an env file inside a child": ("composed", f"{EMBEDDED}.env.0.path", "../a.env", f"{INNER}.env[0].path", "climbs"),
    "a timeout inside a child": ("composed", f"{EMBEDDED}.timeoutMs", 0, f"{INNER}.timeoutMs", "out of range"),
    # steps, routes, gates
    "a later step in inputs": (
        "spine",
        "steps.3.inputs.0",
        {"text": "steps.last.output", "root": "steps", "name": "last", "path": []},
        "steps[3].inputs[0]",
        "does not come before",
    ),
    "a later step in over": (
        "spine",
        "steps.1.map.over",
        {"text": "steps.last.output", "root": "steps", "name": "last", "path": []},
        "steps[1].map.over",
        "does not come before",
    ),
    "a route backwards": ("spine", "steps.2.route.when.0.step", "scan", "steps[2].route.when[0].step", "come after"),
    "a route to itself": ("spine", "steps.2.route.default", "fork", "steps[2].route.default", "come after"),
    "a route to nowhere": ("spine", "steps.2.route.default", "nope", "steps[2].route.default", "no step"),
    "a branch twice": ("spine", "steps.2.route.when.1.match", "1", "steps[2].route.when[1].match", "twice"),
    "width of a map": ("spine", "steps.1.map.concurrency", 65, "steps[1].map.concurrency", "1 to 64"),
    "101 retries": ("spine", "steps.1.unit.retry.max", 101, "steps[1].unit.retry.max", "0 to 100"),
    "-1 retries": ("spine", "steps.1.unit.retry.max", -1, "steps[1].unit.retry.max", "0 to 100"),
    "retries for no reason": ("spine", "steps.1.unit.retry.on", [], "steps[1].unit.retry.on", "need a failure reason"),
    "a retry reason": ("spine", "steps.1.unit.retry.on.0", "oops", "steps[1].unit.retry.on[0]", "no failure reason"),
    "a timeout of 2^31": ("spine", "steps.0.unit.timeoutMs", 2**31, "steps[0].unit.timeoutMs", "out of range"),
    "isolation": ("spine", "steps.0.unit.isolation", "vm", "steps[0].unit.isolation", "'vm'"),
    "101 loops": ("engines", "steps.0.gate.maxLoops", 101, "steps[0].gate.maxLoops", "1 to 100"),
    "loops of a command line": (
        "exec",
        "steps.0.gate",
        lambda: None,
        "steps[0].gate.maxLoops",
        "never loops",
    ),
    "an empty rubric": ("engines", "steps.0.gate.rubric", "", "steps[0].gate.rubric", "leaving it out"),
    "a judge with a prompt": ("engines", "steps.0.gate.judge.prompt", "x", "steps[0].gate.judge", "a judge has no"),
    "units of a run": ("exec", "budget.maxUnits", 10_001, "budget.maxUnits", "1 to 10000"),
    "width of a run": ("exec", "execution.maxConcurrency", 65, "execution.maxConcurrency", "1 to 64"),
    # provenance
    "a plan's ref": ("exec", "provenance.ref", "tasks/x", "provenance.ref", "the ref of a workflow"),
    "a plan's climbing ref": ("exec", "provenance.ref", "workflows/../x", "provenance.ref", "climbs out"),
    "a climbing file": (
        "exec",
        "provenance.sourceReadSet.0.path",
        "../x",
        "provenance.sourceReadSet[0].path",
        "climbs out",
    ),
    "an absolute file": (
        "exec",
        "provenance.sourceReadSet.0.path",
        "/etc/passwd",
        "provenance.sourceReadSet[0].path",
        "is absolute",
    ),
    "a file of another ref": (
        "exec",
        "provenance.sourceReadSet.0.path",
        "env/secret.env",
        "provenance.sourceReadSet[0].path",
        'is not the file of "workflows/build"',
    ),
    "files out of order": (
        "engines",
        "provenance.sourceReadSet",
        lambda files: files[::-1],
        "provenance.sourceReadSet[1]",
        "out of order",
    ),
    "a file twice": (
        "exec",
        "provenance.sourceReadSet",
        lambda files: files * 2,
        "provenance.sourceReadSet[1]",
        "each once",
    ),
    "a schedule of six fields": (
        "exec",
        "provenance.schedule",
        ["0 0 * * * *"],
        "provenance.schedule[0]",
        "no schedule of five fields",
    ),
    "no compiler": ("exec", "provenance.toolchain.name", "", "provenance.toolchain.name", "the name of a compiler"),
    "a span of no step": (
        "exec",
        "provenance.spans",
        {"steps.1": [1, 1, 1, 1]},
        'provenance.spans["steps.1"]',
        "no part",
    ),
    "a span that ends early": (
        "exec",
        "provenance.spans",
        {"steps.0": [2, 1, 1, 9]},
        'provenance.spans["steps.0"]',
        "ends before it begins",
    ),
}


@pytest.mark.parametrize("name", sorted(PROMISES))
def test_a_broken_promise_is_found_behind_right_hashes(kit: Any, name: str) -> None:
    plan, at, value, where, reason = PROMISES[name]
    if name == "loops of a command line":
        value = kit.gate(maxLoops=2)
    error = kit.broken(plan, at, kit.REMOVED if value == GONE else value)
    assert (error.path, error.kind in ("bounds", "malformed")) == (where, True), error
    assert reason in error.message


def test_the_file_of_another_bundle_is_reached_by_climbing_in_front(kit: Any) -> None:
    def with_file(ref: str, path: str) -> bytes:
        plan = kit.changed(
            kit.changed(kit.pinned("engines"), "steps.1.unit.env.0.ref", ref), "steps.1.unit.env.0.path", path
        )
        return canonical_bytes(kit.resealed(plan))

    for path in ("../team/env/ci.env", "../../env/ci.env", "vendor/team/env/ci.env"):
        assert decode_plan(with_file("team//env/ci", path)).steps[1].unit
    for path in ("../team/../env/ci.env", "/team/env/ci.env", "../team/env/other.env", "../env\\ci.env", "../../"):
        with pytest.raises(PlanError) as caught:
            decode_plan(with_file("team//env/ci", path))
        assert caught.value.path == "steps[1].unit.env[0].path"
