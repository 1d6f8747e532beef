"""Nothing that a file, a name or a program's output holds commands the terminal of the person who looks at it."""

from __future__ import annotations

import json
import os
import pty
import re
import sqlite3
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from in_process import Ended, folder_with, run

from akm_run.console import escaped_json, out, say
from akm_run.console import harmless as interpreter_net
from akm_schemas.visible import visible
from akmc.render.escape import json_text
from akmc.render.terminal import harmless as compiler_net

EVIL = "\x1b]0;owned\x07\x1b[31mred\x1b[0m\x9b2J\u202egnp\u2066\u2028\u200b\ufeff\U000e0041"
ESCAPED = EVIL.replace("\x1b", "\\e").replace("\x07", "\\a").replace("\x9b", "\\x9b")
RAW = re.compile(
    "[\x07\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
GOOD = f"""---
description: "{ESCAPED}"
params:
  p: {{type: string, description: "{ESCAPED}", default: "{ESCAPED}"}}
steps:
  - id: a
    inputs: [params.p]
    unit:
      exec: {{command: [printf, "%s", "{ESCAPED}"]}}
  - id: r
    route: {{input: params.p, when: [{{match: "{ESCAPED}", step: b}}]}}
  - id: b
    unit:
      exec: {{command: [sh, -c, "printf '%s' '{ESCAPED}' >&2; exit 3"]}}
      on_error: continue
outputs: {{o: {{from: steps.a.output}}}}
---
# Title {EVIL}

Preamble {EVIL}

## a
Do {EVIL}.

## b
Do.
"""
BAD = f"""---
"{ESCAPED}": 1
steps: [{{id: "{ESCAPED}", unit: {{engine: "{ESCAPED}", timeout: "{ESCAPED}"}}, inputs: ["{ESCAPED}"]}}]
---
## {EVIL}
x
"""
CLASSIC = (
    f"---\ntype: workflow\n---\n# Workflow: {EVIL}\n\n## Step: {EVIL}\nStep ID: a\n\n### Instructions\nDo {EVIL}.\n"
)
NASTY = f"workflows/n{EVIL}.md"
FILES = {
    "workflows/x.md": GOOD.encode(),
    "workflows/bad.md": BAD.encode(),
    "workflows/old.md": CLASSIC.encode(),
    NASTY: BAD.encode(),
    "workflows/bad.yml": f'name: "{ESCAPED}"\n"{ESCAPED}": 1\non: {{"{ESCAPED}": 1}}\njobs: {{x: {{steps: []}}}}\n'.encode(),
}
SOURCES = ("workflows/x.md", "x.json", "workflows/bad.md", NASTY, f"missing{EVIL}")
FORMATS = {
    "check": ("text", "concise", "json", "jsonl", "sarif", "github", "junit"),
    "show": ("text", "json"),
    "graph": ("mermaid", "dot", "svg", "html"),
    "surface": ("text", "json"),
}
COMPILER: list[tuple[str, ...]] = [
    *((name, "--format", form, source) for name, forms in FORMATS.items() for form in forms for source in SOURCES),
    *(
        ("diff", "--format", form, "x.json", source)
        for form in ("text", "json", "markdown", "html")
        for source in SOURCES
    ),
    *(("compile", "--emit", form, "workflows/x.md") for form in ("source-ir", "resolved", "plan", "text")),
    *(("verify", source) for source in SOURCES),
    *(("migrate", source) for source in ("workflows/old.md", *SOURCES)),
    *((name, EVIL) for name in ("explain", "schema", "new", EVIL)),
    *(("config", "get", EVIL), ("config", "set", EVIL, "1"), ("check", f"--{EVIL}"), ("check", "--select", EVIL)),
    *(("compile", "workflows/x.md", "--stop-after", EVIL), ("compile", "workflows/x.md", "--emit", EVIL)),
]
INTERPRETER: list[tuple[str, ...]] = [
    *(
        ("x.json", "--help"),
        ("x.json", f"--{EVIL}", "1"),
        ("x.json", "--p", EVIL, "--dry-run"),
        ("x.json", "--dry-run"),
    ),
    *(("x.json", f"--{option}", EVIL) for option in ("expect", "reuse", "executor", "workspace", "timeout", "replay")),
    *((name, EVIL) for name in ("status", "resume", "abandon", "events", "output", "logs", "import", EVIL)),
    *(("status", "RUN", "--units"), ("status", "RUN", "--units", "--json"), ("list",), ("list", "--json")),
    *(("events", "RUN"), ("output", "RUN"), ("output", "RUN", "o"), ("output", "RUN", EVIL), ("logs", "RUN")),
    *(("logs", "RUN", "a:solo"), ("logs", "RUN", EVIL), ("why", "RUN", "a:solo"), ("why", "RUN", EVIL), ("RUN",)),
    *(("report", "RUN", "-o", "-"), ("export", EVIL, "-o", "e"), ("prune", "--older-than", EVIL), ("RUN", "--json")),
]
EXACT = {  # what programs read byte for byte, and so holds on a pipe what it holds: JSON escapes all but C1 and direction
    *(("compile", "--emit", form, "workflows/x.md") for form in ("source-ir", "resolved", "plan")),
    *(("logs", "RUN"), ("logs", "RUN", "a:solo"), ("output", "RUN", "o"), ("migrate", "workflows/old.md")),
}


@pytest.fixture(scope="module")
def run_id() -> Iterator[str]:
    """A finished run in the current directory."""
    with folder_with(FILES):
        assert run("akmc", "compile", "workflows/x.md", "-o", "x.json").status == 0
        yield str(json.loads(run("akm-run", "x.json", "--json").out)["runId"])


def raw_in(ended: Ended) -> list[str]:
    return [match[0] for match in RAW.finditer(ended.out.decode() + ended.err.decode())]


@pytest.mark.parametrize("program", ["akmc", "akm-run"])
def test_no_command_writes_what_commands_a_terminal(program: str, run_id: str) -> None:
    calls = COMPILER if program == "akmc" else INTERPRETER
    found: dict[tuple[str, ...], list[str]] = {}
    statuses = set()
    for words in calls:
        filled = tuple(run_id if word == "RUN" else word for word in words)
        for terminal in (True, False):
            ended = run(program, *filled, terminal=terminal)
            statuses.add(ended.status)
            raw = [char for char in raw_in(ended) if not (terminal and char == "\x1b")]
            if raw and not (not terminal and words in EXACT):
                found[(*words, str(terminal))] = raw
            colours = re.sub("\x1b\\[(?:[012]|[39][1-6]|1;3[1-6])m", "", ended.text)
            assert "\x1b" not in colours or words in EXACT, words
    assert found == {}
    assert statuses <= {0, 1, 2}


def test_escaped_json_is_the_same_document(run_id: str) -> None:
    for terminal in (True, False):
        plan = json.loads(run("akmc", "compile", "workflows/x.md", terminal=terminal).out)
        assert plan["params"]["p"]["default"] == EVIL
        document = json.loads(run("akm-run", "status", run_id, "--json", terminal=terminal).out)
        assert document["outputs"] == {"o": EVIL}
    assert run("akm-run", "output", run_id, "o").out.decode() == EVIL + "\n"


@pytest.mark.parametrize(
    "character", [*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), *"\u202e\u2066\u200f\u061c"]
)
def test_the_nets_below_the_commands_let_nothing_through(character: str) -> None:
    for shown in (compiler_net(f"a{character}b".encode()).decode(), interpreter_net(f"a{character}b")):
        assert (character in shown) == (character in "\n\t")
    for colour in ("\x1b[31m", "\x1b[0m"):
        assert compiler_net(colour.encode()).decode() == interpreter_net(colour) == colour
    for command in ("\x1b[8m", "\x1b[38;5;1m", "\x1b[2K", "\x1b]8;;http://x\x07", "\x1bc"):
        assert "\x1b" not in compiler_net(command.encode()).decode() + interpreter_net(command)


def test_both_programs_hide_the_same_characters_of_all_there_are() -> None:
    """One definition: whatever one program escapes, as text, as JSON and in its net, the other does."""
    everything = [
        char
        for char in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(char) not in ("Cn", "Cs") or ord(char) & 0xFFFE == 0xFFFE
    ]
    hidden = {c for c in everything if unicodedata.category(c) in {"Cc", "Cf", "Zl", "Zp"} or ord(c) & 0xFFFE == 0xFFFE}
    open_ones = {*everything} - hidden
    text = "".join(everything)
    assert {*visible(text)} == open_ones
    assert {*interpreter_net(text)} == open_ones | {*"\t\n"}
    document = json.dumps(text, ensure_ascii=False)
    for written in (
        json_text(text),
        escaped_json(document.encode()).decode(),
        compiler_net(document.encode()).decode(),
    ):
        assert {*written} == open_ones
        assert json.loads(written) == text


def test_events_of_a_state_file_that_somebody_edited_are_escaped_on_a_pipe_too() -> None:
    with folder_with(
        {"workflows/x.md": b'---\nsteps: [{id: a, unit: {exec: {command: ["true"]}}}]\n---\n# T\n\n## a\nx\n'}
    ):
        assert run("akmc", "compile", "workflows/x.md", "-o", "x.json").status == 0
        edited = str(json.loads(run("akm-run", "x.json", "--json").out)["runId"])
        with closing(sqlite3.connect(".akm/state.db")) as database, database:
            database.execute("UPDATE events SET type = type || ? WHERE seq = 1", ("\u202e\u200b\U000e0041##[error]x",))
        first = run("akm-run", "events", edited).out.decode().splitlines()[0]
        assert json.loads(first)["type"].endswith("\u202e\u200b\U000e0041##[error]x")
        assert first.isascii() and "##[" not in first


def test_a_real_terminal_gets_no_command(tmp_path: Path) -> None:
    (tmp_path / "workflows").mkdir()
    (tmp_path / "workflows" / "old.md").write_text(CLASSIC)
    main, side = pty.openpty()
    argv = [sys.executable, "-m", "akmc", "migrate", "workflows/old.md"]
    process = subprocess.Popen(argv, cwd=tmp_path, stdout=side, stderr=side, stdin=side)
    os.close(side)
    seen = b""
    while True:
        try:
            chunk = os.read(main, 65536)
        except OSError:  # the other side is closed
            break
        if not chunk:
            break
        seen += chunk
    process.wait()
    os.close(main)
    assert b"owned" in seen and b"\x1b]" not in seen and b"\x07" not in seen


def test_what_the_interpreter_says_to_people_is_escaped_on_a_pipe_too(
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    out(f"a{EVIL}\n")
    say(f"b{EVIL}")
    out(EVIL.encode())
    written, said = capsysbinary.readouterr()
    text, exact = written.split(b"\n", 1)
    assert not RAW.search(text.decode().replace("\x1b[31m", "").replace("\x1b[0m", ""))
    assert not RAW.search(said.decode().replace("\x1b[31m", "").replace("\x1b[0m", ""))
    assert exact == EVIL.encode()
