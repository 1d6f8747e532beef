"""No text of others in what ``akm-run`` prints for people is a command to CI, which reads the logs of its jobs.

GitHub takes a line that begins, after blanks, with ``::name::`` for one, and ``##[name]`` anywhere in a line; Azure
Pipelines takes ``##vso[...]``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

import pytest
from in_process import Ended, folder_with, run

from akm_run.console import barred, out, say

ATTACK: Final = "::error::owned\n::error::owned\r\n  ::error::owned\n##[error]owned\nx ##[add-path]y ##vso[task.x]z\n"
COMMAND: Final = re.compile(r"^\s*::|##[A-Za-z]*\[", re.MULTILINE)
SOURCE: Final = f"""---
params:
  p: {{type: string, default: {json.dumps(ATTACK)}, description: {json.dumps(ATTACK + "  --name TEXT  fake")}}}
  q: {{type: string, default: x, description: "::error::owned"}}
steps:
  - id: a
    inputs: [params.p]
    unit: {{exec: {{command: [printf, "%s", {json.dumps(ATTACK)}]}}}}
  - id: b
    unit: {{exec: {{command: [sh, -c, "cat >&2 <<'E'\\n$AKM_PARAMS\\n::error::owned\\n##[error]owned\\nE\\nexit 3"]}}, on_error: continue}}
  - id: c
    unit: {{exec: {{command: [printf, x]}}}}
outputs: {{o: {{from: steps.a.output}}}}
---
# Title

## a
x

## b
x

## c
x

### gate
{ATTACK}
"""
CONFIG: Final = {
    "engines": {
        "j": {
            "kind": "agent",
            "platform": "command",
            "bin": "sh",
            "args": [
                "-c",
                f"cat >/dev/null; printf %s '{json.dumps({'complete': False, 'missing': [ATTACK], 'feedback': ATTACK})}'",
            ],
        }
    },
    "workflow": {"judgeEngine": "j"},
}
CALLS: Final[tuple[tuple[str, ...], ...]] = (
    *(("x.json",), ("x.json", "--events", "-"), ("x.json", "--help"), ("x.json", "--dry-run"), ("x.json", "--json")),
    *(("status", "RUN"), ("status", "RUN", "--units"), ("status", "RUN", "--units", "--json"), ("events", "RUN")),
    *(("why", "RUN", "c:solo"), ("why", "RUN", "b:solo"), ("why", "RUN", ATTACK), ("output", "RUN"), ("list",)),
    *(
        ("x\n::error::owned.json",),
        ("::error::owned",),
        ("status", ATTACK),
        ("x.json", f"--{ATTACK}"),
        ("x.json", ATTACK),
    ),
    *(("x.json", "--expect", ATTACK), ("x.json", "--workspace", ATTACK), ("list", ATTACK), ("import", ATTACK)),
    *(("x.json", "--color", ATTACK), ("x.json", "--timeout", ATTACK), ("report", "RUN", "-o", f"{ATTACK}/x")),
)


@pytest.fixture(scope="module")
def run_id() -> Iterator[str]:
    """A run in the current directory whose units, judge and params hold commands."""
    files = {
        "workflows/x.md": SOURCE.encode(),
        "workflows/y.md": SOURCE.partition("\n### gate")[0].encode(),
        ".akm/config.json": json.dumps(CONFIG).encode(),
    }
    with folder_with(files):
        for name in "xy":
            compiled = run("akmc", "compile", f"workflows/{name}.md", "-o", f"{name}.json")
            assert compiled.status == 0, compiled.text
        yield str(json.loads(run("akm-run", "x.json", "--json").out)["runId"])


def called(words: tuple[str, ...], run_id: str) -> Ended:
    return run("akm-run", *(run_id if word == "RUN" else word for word in words))


@pytest.mark.parametrize("words", CALLS, ids=lambda words: " ".join(words)[:40])
def test_no_line_for_people_is_a_command_to_ci(words: tuple[str, ...], run_id: str) -> None:
    ended = called(words, run_id)
    assert ended.status in (0, 1, 2), ended.text
    assert COMMAND.findall(ended.out.decode()) + COMMAND.findall(ended.err.decode()) == []


def test_texts_of_others_stand_behind_bars(run_id: str) -> None:
    status = called(("status", "RUN", "--units"), run_id).out.decode()
    assert "      output: ::error::owned\n        | ::error::owned\n        |   ::error::owned\n" in status
    assert "\n      | ::error::owned\n      | ##\\x5berror]owned\n" in status  # of what b said
    why = called(("why", "RUN", "c:solo"), run_id).out.decode()
    assert "\n         | ::error::owned\n" in why


def test_documents_for_programs_stay_the_same(run_id: str) -> None:
    text = called(("status", "RUN", "--json"), run_id).out
    assert json.loads(text)["steps"][0]["output"] == ATTACK.rstrip()
    completed = str(json.loads(run("akm-run", "y.json", "--json").out)["runId"])
    assert json.loads(called(("output", "RUN"), completed).out)["o"] == ATTACK.rstrip()
    assert called(("output", "RUN", "o"), completed).out.decode() == ATTACK  # as it is: see docs/security.md


def test_a_description_of_several_lines_forges_no_param(run_id: str) -> None:
    shown = called(("x.json", "--help"), run_id).out.decode().partition("Params of ")[2].splitlines()
    flags = [line for line in shown if re.match(r" {0,5}\S", line)]
    assert [line.split()[0] for line in flags] == ["Title:", "--p", "--q"]
    assert "        --name TEXT  fake" in shown


def test_names_in_messages_stay_on_one_line(run_id: str) -> None:
    ended = called(("x\n::error::owned.json",), run_id)
    assert ended.err.decode().splitlines()[0].startswith('akm-run: "x\\n::error::owned.json" is neither')
    assert len(ended.err.splitlines()) == 2


def test_the_net_below_the_commands(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    out("::a\n \t::b\nc ::d\n##[e] ##vso[f] ## [g]\n")
    say("::a", "b\n::c", "##[d]")
    written, said = (data.decode() for data in capsysbinary.readouterr())
    assert written == "\\x3a:a\n \t\\x3a:b\nc ::d\n##\\x5be] ##vso\\x5bf] ## [g]\n"
    assert said == "\\x3a:a\nb\\n::c\n##\\x5bd]\n"
    assert barred("a\n\nb\r\n", "  ") == ["  | a", "  |", "  | b"]


@pytest.mark.parametrize(
    ("text", "printed"), [("::error::a\n", "\\x3a:error::a\n"), ("x ##[error]a\n", "x ##\\x5berror]a\n")]
)
def test_one_kind_of_command_alone(capfd: pytest.CaptureFixture[str], text: str, printed: str) -> None:
    out(text)
    assert capfd.readouterr().out == printed
