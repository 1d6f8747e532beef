"""Two roots and everything that they freeze from, as data: in any form, and with every edit that moves contentHash."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from yaml_styles import COMMENTS, block

NEAR: Final = "http://127.0.0.1:9/v1/chat/completions"
CONFIG: Final[dict[str, Any]] = {
    "engines": {
        "near": {"kind": "llm", "endpoint": NEAR, "model": "tiny", "apiKey": "$NEAR_KEY", "temperature": 0.5},
        "far": {"kind": "llm", "endpoint": NEAR.replace("127.0.0.1", "example.com"), "model": "tiny"},
        "coder": {"kind": "agent", "platform": "claude", "args": ["-p"], "bin": "cl", "workspace": "w"},
        "twin": {"kind": "agent", "platform": "claude"},
    },
    "defaults": {"engine": "near"},
    "workflow": {"judgeEngine": "near", "maxConcurrency": 6, "defaultMapConcurrency": 3},
    "modelAliases": {"quick": {"near": "tiny-1", "*": "tiny-1"}},
}
FRONT: Final[dict[str, Any]] = {
    "params": {"rows": {"type": "array", "items": {"type": "string"}}, "who": {"type": "string", "default": "all"}},
    "defaults": {"timeout": "5m"},
    "budget": {"max_units": 5, "max_tokens": 900},
    "outputs": {"kind": {"from": "steps.scan.output.kind", "schema": {"type": "string"}}},
    "steps": [
        {
            "id": "scan",
            "unit": {
                "exec": {"command": ["make", "scan"], "cwd": "src", "pass_env": ["CI"]},
                "timeout": "30s",
                "retry": {"max": 1, "on": ["timeout"]},
                "output": {"type": "object", "properties": {"kind": {"type": "string"}, "list": {"type": "array"}}},
                "env": ["env/ci"],
            },
        },
        {
            "id": "ask",
            "inputs": ["steps.scan.output.kind"],
            "unit": {"model": "quick", "llm": {"temperature": 0}},
            "output": {"type": "string"},
            "gate": {"max_loops": 2},
        },
        {"id": "each", "map": {"over": "params.rows", "unit": {"engine": "coder", "isolation": "worktree"}}},
        {
            "id": "fork",
            "route": {"input": "steps.scan.output.kind", "when": [{"match": "a", "step": "other"}], "default": "last"},
        },
        {"id": "other", "unit": {"exec": {"command": ["make", "other"]}}},
        {"id": "last", "unit": {"exec": {"command": ["make", "last"]}, "on_error": "continue"}},
    ],
}
PROSE: Final = {
    "scan": "Scans the tree.",
    "ask": "List each open file.\n\nSay why it is open.",
    "each": "Look at one row.",
    "other": "Another end.",
    "last": "Ends.",
}
RUBRIC: Final = "- each file is listed\n- each has a reason"
YAML: Final[dict[str, Any]] = {
    "name": "Y",
    "on": {"workflow_dispatch": {}},
    "jobs": {
        "main": {
            "runs-on": ["self-hosted"],
            "steps": [
                {"id": "r", "run": "make all", "working-directory": "src", "env": {"A": "1"}},
                {"id": "s", "uses": "scripts/x.sh"},
                {"id": "c", "uses": "commands/c"},
                {"id": "i", "uses": "akm/command", "with": {"content": "Say $ARGUMENTS", "arguments": "hello"}},
                {"id": "t", "uses": "tasks/t", "with": {"who": {"from": "steps.r.output"}}},
                {"id": "k", "uses": "workflows/kid", "with": {"n": 3}},
            ],
        }
    },
}
TASK: Final[dict[str, Any]] = {
    "version": 4,
    "uses": "commands/c",
    "inputs": {"who": {"type": "string", "required": True}, "how": {"type": "string", "default": "well"}},
    "output": {"type": "string"},
    "timeout": 5000,
    "engine": "coder",
    "redact": ["TOKEN"],
    "tools": ["shell"],
}
KID: Final[dict[str, Any]] = {
    "params": {"n": {"type": "integer", "default": 1}},
    "steps": [{"id": "a", "unit": {"exec": {"command": ["make", "kid"]}}}, {"id": "b"}],
}
KID_PROSE: Final = {"a": "Makes.", "b": "Judge the kid."}


@dataclass
class Sources:
    """Everything that two roots freeze from, as data: edits change it, ``written`` gives it a form."""

    front: dict[str, Any] = field(default_factory=lambda: deepcopy(FRONT))
    prose: dict[str, str] = field(default_factory=lambda: dict(PROSE))
    rubric: str = RUBRIC
    yaml: dict[str, Any] = field(default_factory=lambda: deepcopy(YAML))
    task: dict[str, Any] = field(default_factory=lambda: deepcopy(TASK))
    kid: dict[str, Any] = field(default_factory=lambda: deepcopy(KID))
    kid_prose: dict[str, str] = field(default_factory=lambda: dict(KID_PROSE))
    config: dict[str, Any] = field(default_factory=lambda: deepcopy(CONFIG))
    command: str = "Ask about $ARGUMENTS.\n"
    script: str = "#!/bin/sh\nls -1\n"
    env: str = "KEY=value\nOTHER=${secret:token}\n"


def markdown(
    front: Mapping[str, Any], prose: Mapping[str, str], rubrics: Mapping[str, str], chance: random.Random
) -> str:
    """A Markdown workflow in some form: preamble, order of sections, blank lines, closing hashes, envelope."""
    envelope = {"description": f"words {chance.random()}", "tags": ["x", "y"], "status": "draft", "type": "workflow"}
    kept = chance.sample(list(envelope), chance.randint(0, len(envelope)))
    lines = ["---", *block({**front, **{key: envelope[key] for key in kept}}, chance), "---"]
    lines += chance.choice(([], ["# Title", "", "Free words."], ["", "Other words, `## none`.", "> ## quoted"]))
    for name in chance.sample(list(prose), len(prose)):
        lines += [*_blanks(chance), f"{chance.choice(('## ', ' ##  '))}{name}{chance.choice(('', ' ##', '  '))}"]
        lines += [*_blanks(chance), *prose[name].split("\n"), *_blanks(chance)]
        if name in rubrics:
            lines += ["### gate", *_blanks(chance), *rubrics[name].split("\n"), *_blanks(chance)]
    return "\n".join(lines) + chance.choice(("\n", ""))


def _blanks(chance: random.Random) -> list[str]:
    return chance.choice(([], [], [""], ["", "  ", ""]))


def yaml_text(value: dict[str, Any], chance: random.Random) -> str:
    """A YAML source in some form."""
    top = chance.choice(([], [chance.choice(COMMENTS)], [""]))
    return "\n".join([*top, *block(value, chance)]) + "\n"


def written(sources: Sources, chance: random.Random, folder: Path) -> tuple[str, str]:
    """Write everything below ``folder``; the paths of the Markdown and the YAML root."""
    place = chance.choice(("", "deep/", "deep/er/"))
    roots = f"workflows/{place}{chance.choice(('a', 'b'))}.md", f"workflows/{place}y{chance.randint(0, 9)}.yml"
    front_of_command = chance.choice(("", "---\ndescription: d\n---\n", "---\ntags: [t] # c\n---\n\n"))
    renamed = {**sources.yaml, "name": f"N{chance.random()}"}
    files = {
        roots[0]: markdown(sources.front, sources.prose, {"ask": sources.rubric}, chance),
        roots[1]: yaml_text(renamed, chance),
        "tasks/t.yml": yaml_text({**sources.task, "description": f"d{chance.random()}"}, chance),
        "workflows/kid.md": markdown(sources.kid, sources.kid_prose, {}, chance),
    }
    files = {name: _line_form(text, chance) for name, text in files.items()}
    files |= {
        "commands/c.md": front_of_command + sources.command,
        "scripts/x.sh": sources.script,
        "env/ci.env": sources.env,
        "env/di.env": "ANOTHER=1\n",
        ".akm/config.json": _json(sources.config, chance),
    }
    for name, text in chance.sample(list(files.items()), len(files)):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return roots


def _line_form(text: str, chance: random.Random) -> str:
    bom = chance.choice(("", "", "\ufeff"))
    return bom + (text.replace("\n", "\r\n") if chance.random() < 0.3 else text)


def _json(value: Any, chance: random.Random) -> str:
    import json

    return json.dumps(value, indent=chance.choice((None, 2)), sort_keys=chance.choice((True, False)))


def edit_at(root: str, *path: str | int) -> Callable[[Sources, Any], None]:
    def change(sources: Sources, value: Any) -> None:
        here = getattr(sources, root)
        for part in path[:-1]:
            here = here[part]
        if value is None:
            del here[path[-1]]
        else:
            here[path[-1]] = value

    return change


_STEPS: Final = ("jobs", "main", "steps")
# Which root moves (M Markdown, Y YAML), where, and to what; None takes the key away.
MOVES: Final[tuple[tuple[str, str, tuple[str | int, ...], Any], ...]] = (
    ("M", "front", ("params", "who", "default"), "none"),
    ("M", "front", ("params", "who", "default"), None),
    ("M", "front", ("params", "rows", "items", "type"), "integer"),
    ("M", "front", ("params", "more"), {"type": "string"}),
    ("M", "front", ("budget", "max_units"), 6),
    ("M", "front", ("budget", "max_tokens"), None),
    ("M", "front", ("outputs", "kind", "from"), "steps.scan.output.list"),
    ("M", "front", ("outputs", "kind", "schema"), None),
    ("M", "front", ("outputs", "all"), {"from": "steps.each.output"}),
    ("M", "front", ("defaults", "timeout"), "4m"),
    ("M", "front", ("defaults", "on_error"), "continue"),
    ("M", "front", ("steps", 0, "unit", "exec", "command", 1), "scam"),
    ("M", "front", ("steps", 0, "unit", "exec", "command"), ["make", "scan", "scan"]),
    ("M", "front", ("steps", 0, "unit", "exec", "cwd"), "lib"),
    ("M", "front", ("steps", 0, "unit", "exec", "cwd"), None),
    ("M", "front", ("steps", 0, "unit", "exec", "pass_env"), ["CI", "HOME"]),
    ("M", "front", ("steps", 0, "unit", "exec", "pass_env"), None),
    ("M", "front", ("steps", 0, "unit", "timeout"), "30001ms"),
    ("M", "front", ("steps", 0, "unit", "timeout"), "none"),
    ("M", "front", ("steps", 0, "unit", "retry", "max"), 2),
    ("M", "front", ("steps", 0, "unit", "retry", "on"), ["timeout", "aborted"]),
    ("M", "front", ("steps", 0, "unit", "retry"), None),
    ("M", "front", ("steps", 0, "unit", "output", "required"), ["kind"]),
    ("M", "front", ("steps", 0, "unit", "env"), ["env/di"]),
    ("M", "front", ("steps", 0, "unit", "env"), ["env/ci", "env/di"]),
    ("M", "front", ("steps", 0, "output"), {"type": "object"}),
    ("M", "front", ("steps", 1, "inputs"), ["params.who"]),
    ("M", "front", ("steps", 1, "inputs"), None),
    ("M", "front", ("steps", 1, "unit", "engine"), "far"),
    ("M", "front", ("steps", 1, "unit", "model"), "exact"),
    ("M", "front", ("steps", 1, "unit", "model"), None),
    ("M", "front", ("steps", 1, "unit", "llm", "temperature"), 1),
    ("M", "front", ("steps", 1, "unit", "llm", "max_tokens"), 7),
    ("M", "front", ("steps", 1, "unit", "llm", "extra_params"), {"seed": 1}),
    ("M", "front", ("steps", 1, "output"), {"enum": ["a", "b"]}),
    ("M", "front", ("steps", 1, "output"), None),
    ("M", "front", ("steps", 1, "gate", "max_loops"), 3),
    ("M", "front", ("steps", 2, "map", "over"), "steps.scan.output.list"),
    ("M", "front", ("steps", 2, "map", "concurrency"), 4),
    ("M", "front", ("steps", 2, "map", "reducer"), "vote"),
    ("M", "front", ("steps", 2, "map", "unit", "engine"), "near"),
    ("M", "front", ("steps", 2, "map", "unit", "isolation"), None),
    ("M", "front", ("steps", 3, "route", "input"), "params.who"),
    ("M", "front", ("steps", 3, "route", "when", 0, "match"), "b"),
    ("M", "front", ("steps", 3, "route", "when", 0, "step"), "last"),
    ("M", "front", ("steps", 3, "route", "default"), "other"),
    ("M", "front", ("steps", 3, "route", "default"), None),
    ("M", "front", ("steps", 5, "unit", "on_error"), None),
    ("Y", "yaml", (*_STEPS, 1, "id"), "s2"),
    ("Y", "yaml", (*_STEPS, 0, "run"), "make most"),
    ("Y", "yaml", (*_STEPS, 0, "shell"), "bash"),
    ("Y", "yaml", (*_STEPS, 0, "working-directory"), "lib"),
    ("Y", "yaml", (*_STEPS, 0, "env", "A"), "2"),
    ("Y", "yaml", (*_STEPS, 0, "env", "B"), "1"),
    ("Y", "yaml", (*_STEPS, 1, "env"), {"A": "1"}),
    ("Y", "yaml", (*_STEPS, 3, "with", "content"), "Tell $ARGUMENTS"),
    ("Y", "yaml", (*_STEPS, 3, "with", "arguments"), "hullo"),
    ("Y", "yaml", (*_STEPS, 4, "with", "who"), "me"),
    ("Y", "yaml", (*_STEPS, 4, "with", "how"), "badly"),
    ("Y", "yaml", (*_STEPS, 5, "with", "n"), 4),
    ("Y", "yaml", (*_STEPS, 5), None),
    ("Y", "task", ("inputs", "how", "default"), "badly"),
    ("Y", "task", ("output", "minLength"), 1),
    ("Y", "task", ("timeout",), 6000),
    ("Y", "task", ("engine",), "twin"),
    ("Y", "task", ("model",), "exact"),
    ("Y", "task", ("redact",), ["TOKEN", "OTHER"]),
    ("Y", "task", ("tools",), None),
    ("Y", "task", ("agent",), "reviewer"),
    ("Y", "task", ("env",), {"A": "1"}),
    ("Y", "kid", ("steps", 0, "unit", "exec", "command", 1), "lid"),
    ("Y", "kid", ("steps", 1, "unit"), {"timeout": "1m"}),
    ("Y", "kid", ("params", "n", "default"), 2),
    ("Y", "kid", ("outputs",), {"o": {"from": "steps.a.output"}}),
    ("Y", "kid_prose", ("b",), "Judge the kids."),
    ("MY", "config", ("engines", "near", "endpoint"), NEAR.replace("v1", "v2")),
    ("MY", "config", ("engines", "near", "apiKey"), "$OTHER_KEY"),
    ("MY", "config", ("engines", "near", "temperature"), 0.25),
    ("MY", "config", ("engines", "coder", "args"), ["-q"]),
    ("MY", "config", ("engines", "coder", "bin"), None),
    ("MY", "config", ("engines", "coder", "platform"), "opencode-sdk"),
    ("MY", "config", ("engines", "coder", "workspace"), "v"),
    ("", "config", ("engines", "near", "concurrency"), 2),  # a width is in no target's hash (spec 2, section 1)
    ("", "config", ("engines", "unused"), {"kind": "agent", "platform": "claude"}),
    ("", "config", ("modelAliases", "unused"), {"*": "x"}),
    ("MY", "config", ("workflow", "maxConcurrency"), 5),
    ("M", "config", ("workflow", "judgeEngine"), "far"),
    ("M", "config", ("workflow", "defaultMapConcurrency"), 2),
    ("M", "config", ("modelAliases", "quick", "near"), "tiny-2"),
)
