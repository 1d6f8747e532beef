"""What a comparison says of --reuse is what ``akm-run NEW --reuse RUN`` does, inside composed workflows too."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from akm_run.cli import run as run_akm_run
from akmc.cli import run as run_akmc

KID, MID, PAR = "workflows/kid.md", "workflows/mid.yml", "workflows/par.yml"
HEAD: Final = """\
name: {}
on: {{workflow_dispatch: {{}}}}
jobs:
  main:
    runs-on: [self-hosted]
    steps:
"""
FILES: Final = {
    KID: """\
---
params:
  p: {type: string}
  q: {type: integer, default: 1}
  r: {type: string, default: r}
steps:
  - id: s
    inputs: [params.p]
    unit: {exec: {command: [echo, s]}}
  - id: t
    inputs: [steps.s.output]
    unit: {exec: {command: [echo, t]}}
---
## s
S
## t
T
""",
    MID: HEAD.format("mid")
    + """\
      - {id: a, run: echo Ada}
      - {id: in, uses: workflows/kid, with: {p: {from: steps.a.output}, q: 3}}
""",
    PAR: HEAD.format("par")
    + """\
      - {id: a, run: echo Ada}
      - {id: b, run: echo Ada}
      - {id: given, uses: workflows/kid, with: {p: Ada}}
      - {id: read, uses: workflows/kid, with: {p: {from: steps.a.output}}}
      - {id: mid, uses: workflows/mid}
""",
}
SAYS: Final = {"reuse": "reused", "run": "again", "unknown": "again"}
GIVEN, READ, MIDDLE = ("given/s", "given/t"), ("read/s", "read/t"), ("mid/in/s", "mid/in/t")

# file, text, its replacement; which steps inside surely run again, and which do on a condition
EDITS: Final = [
    (KID, "p: {type: string}", "p: {type: string, description: a name}", (), ()),
    (KID, "p: {type: string}", "p: {type: string, minLength: 2}", (), ()),
    (KID, "p: {type: string}", "p: {type: string, default: none}", (), ()),
    (KID, "q: {type: integer, default: 1}", "q: {type: integer, default: 2}", (*GIVEN, *READ), ()),
    (KID, "r: {type: string, default: r}", "r: {type: string}", (*GIVEN, *READ, *MIDDLE), ()),
    (KID, "  r: {type: string, default: r}\n", "", (*GIVEN, *READ, *MIDDLE), ()),
    (KID, "[echo, s]", "[echo, other]", ("given/s", "read/s", "mid/in/s"), ("given/t", "read/t", "mid/in/t")),
    (KID, "[echo, t]", "[echo, other]", ("given/t", "read/t", "mid/in/t"), ()),
    (MID, "q: 3", "q: 4", MIDDLE, ()),
    (MID, "q: 3", "q: 3, r: r", (), ()),
    (MID, "echo Ada", "echo Bob", ("mid/a",), ("mid/in",)),
    (PAR, "{p: Ada}", "{p: Ada, q: 1}", (), ()),
    (PAR, "{p: Ada}", "{p: Ada, q: 2}", GIVEN, ()),
    (PAR, "{p: Ada}", "{p: Bob}", GIVEN, ()),
    (PAR, "{p: Ada}", "{p: {from: steps.b.output}}", (), GIVEN),
    (PAR, "{p: {from: steps.a.output}}", "{p: Ada}", (), READ),
    (PAR, "{p: {from: steps.a.output}}", "{p: {from: steps.b.output}}", (), READ),
    (PAR, "{p: {from: steps.a.output}}", "{p: {from: steps.a.output}, r: r, q: 1}", (), ()),
    (PAR, "{p: {from: steps.a.output}}", "{p: {from: steps.a.output}, r: s}", READ, ()),
    (PAR, "id: a, run: echo Ada", "id: a, run: echo Ada Ada", (), ()),
]


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A folder with ``old.json`` and the id of its run, which completed."""
    folder = tmp_path_factory.mktemp("reuse")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("AKM_CONFIG_DIR", str(folder / "none"))
        write(folder, FILES)
        assert run_akmc(["compile", PAR, "-o", "old.json"]) == 0
        words = [sys.executable, "-m", "akm_run", "old.json", "--json"]
        yield folder, json.loads(subprocess.run(words, capture_output=True, check=True).stdout)["runId"]


def forecast(steps: list[dict[str, Any]], prefix: str = "") -> Iterator[tuple[str, set[str]]]:
    """The id of each step and what a dry run says of its units (nothing while its inputs are not known), inside what runs again too."""
    for step in steps:
        yield prefix + step["id"], {SAYS[unit["verdict"]] for unit in step.get("units", [])} or {"again"}
        yield from forecast(step.get("child", []), f"{prefix}{step['id']}/")


@pytest.mark.parametrize(("name", "text", "instead", "again", "depends"), EDITS)
def test_the_prediction_holds(
    ran: tuple[Path, str],
    capsys: pytest.CaptureFixture[str],
    name: str,
    text: str,
    instead: str,
    again: tuple[str, ...],
    depends: tuple[str, ...],
) -> None:
    folder, run_id = ran
    assert text in FILES[name]
    write(folder, {**FILES, name: FILES[name].replace(text, instead)})
    assert run_akmc(["compile", PAR, "-o", "new.json"]) == 0
    capsys.readouterr()
    assert run_akmc(["diff", "old.json", "new.json", "--format", "json"]) == 0
    said = {step["id"]: step["reuse"] for step in json.loads(capsys.readouterr().out)["steps"]}
    assert tuple(step for step in said if "/" in step and said[step] == "again" and not step.endswith("/in")) == again
    assert tuple(step for step in said if "/" in step and said[step] == "depends") == depends
    assert run_akm_run(["new.json", "--reuse", run_id, "--dry-run", "--json"]) == 0
    came = dict(forecast(json.loads(capsys.readouterr().out)["steps"]))
    known = {step: {verdict} for step, verdict in said.items() if verdict != "depends"}
    assert known == {step: came[step] for step in known}
