"""Composition: what a ``uses`` comes to, broken parts, read sets."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from akm_schemas.bounds import INSTRUCTION_BYTES, SCRIPT_BYTES
from akm_schemas.decode import decode_plan, encode_plan
from akm_schemas.plan_engines import AGENT_OPTIONS

Compose = Callable[..., Any]

CONFIG = {
    "bundles": {"team": "../team"},
    "engines": {
        "local": {"kind": "llm", "endpoint": "http://127.0.0.1:9/v1/chat/completions", "model": "tiny"},
        "coder": {"kind": "agent", "platform": "claude"},
        "shell": {"kind": "agent", "platform": "command", "bin": "cat"},
    },
    "defaults": {"engine": "local"},
}
KID = """---
params: {count: {type: integer, default: 1}, mode: {type: string}}
outputs: {total: {from: steps.a.output, schema: {type: integer}}}
steps:
  - id: a
    unit: {exec: {command: [make]}}
---
## a
Makes.
"""


def workflow(*steps: str, name: str = "A") -> str:
    """A YAML workflow; the first step stands on line 7."""
    lines = "".join(f"      - {step}\n" for step in steps)
    return f"name: {name}\non: {{workflow_dispatch: {{}}}}\njobs:\n  main:\n    runs-on: [self-hosted]\n    steps:\n{lines}"


def test_a_script_is_embedded_byte_for_byte(compose: Compose) -> None:
    script = b"\xef\xbb\xbf#!/bin/sh\r\nls \xff\n"
    made = compose(
        {"workflows/a.yml": workflow("{id: s, uses: scripts/deep/x.sh}"), "scripts/deep/x.sh": script}, freeze=True
    )
    target = made.target(0)
    assert base64.b64decode(target["bytesBase64"]) == script
    assert (target["interpreter"], target["extension"], target["byteLength"]) == (["sh"], ".sh", len(script))
    assert made.plan["steps"][0]["unit"]["timeoutMs"] == 600_000
    assert ("scripts/deep/x.sh", "scripts/deep/x.sh") in read_set(made)
    assert decode_plan(encode_plan(made.program.plan)) == made.program.plan


def read_set(made: Any) -> list[tuple[str, str]]:
    """Ref and path of each file of the read set."""
    return [(entry["ref"], entry["path"]) for entry in made.plan["provenance"]["sourceReadSet"]]


@pytest.mark.parametrize(
    ("name", "says"), [("x.xyz", '".xyz"'), ("plain", "a name without extension"), ("x.sh.bak", '".bak"')]
)
def test_an_extension_without_interpreter(compose: Compose, name: str, says: str) -> None:
    made = compose({"workflows/a.yml": workflow(f"{{id: s, uses: scripts/{name}}}"), f"scripts/{name}": "x"})
    assert made.rules == [("composition-invalid", "workflows/a.yml", 7)]
    assert says in made.messages[0]


def test_the_size_of_a_script(compose: Compose) -> None:
    files = {"workflows/a.yml": workflow("{id: s, uses: scripts/x.sh}")}
    fits = compose({**files, "scripts/x.sh": b"#" * SCRIPT_BYTES.high})
    assert fits.target(0)["byteLength"] == SCRIPT_BYTES.high
    over = compose({**files, "scripts/x.sh": b"#" * (SCRIPT_BYTES.high + 1)})
    assert over.rules == [("bound-exceeded", "workflows/a.yml", 7)]


@pytest.mark.parametrize(
    ("step", "prompt", "template"),
    [
        (
            '{content: "say $ARGUMENTS, $ARGUMENTS", arguments: "x $ARGUMENTS"}',
            "say x $ARGUMENTS, x $ARGUMENTS",
            "arguments",
        ),
        ('{content: "say $ARGUMENTS."}', "say .", "arguments"),
        ('{content: "  say $ARGUMENT\\n\\n"}', "  say $ARGUMENT", "none"),
        ("{ref: commands/hello, arguments: you}", "Hello you!", "arguments"),
        ("{ref: commands/hello}", "Hello !", "arguments"),
    ],
)
def test_prompts_are_filled_in_one_pass(compose: Compose, step: str, prompt: str, template: str) -> None:
    files = {
        "workflows/a.yml": workflow(f"{{id: s, uses: akm/command, with: {step}}}"),
        "commands/hello.md": "---\ndescription: Greets\n---\n\nHello $ARGUMENTS!\n\n",
    }
    target = compose(files, config=CONFIG).target(0)
    assert (target["prompt"], target["template"]) == (prompt, template)
    assert target.get("ref") == ("commands/hello" if "hello" in step else None)


def test_a_prompt_that_grows_too_long(compose: Compose) -> None:
    half = "x" * (INSTRUCTION_BYTES.high // 2 + 1)
    step = f'{{id: s, uses: akm/command, with: {{content: "$ARGUMENTS$ARGUMENTS", arguments: "{half}"}}}}'
    made = compose({"workflows/a.yml": workflow(step)})
    assert made.rules == [("bound-exceeded", "workflows/a.yml", 7)]


def test_models_of_commands_rank_below_everything_but_the_engine(compose: Compose) -> None:
    files = {
        "workflows/a.yml": workflow("{id: c, uses: commands/c}", "{id: t, uses: tasks/t}", "{id: p, uses: tasks/p}"),
        "commands/c.md": "---\nmodel: of-command\n---\nHi\n",
        "tasks/t.yml": "version: 4\nuses: commands/c\nmodel: of-task\nengine: coder\ntimeout: 5\noutput: {type: object}\n",
        "tasks/p.yml": "version: 4\nuses: akm/command\nwith: {content: Hi}\ninference: {temperature: 0.5}\n",
    }
    made = compose(files, config=CONFIG)
    assert [made.target(index).get("model") for index in range(3)] == ["of-command", "of-task", "tiny"]
    assert made.target(1)["engine"]["name"] == "coder"
    assert made.plan["steps"][1]["unit"]["timeoutMs"] == 5
    assert made.plan["steps"][1]["unit"]["output"] == {"type": "object"}
    assert made.target(2)["llm"] == {"temperature": 0.5}


def test_a_task_brings_env_and_redaction_and_the_step_wins(compose: Compose) -> None:
    files = {
        "workflows/a.yml": workflow("{id: t, uses: tasks/t, env: {A: 2, B: 3}}"),
        "tasks/t.yml": "version: 4\nrun: make all\nshell: bash\nworking-directory: src\nenv: {A: 1, C: yes}\nredact: [TOKEN, A]\n",
    }
    unit = compose(files).plan["steps"][0]["unit"]
    assert unit["env"] == [
        {"kind": "literal", "name": "A", "value": "2"},
        {"kind": "literal", "name": "B", "value": "3"},
        {"kind": "literal", "name": "C", "value": "yes"},
        {"kind": "pass-through", "name": "TOKEN"},
    ]
    assert unit["target"]["command"] == ["bash", "-c", "make all"]
    assert unit["target"]["cwd"] == "src"


@pytest.mark.parametrize("option", ["agent", "tools"])
@pytest.mark.parametrize(("engine", "platform"), [("local", "llm"), ("coder", "claude"), ("shell", "command")])
def test_options_of_agents(compose: Compose, option: str, engine: str, platform: str) -> None:
    value = "me" if option == "agent" else "[Read]"
    files = {
        "workflows/a.yml": workflow("{id: t, uses: tasks/t}"),
        "tasks/t.yml": f"version: 4\nuses: akm/command\nwith: {{content: Hi}}\nengine: {engine}\n{option}: {value}\n",
    }
    made = compose(files, config=CONFIG, freeze=True)
    if option in AGENT_OPTIONS.get(platform, ()):
        assert made.target(0)["options"] == {option: "me" if option == "agent" else ["Read"]}
    else:
        assert made.rules == [("composition-invalid", "workflows/a.yml", 7)]
        assert f'"{option}"' in made.messages[0] and engine in made.messages[0]


def test_what_is_wrong_inside_is_shown_there(compose: Compose) -> None:
    files = {
        "workflows/a.yml": workflow(
            "{id: t, uses: tasks/bad}",
            "{id: u, uses: tasks/bad}",
            "{id: c, uses: commands/bad}",
            "{id: k, uses: workflows/mid}",
            "{id: m, uses: tasks/own}",
        ),
        "tasks/bad.yml": "version: 4\nrun: make |\n",
        "tasks/own.yml": "version: 4\nrun: make\nmaxSteps: 3\nmaxRetries: 2\n",
        "commands/bad.md": "---\nagnet: x\n---\nHi\n",
        "workflows/mid.yml": workflow("{id: k, uses: workflows/kid}", name="Mid"),
        "workflows/kid.md": KID.replace("## a", "## b"),
    }
    made = compose(files)
    assert made.rules == [
        ("unknown-key", "commands/bad.md", 2),
        ("unsafe-run-token", "tasks/bad.yml", 2),
        ("composition-invalid", "workflows/a.yml", 7),
        ("composition-invalid", "workflows/a.yml", 8),
        ("composition-invalid", "workflows/a.yml", 9),
        ("composition-invalid", "workflows/a.yml", 10),
        ("composition-invalid", "workflows/a.yml", 11),
        ("missing-section", "workflows/kid.md", 5),
        ("unexpected-heading", "workflows/kid.md", 8),
        ("composition-invalid", "workflows/mid.yml", 7),
    ]
    assert all(text.startswith("Workflow step cannot compose ") for text in made.messages if "compose" in text)


def test_warnings_of_a_sound_child_are_its_own_affair(compose: Compose) -> None:
    child = KID.replace("Makes.", "Makes.\n\nTitle\n-----\n")
    made = compose({"workflows/a.yml": workflow("{id: k, uses: workflows/kid}"), "workflows/kid.md": child})
    assert made.rules == []
    assert compose({}, "workflows/kid.md").rules == [("setext-heading", "workflows/kid.md", 11)]


def test_env_and_with_that_nothing_takes(compose: Compose) -> None:
    files = {
        "workflows/a.yml": workflow(
            "{id: a, uses: workflows/kid, env: {A: 1}}",
            "{id: b, uses: tasks/wrap, env: {A: 1}}",
            "{id: c, uses: commands/c, with: {}}",
            "{id: d, uses: scripts/x.sh, with: {a: 1}}",
            "{id: e, uses: tasks/run, with: {}}",
            "{id: f, uses: workflows/kid, with: {}}",
            "{id: g, uses: tasks/wrap, with: {}}",
        ),
        "workflows/kid.md": KID,
        "tasks/wrap.yml": "version: 4\nuses: workflows/kid\n",
        "tasks/run.yml": "version: 4\nrun: make\ninputs: {}\n",
        "commands/c.md": "Hi\n",
        "scripts/x.sh": "ls\n",
    }
    assert compose(files).rules == [("composition-invalid", "workflows/a.yml", line) for line in range(7, 12)]


@pytest.mark.parametrize(
    ("uses", "rule"),
    [
        ("docker://alpine", "docker-action-unsupported"),
        ("scripts/../x.sh", "ref-escapes-bundle"),
        ("7", "wrong-type"),
        ("akm/command", "missing-key"),
    ],
)
def test_a_refused_target_asks_for_no_engine(compose: Compose, uses: str, rule: str) -> None:
    made = compose({"workflows/a.yml": workflow(f"{{id: a, uses: {uses}}}")}, config={"engines": {}})
    assert made.rules == [(rule, "workflows/a.yml", 7)]


@pytest.mark.parametrize("target", ["workflows/kid", "tasks/wrap"])
def test_an_empty_env_of_a_child_is_refused_too(compose: Compose, target: str) -> None:
    files = {
        "workflows/a.yml": workflow(f"{{id: a, uses: {target}, env: {{}}}}", "{id: b, run: make, env: {}}"),
        "workflows/kid.md": KID,
        "tasks/wrap.yml": "version: 4\nuses: workflows/kid\n",
    }
    assert compose(files).rules == [("composition-invalid", "workflows/a.yml", 7)]


def test_a_child_of_another_bundle(compose: Compose) -> None:
    files = {
        "own/.akm/config.json": '{"bundles": {"team": "../team"}}',
        "own/workflows/a.yml": workflow("{id: k, uses: team//workflows/k}", "{id: s, uses: team//scripts/x.sh}"),
        "team/workflows/k.yml": workflow("{id: s, uses: scripts/x.sh}", "{id: t, uses: tasks/t}"),
        "team/scripts/x.sh": "ls\n",
        "team/tasks/t.yml": "version: 4\nuses: workflows/m\n",
        "team/workflows/m.md": KID.replace("[make]}", "[make]}, env: [env/e]"),
        "team/env/e.env": "A=1\n",
    }
    made = compose(files, "own/workflows/a.yml")
    assert read_set(made) == [
        ("team//env/e", "env/e.env"),
        ("team//scripts/x.sh", "scripts/x.sh"),
        ("team//tasks/t", "tasks/t.yml"),
        ("team//workflows/k", "workflows/k.yml"),
        ("team//workflows/m", "workflows/m.md"),
        ("workflows/a", "workflows/a.yml"),
    ]
    inner = made.target(0)["frozenPlan"]["steps"][1]["unit"]["target"]
    assert (inner["ref"], inner["taskRef"], inner["via"]) == ("team//workflows/m", "team//tasks/t", "task")
    env = inner["frozenPlan"]["steps"][0]["unit"]["env"]
    assert env[0]["path"] == "../team/env/e.env"
    assert decode_plan(encode_plan(made.program.plan)) == made.program.plan


def test_an_embedded_plan_is_the_plan_of_its_own(compose: Compose) -> None:
    files = {"workflows/a.yml": workflow("{id: k, uses: workflows/kid}"), "workflows/kid.md": KID}
    made, alone = compose(files, freeze=True), compose({}, "workflows/kid.md", freeze=True)
    assert made.target(0)["frozenPlan"] == alone.plan
    assert made.target(0)["planHash"] == alone.plan["planHash"]
    wrapped = compose(
        {
            **files,
            "workflows/a.yml": workflow("{id: k, uses: tasks/t}"),
            "tasks/t.yml": "version: 4\nuses: workflows/kid\n",
        },
        freeze=True,
    )
    assert wrapped.target(0)["contentHash"] == made.target(0)["contentHash"]
    assert wrapped.plan["contentHash"] == made.plan["contentHash"]
    assert wrapped.plan["planHash"] != made.plan["planHash"]


def test_what_a_process_prints_is_text(compose: Compose) -> None:
    files = {
        "workflows/a.yml": workflow(
            "{id: s, uses: scripts/x.sh}",
            "{id: t, uses: tasks/t}",
            "{id: c, uses: tasks/c}",
            "{id: x, uses: tasks/in, with: {v: {from: steps.s.output.k}}}",
            "{id: y, uses: tasks/in, with: {v: {from: steps.t.output.k}}}",
            "{id: z, uses: tasks/in, with: {v: {from: steps.c.output.k}}}",
            "{id: w, uses: tasks/in, with: {v: {from: steps.c.output.n}}}",
        ),
        "scripts/x.sh": "ls\n",
        "tasks/t.yml": "version: 4\nrun: make\n",
        "tasks/c.yml": "version: 4\nuses: akm/command\nwith: {content: Hi}\n"
        "output: {type: object, properties: {n: {}}, additionalProperties: false}\n",
        "tasks/in.yml": "version: 4\nrun: make\ninputs: {v: {}}\n",
    }
    assert compose(files).rules == [("reference-type-mismatch", "workflows/a.yml", line) for line in (10, 11, 12)]
