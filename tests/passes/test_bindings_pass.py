"""Bindings: literals, references, defaults, what is required; through tasks and children."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

Compose = Callable[..., Any]

KID = """---
params:
  count: {type: integer, minimum: 1, default: 1}
  mode: {enum: [fast, slow]}
  rows: {type: array}
  free: {}
outputs: {total: {from: steps.a.output.n, schema: {type: object, properties: {n: {}}, additionalProperties: false}}, raw: {from: steps.a.output}}
steps:
  - id: a
    unit: {exec: {command: [make]}, output: {type: object}}
---
## a
Makes.
"""
TASK = """version: 4
run: make all
inputs:
  target: {type: string, required: true}
  jobs: {type: integer, default: 2}
  note: {type: [string, "null"]}
"""


def workflow(*steps: str) -> str:
    """A YAML workflow; the first step stands on line 7."""
    lines = "".join(f"      - {step}\n" for step in steps)
    return f"name: A\non: {{workflow_dispatch: {{}}}}\njobs:\n  main:\n    runs-on: [self-hosted]\n    steps:\n{lines}"


def bound(made: Any, index: int = 0) -> list[tuple[str, object]]:
    """Name and value (or reference text) of each binding of a step."""
    return [
        (item["name"], item["value"] if item["kind"] == "literal" else item["from"]["text"])
        for item in made.target(index)["inputBindings"]
    ]


def checked(compose: Compose, *steps: str, **files: str) -> Any:
    """A workflow with ``steps`` beside the task ``build`` and the child ``kid``."""
    texts = {"workflows/a.yml": workflow(*steps), "workflows/kid.md": KID, "tasks/build.yml": TASK}
    return compose({**texts, **files})


def test_defaults_literals_and_references_sorted_by_name(compose: Compose) -> None:
    made = checked(
        compose,
        "{id: one, run: make}",
        "{id: two, uses: tasks/build, with: {target: {from: steps.one.output}, note: null}}",
        "{id: three, uses: tasks/build, with: {target: x, jobs: 1.0}}",
        "{id: four, uses: workflows/kid, with: {rows: [1, {a: {from: 2}}], count: 3}}",
    )
    assert made.rules == []
    assert bound(made, 1) == [("jobs", 2), ("note", None), ("target", "steps.one.output")]
    assert bound(made, 2) == [("jobs", 1.0), ("target", "x")]
    assert bound(made, 3) == [("count", 3), ("rows", [1, {"a": {"from": 2}}])]
    (reference,) = [item for item in made.target(1)["inputBindings"] if item["kind"] == "reference"]
    assert reference["schema"] == {"type": "string"}
    assert reference["from"] == {"text": "steps.one.output", "root": "steps", "name": "one", "path": []}


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ("{id: s, uses: tasks/build}", 'the input "target" of tasks/build is not bound: the task requires it'),
        ("{id: s, uses: tasks/build, with: {jobs: 1}}", '"target"'),
        (
            "{id: s, uses: tasks/build, with: {target: x, jbos: 1}}",
            'no input "jbos"; declared inputs: "jobs", "note", "target"',
        ),
        ("{id: s, uses: tasks/build, with: {target: 5}}", "expected a string"),
        ("{id: s, uses: tasks/build, with: {target: null}}", "expected a string"),
        ("{id: s, uses: tasks/build, with: {target: {from: steps.s.output}}}", "reads the step's own output"),
        ("{id: s, uses: tasks/build, with: {target: {from: steps.z.output}}}", "names a later step"),
        ("{id: s, uses: tasks/build, with: {target: {from: steps.q.output}}}", 'earlier steps: "one"'),
        ("{id: s, uses: tasks/build, with: {target: {from: params.q}}}", "declared params: (none)"),
        ("{id: s, uses: tasks/build, with: {target: {from: 5}}}", "not exactly {from: <reference>}"),
        ("{id: s, uses: tasks/build, with: {target: {from: steps.one.output, or: x}}}", "not exactly"),
        ("{id: s, uses: workflows/kid, with: {count: 0}}", "count"),
        ("{id: s, uses: workflows/kid, with: {mode: medium}}", "mode"),
        ("{id: s, uses: workflows/kid, with: {model: fast}}", 'declared params: "count", "free", "mode", "rows"'),
    ],
)
def test_what_is_refused(compose: Compose, step: str, says: str) -> None:
    made = checked(compose, "{id: one, run: make}", step, "{id: z, run: make}")
    assert made.rules == [("input-binding-invalid", "workflows/a.yml", 8)]
    assert says in made.messages[0]


def test_every_wrong_binding_of_a_step_is_told(compose: Compose) -> None:
    made = checked(compose, "{id: s, uses: workflows/kid, with: {count: x, mode: y, nobody: z}}")
    assert [rule for rule, _, _ in made.rules] == ["input-binding-invalid"] * 3


def test_grammar_of_references(compose: Compose) -> None:
    made = checked(
        compose,
        "{id: one, run: make}",
        '{id: s, uses: tasks/build, with: {target: {from: "steps.one"}}}',
        "{id: t, uses: tasks/build, with: {target: {from: item}}}",
    )
    assert made.rules == [("invalid-reference", "workflows/a.yml", 8), ("invalid-reference", "workflows/a.yml", 9)]


def test_a_step_whose_id_cannot_be_read_hides_nothing_else(compose: Compose) -> None:
    made = checked(
        compose, "{id: 1x, run: make}", "{id: s, uses: tasks/build, with: {target: {from: steps.gone.output}}}"
    )
    assert made.rules == [("invalid-step-id", "workflows/a.yml", 7)]


def test_exports(compose: Compose) -> None:
    made = checked(
        compose,
        "{id: kid, uses: workflows/kid}",
        "{id: plain, uses: workflows/plain}",
        "{id: a, uses: workflows/kid, with: {free: {from: steps.kid.output}}}",
        "{id: b, uses: workflows/kid, with: {free: {from: steps.kid.output.total.n}}}",
        "{id: c, uses: workflows/kid, with: {free: {from: 'steps.kid.output.raw.anything[0]'}}}",
        "{id: d, uses: workflows/kid, with: {free: {from: steps.plain.output.runId}}}",
        "{id: e, uses: workflows/kid, with: {free: {from: steps.kid.output.total.m}}}",
        "{id: f, uses: workflows/kid, with: {free: {from: steps.kid.output.totals}}}",
        "{id: g, uses: workflows/kid, with: {free: {from: 'steps.kid.output[0]'}}}",
        "{id: h, uses: workflows/kid, with: {free: {from: steps.plain.output.status.x}}}",
        "{id: i, uses: workflows/kid, with: {free: {from: steps.plain.output.output}}}",
        **{"workflows/plain.yml": workflow("{id: s, run: make}")},
    )
    assert made.rules == [
        ("reference-type-mismatch", "workflows/a.yml", 13),
        ("child-output-unknown", "workflows/a.yml", 14),
        ("child-output-unknown", "workflows/a.yml", 15),
        ("reference-type-mismatch", "workflows/a.yml", 16),
        ("child-output-unknown", "workflows/a.yml", 17),
    ]
    assert any('exports no "totals"; its exports: "raw", "total"' in text for text in made.messages)
    assert any('its exports: "runId", "status"' in text for text in made.messages)


NEEDY = """---
params: {rows: {type: array}, who: {type: string}, size: {type: integer, default: 2}, idle: {type: string}}
steps:
  - {id: a, inputs: [params.who, params.size], map: {over: params.rows, unit: {exec: {command: [make]}}}}
---
## a
Makes.
"""


def test_params_that_a_reference_inside_the_child_needs(compose: Compose) -> None:
    files = {
        "workflows/needy.md": NEEDY,
        "tasks/wrap.yml": "version: 4\nuses: workflows/needy\ninputs: {who: {default: me}}\n",
    }
    made = checked(
        compose,
        "{id: a, uses: workflows/needy}",
        "{id: b, uses: workflows/needy, with: {rows: [], who: x}}",
        "{id: c, uses: tasks/wrap}",
        "{id: d, uses: tasks/wrap, with: {rows: [1]}}",
        **files,
    )
    assert made.rules == [
        ("input-binding-invalid", "workflows/a.yml", 7),
        ("input-binding-invalid", "workflows/a.yml", 7),
        ("input-binding-invalid", "workflows/a.yml", 9),
    ]
    assert "params.rows inside the child needs it" in made.messages[0]


@pytest.mark.parametrize(
    ("inputs", "with_", "expected"),
    [
        ("{mode: {type: string, default: slow}}", "", [("mode", "slow")]),
        ("{mode: {type: string, default: slow}}", ", with: {mode: fast}", [("mode", "fast")]),
        ("{mode: {type: string, required: true}}", ", with: {mode: fast, count: 2}", [("count", 2), ("mode", "fast")]),
        ("{mode: {type: string, required: true}}", ", with: {count: 2}", '"mode"'),
        ("{mode: {type: string, required: true}}", "", '"mode"'),
        ("{mode: {type: string, default: medium}}", "", "does not satisfy the param's schema"),
        ("{other: {type: string}}", "", 'declared params: "count", "free", "mode", "rows"'),
        ("{mode: {type: string}}", ", with: {other: 1}", 'no param "other"'),
    ],
)
def test_through_a_task_the_params_of_the_child_decide(
    compose: Compose, inputs: str, with_: str, expected: object
) -> None:
    task = {"tasks/wrap.yml": f"version: 4\nuses: workflows/kid\ninputs: {inputs}\n"}
    made = checked(compose, f"{{id: s, uses: tasks/wrap{with_}}}", **task)
    if isinstance(expected, str):
        assert made.rules == [("input-binding-invalid", "workflows/a.yml", 7)]
        assert expected in made.messages[0]
    else:
        assert made.rules == []
        assert bound(made) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=JSON)
def test_a_literal_arrives_as_it_was_written(compose: Compose, value: object) -> None:
    import json

    made = checked(compose, f"{{id: s, uses: workflows/kid, with: {{free: {json.dumps(value)}}}}}")
    assert bound(made) == [("free", value)]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=st.lists(st.text("abcXYZ019_@%+=:,./^-", min_size=1, max_size=6), min_size=1, max_size=5),
    cwd=st.sampled_from([None, "src", "src/lib", "..data"]),
    shell=st.sampled_from([None, "bash", "cmd", "pwsh"]),
    prompt=st.text("ab \n#", min_size=1, max_size=12).filter(str.strip),
)
def test_equivalent_markdown_and_yaml_have_one_content_hash(
    compose: Compose, words: list[str], cwd: str | None, shell: str | None, prompt: str
) -> None:
    import json

    words = [f"./{words[0]}", *words[1:]]  # never an assignment
    text = " ".join(words)
    form = {"bash": ["bash", "-c"], "cmd": ["cmd", "/d", "/s", "/c"], "pwsh": ["pwsh", "-Command"]}
    argv = words if shell is None else [*form[shell], text]
    prompt = prompt.replace("#", "")
    prompt = prompt if prompt.strip() else "a"
    exec_bag: dict[str, object] = {"command": argv, **({} if cwd is None else {"cwd": cwd})}
    steps = [{"id": "run", "unit": {"exec": exec_bag}}, {"id": "ask"}]
    markdown = f"---\nsteps: {json.dumps(steps)}\n---\n## run\nx\n## ask\n{prompt}\n"
    run = {"id": "run", "run": text, **({} if cwd is None else {"working-directory": cwd})}
    run |= {} if shell is None else {"shell": shell}
    ask = {"id": "ask", "uses": "akm/command", "with": {"content": prompt}}
    engine = {"kind": "llm", "endpoint": "http://127.0.0.1:9/v1/chat/completions", "model": "tiny"}
    config = {"engines": {"e": engine}, "defaults": {"engine": "e"}}
    files = {"workflows/a.yml": workflow(json.dumps(run), json.dumps(ask)), "workflows/m.md": markdown}
    yaml_plan = compose(files, config=config, freeze=True)
    markdown_plan = compose(files, "workflows/m.md", config=config, freeze=True)
    assert yaml_plan.plan["contentHash"] == markdown_plan.plan["contentHash"], (yaml_plan.plan, markdown_plan.plan)
    assert yaml_plan.plan["planHash"] != markdown_plan.plan["planHash"]


KINDS = """version: 4
run: make all
inputs:
  count: {type: integer}
  text: {type: string}
  maybe: {type: [integer, "null"]}
  pick: {enum: [1, 2]}
  any: {}
"""


@pytest.mark.parametrize(
    ("binding", "line"),
    [
        ("count: {from: steps.text.output}", 10),
        ("maybe: {from: steps.text.output}", 10),
        ("pick: {from: steps.text.output}", 10),
        ("text: {from: steps.kid.output}", 10),
        ("text: {from: steps.kid.output.total}", 10),
        ("count: {from: steps.typed.output}", 10),
        ("text: {from: steps.text.output}", None),
        ("any: {from: steps.text.output}", None),
        ("text: {from: steps.typed.output}", None),
        ("count: {from: steps.kid.output.total.n}", None),
    ],
)
def test_a_binding_whose_kinds_of_value_are_all_refused(compose: Compose, binding: str, line: int | None) -> None:
    made = checked(
        compose,
        "{id: text, run: make}",
        "{id: kid, uses: workflows/kid}",
        "{id: typed, uses: tasks/typed}",
        f"{{id: s, uses: tasks/kinds, with: {{{binding}}}}}",
        **{
            "tasks/kinds.yml": KINDS,
            "tasks/typed.yml": "version: 4\nuses: akm/command\nwith: {content: x}\noutput: {enum: [a, b]}\n",
        },
    )
    assert made.rules == ([("input-binding-invalid", "workflows/a.yml", line)] if line else [])
    if line:
        name = binding.partition(":")[0]
        assert f'the input "{name}" of tasks/kinds takes ' in made.messages[0]
