"""Small edits of a rich workflow, as a person makes them: their classes, their words, their places."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from akm_schemas.plan import Plan
from akmc.diff.captured import captured
from akmc.diff.compare import compare_plans
from akmc.diff.json_format import json_format
from akmc.diff.model import PlanDiff
from akmc.diff.places import Sources
from akmc.diff.text_format import text_format
from akmc.session.freezing import compile_source

SOURCE: Final = """\
---
description: d
params:
  mode: {type: string, enum: [fast, slow], default: fast}
  rows: {type: array, items: {type: string, minLength: 2}}
  n: {type: integer, minimum: 1, maximum: 9}
  free: {}
defaults: {timeout: 5m}
budget: {max_units: 9}
outputs:
  report: {from: steps.ask.output}
  kind: {from: steps.scan.output.kind, schema: {type: string}}
steps:
  - id: scan
    unit:
      exec: {command: [make, scan, -j, "2"], cwd: src, pass_env: [CI, HOME]}
      env: [env/ci]
      output: {type: object, properties: {kind: {enum: [a, b]}, list: {type: array}}, required: [kind]}
  - id: ask
    inputs: [steps.scan.output.kind, params.mode]
    unit: {llm: {temperature: 0}}
    output: {type: string}
    gate: {max_loops: 2}
  - id: each
    map: {over: params.rows, unit: {engine: far}}
  - id: fork
    route: {input: params.mode, when: [{match: fast, step: one}, {match: slow, step: two}], default: last}
  - id: one
    unit: {exec: {command: [echo, one]}}
  - id: two
    unit: {exec: {command: [echo, two]}}
  - id: last
    unit: {exec: {command: [echo, last]}}
---
# Title

## scan
Scans.
## ask
List each open file.

Say why it is open.
### gate
- each file is listed
## each
Look at one row.
## one
One.
## two
Two.
## last
Ends.
"""
CONFIG: Final[dict[str, Any]] = {
    "engines": {
        "near": {"kind": "llm", "endpoint": "http://127.0.0.1:9/v1/chat/completions", "model": "tiny", "apiKey": "$K"},
        "far": {"kind": "llm", "endpoint": "https://e.com/chat/completions", "model": "big"},
        "coder": {"kind": "agent", "platform": "claude", "args": ["-p"]},
    },
    "defaults": {"engine": "near"},
    "workflow": {"judgeEngine": "near", "maxConcurrency": 4},
}

Files = dict[str, str]
Edit = Callable[[Files], None]


def edit(changes: dict[str, str]) -> Edit:
    """Replace texts of the workflow."""

    def apply(files: Files) -> None:
        for old, new in changes.items():
            assert old in files["workflows/a.md"]
            files["workflows/a.md"] = files["workflows/a.md"].replace(old, new)

    return apply


def config(value: Any, *path: str) -> Edit:
    """Set a key of the config."""

    def apply(files: Files) -> None:
        whole = deepcopy(CONFIG)
        here = whole
        for part in path[:-1]:
            here = here[part]
        here[path[-1]] = value
        files[".akm/config.json"] = json.dumps(whole)

    return apply


def file(name: str, text: str) -> Edit:
    """Write another file of the bundle."""
    return lambda files: files.update({name: text})


def frozen(folder: Path, files: Files) -> tuple[Plan, Sources]:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(text.encode())
    path = str(folder / "workflows" / "a.md")
    result = compile_source(path)
    assert result.plan is not None, [finding.message for finding in result.findings]
    return result.plan, captured(result, path, None)


@pytest.fixture
def changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Edit], tuple[PlanDiff, PlanDiff]]:
    """The comparison with an edited bundle, forth and back."""
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "none"))
    files = {
        "workflows/a.md": SOURCE,
        "env/ci.env": "KEY=1\n",
        "env/di.env": "B=1\n",
        ".akm/config.json": json.dumps(CONFIG),
    }
    old = frozen(tmp_path / "old", files)

    def run(change: Edit) -> tuple[PlanDiff, PlanDiff]:
        change(files)
        new = frozen(tmp_path / "new", files)
        forth = compare_plans(old[0], new[0], (old[1], new[1]))
        return forth, compare_plans(new[0], old[0], (new[1], old[1]))

    return run


TRIES: Final[list[tuple[Edit, str, list[str]]]] = [
    (edit({"enum: [fast, slow]": "enum: [fast, slow, x]"}), "behaviour", ["accepts more"]),
    (edit({", default: fast}": "}"}), "breaking", ["lost its default"]),
    (edit({"default: fast": "default: slow"}), "behaviour", ['default is "slow"']),
    (edit({"n: {type: integer,": "n: {type: [integer, string],"}), "behaviour", ["accepts more"]),
    (edit({"minimum: 1": "minimum: 2"}), "breaking", ["1 was accepted"]),
    (edit({"minimum: 1": "minimum: 0"}), "behaviour", ["accepts more"]),
    (edit({", maximum: 9": ""}), "behaviour", ["more"]),
    (edit({"minLength: 2": "minLength: 3"}), "breaking", ["accepts less"]),
    (edit({"minLength: 2": "minLength: 1"}), "behaviour", ["more"]),
    (edit({"free: {}": "free: {type: string}"}), "breaking", ["accepts less"]),
    (edit({"  free: {}": "  free: {}\n  extra: {type: string}"}), "behaviour", ["param extra"]),
    (
        edit(
            {
                "  free: {}\n": "  free: {}\n  extra: {type: string}\n",
                "inputs: [steps.scan.output.kind, params.mode]": "inputs: [steps.scan.output.kind, params.extra]",
            }
        ),
        "behaviour breaking",
        ["every caller must give"],
    ),
    (edit({"  free: {}\n": ""}), "breaking", ["param is gone"]),
    (edit({"free: {}": "free: {description: x}"}), "behaviour", ["annotations"]),
    (edit({"  report: {from: steps.ask.output}\n": ""}), "breaking", ["export is gone"]),
    (edit({"outputs:\n": "outputs:\n  more: {from: steps.each.output}\n"}), "behaviour", ["new export"]),
    (edit({"schema: {type: string}": "schema: {type: [string, 'null']}"}), "breaking", ["may yield more"]),
    (edit({"schema: {type: string}": "schema: {enum: [a, b]}"}), "behaviour", ["yields less"]),
    (edit({"output: {type: string}": "output: {type: [string, integer]}"}), "behaviour breaking", ["may yield more"]),
    (edit({"output: {type: string}": "output: {enum: [a]}"}), "behaviour", ["yields less"]),
    (
        edit({"report: {from: steps.ask.output}": "report: {from: steps.each.output}"}),
        "behaviour breaking",
        ["comes from"],
    ),
    (edit({'-j, "2"': '-j, "4"'}), "security", ["+ 4"]),
    (edit({"scan, -j": "scan, all, -j"}), "security", ["+ all"]),
    (edit({', -j, "2"': ""}), "security", ["- -j"]),
    (edit({"cwd: src": "cwd: lib"}), "security", ['runs in "lib"']),
    (edit({", cwd: src": ""}), "security", ["workspace root"]),
    (edit({"[CI, HOME]": "[CI, HOME, X]"}), "security", ['can also see "X"']),
    (edit({"[CI, HOME]": "[CI]"}), "security", ['no longer sees "HOME"']),
    (edit({"[CI, HOME]": "[HOME, CI]"}), "security", ["another order"]),
    (edit({"      env: [env/ci]\n": ""}), "security", ["no longer sees env ref"]),
    (edit({"env: [env/ci]": "env: [env/ci, env/di]"}), "security", ['env ref "env/di"']),
    (edit({"timeout: 5m": "timeout: 6m"}), "behaviour", ["timeout is 6m, was 5m"]),
    (edit({"max_units: 9": "max_units: 8"}), "behaviour", ["budget.max_units is 8"]),
    (edit({"budget: {max_units: 9}\n": ""}), "behaviour", ["not set"]),
    (edit({"temperature: 0": "temperature: 1"}), "behaviour", ['llm "temperature"']),
    (edit({"max_loops: 2": "max_loops: 3"}), "behaviour", ["max_loops is 3"]),
    (edit({"is listed": "is named"}), "behaviour", ["{+named+}"]),
    (
        edit({"### gate\n- each file is listed\n": "", "    gate: {max_loops: 2}\n": ""}),
        "behaviour",
        ["no longer verified"],
    ),
    (
        edit({"## each\nLook at one row.\n": "## each\nLook at one row.\n### gate\nIs fine.\n"}),
        "behaviour",
        ["is verified now"],
    ),
    (edit({"Say why it is open.": "Say why it is shut."}), "behaviour", ["[-open-]", "{+shut+}"]),
    (edit({"Scans.": "Scans all."}), "provenance", ["no change in behaviour"]),
    (edit({", params.mode]": "]"}), "behaviour", ["reads"]),
    (edit({"default: last}": "default: two}"}), "behaviour", ['default is "two"']),
    (edit({"{match: fast, step: one}": "{match: fast, step: two}"}), "behaviour", ['goes to step "two"']),
    (
        edit(
            {
                "when: [{match: fast, step: one}, {match: slow, step: two}]": "when: [{match: slow, step: two}, {match: fast, step: one}]"
            }
        ),
        "behaviour",
        ["another order"],
    ),
    (edit({"over: params.rows": "over: steps.scan.output.list"}), "behaviour", ["over is"]),
    (edit({"over: params.rows": "over: params.rows, concurrency: 2"}), "behaviour", ["concurrency is 2"]),
    (edit({"over: params.rows": "over: params.rows, reducer: vote"}), "behaviour", ["reducer"]),
    (
        edit({"engine: far": "engine: coder"}),
        "behaviour security",
        ['prompts claude agent "coder" (-p), prompted llm engine "far"'],
    ),
    (edit({"engine: far": "engine: coder, isolation: worktree"}), "behaviour security", ["isolation"]),
    (
        edit({"unit: {exec: {command: [echo, one]}}": "unit: {exec: {command: [echo, one]}, on_error: continue}"}),
        "behaviour",
        ["on_error"],
    ),
    (
        edit(
            {
                "unit: {exec: {command: [echo, one]}}": "unit: {exec: {command: [echo, one]}, retry: {max: 1, on: [timeout]}}"
            }
        ),
        "behaviour",
        ["retry.max is 1"],
    ),
    (
        edit(
            {
                "  - id: one\n    unit: {exec: {command: [echo, one]}}\n": "",
                "## one\nOne.\n": "",
                "{match: fast, step: one}": "{match: fast, step: two}",
            }
        ),
        "behaviour",
        ["step is gone"],
    ),
    (
        edit(
            {
                "  - id: last\n": "  - id: more\n    unit: {exec: {command: [rm, -rf, x]}}\n  - id: last\n",
                "## last": "## more\nM.\n## last",
            }
        ),
        "security",
        ["runs `rm -rf x`"],
    ),
    (
        edit({"id: last": "id: final", "default: last": "default: final", "## last": "## final"}),
        "behaviour",
        ['was called "last"'],
    ),
    (
        edit(
            {
                "  - id: each\n    map: {over: params.rows, unit: {engine: far}}\n": "",
                "  - id: one\n": "  - id: each\n    map: {over: params.rows, unit: {engine: far}}\n  - id: one\n",
            }
        ),
        "behaviour",
        ["moved"],
    ),
    (
        edit({"id: scan": "id: survey", "## scan": "## survey", "steps.scan": "steps.survey"}),
        "behaviour",
        ['was called "scan"'],
    ),
    (edit({"steps:": "steps: # c"}), "provenance", ["no change in behaviour"]),
    (edit({"description: d": "description: e"}), "provenance", ["no change"]),
    (edit({"\n": "\r\n"}), "provenance", ["no change"]),
    (edit({"# Title": "# Other"}), "provenance", ["title"]),
    (edit({"## one\nOne.\n## two\nTwo.\n": "## two\nTwo.\n## one\nOne.\n"}), "provenance", []),
    (config("http://127.0.0.1:8/v1/chat/completions", "engines", "near", "endpoint"), "security", ["engine endpoint"]),
    (config("huge", "engines", "near", "model"), "behaviour", ['model is "huge"']),
    (config("$Z", "engines", "near", "apiKey"), "security", ["variable that holds the key"]),
    (config(7, "engines", "near", "concurrency"), "provenance", ['concurrency of engine "near" is 7, was 1']),
    (config(2, "workflow", "maxConcurrency"), "behaviour", ["concurrency of a run is 2"]),
    (config("far", "workflow", "judgeEngine"), "behaviour security", ["(gate)"]),
    (config("far", "defaults", "engine"), "behaviour security", ["endpoint"]),
    (config(0.3, "engines", "far", "temperature"), "behaviour", ['"temperature"']),
    (config(2, "workflow", "defaultMapConcurrency"), "behaviour", ["concurrency is 2"]),
    (file("env/ci.env", "KEY=1\nMORE=2\n"), "security", ['more keys: "MORE"']),
    (file("env/ci.env", "KEY=${secret:tok}\n"), "security", ['more secrets: "tok"']),
    (file("env/ci.env", "KEY=2\n"), "provenance", ["no change"]),
]


@pytest.mark.parametrize(("change", "classes", "says"), TRIES)
def test_an_edit(changed: Any, published: Any, change: Edit, classes: str, says: list[str]) -> None:
    forth, back = changed(change)
    assert sorted({found.class_ for found in forth.changes}) == classes.split()
    text = text_format(forth, "old", "new", color=False)
    assert [words for words in says if words not in text] == []
    assert text.splitlines()[0].startswith("old -> new: ")
    for diff in (forth, back):
        assert diff.changes
        published.validate(json.loads(json_format(diff, "old", "new")))


@pytest.fixture(scope="module")
def published() -> Any:
    from importlib.resources import files

    schema = json.loads((files("akmc.diff") / "diff.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@pytest.mark.parametrize(
    ("change", "key", "new", "old"),
    [
        (edit({"minimum: 1": "minimum: 2"}), "n: {type: integer, ", "minimum: 2", "minimum: 1"),
        (edit({"default: fast}": "default: slow}"}), "slow], ", "default: slow", "default: fast"),
        (edit({"default: fast}": "enum: [fast]}", "enum: [fast, slow], ": ""}), "  ", "mode: {", None),
        (edit({"minLength: 2": "minLength: 1"}), "{type: string, ", "minLength: 1", "minLength: 2"),
        (edit({"schema: {type: string}": "schema: {type: number}"}), "schema: {", "type: number", "type: string}}"),
        (edit({"max_units: 9": "max_units: 8"}), "budget: {", "max_units: 8", "max_units: 9"),
        (edit({'-j, "2"': "-k"}), "scan, ", "-k]", '-j, "2"'),
        (edit({"cwd: src": "cwd: lib"}), '"2"], ', "cwd: lib", "cwd: src"),
        (edit({", cwd: src": ""}), "      ", "exec: {command: [make", "cwd: src"),
        (edit({"[CI, HOME]": "[CI, HOME, X]"}), "HOME, ", "X]", "HOME]"),
        (edit({"temperature: 0": "temperature: 1"}), "llm: {", "temperature: 1", "temperature: 0"),
        (edit({"timeout: 5m": "timeout: 6m"}), "defaults: {", "timeout: 6m", "timeout: 5m"),
        (edit({"max_loops: 2": "max_loops: 3"}), "gate: {", "max_loops: 3", "max_loops: 2"),
        (edit({"is listed": "is named"}), "", "- each file is named", "- each file is listed"),
        (edit({"is open.": "is shut."}), "", "Say why it is shut.", "Say why it is open."),
        (edit({"step: one}": "step: two}"}), "when: [", "{match: fast, step: two}", "{match: fast, step: one}"),
        (edit({"over: params.rows": "over: steps.scan.output.list"}), "map: {", "over: steps", "over: params"),
        (
            edit({"report: {from: steps.ask.output}": "report: {from: steps.each.output}"}),
            "report: {",
            "from: steps.e",
            "from: steps.a",
        ),
        (edit({", params.mode]": ", params.n]"}), "kind, ", "params.n]", "params.mode]"),
    ],
)
def test_the_place_is_that_of_the_key(changed: Any, change: Edit, key: str, new: str, old: str | None) -> None:
    """``key`` stands right before what is pointed at, which begins with ``new`` in the new source and ``old`` in the old
    one (where it stands elsewhere or not)."""
    forth, back = changed(change)
    files = {"workflows/a.md": SOURCE}
    change(files)
    after, before = files["workflows/a.md"].split("\n"), SOURCE.split("\n")
    places = [(found.place, found.old_place) for found in forth.changes if found.place]
    assert places
    pointed = []
    for place, old_place in places:
        line = after[place.line - 1]
        was = before[old_place.line - 1][old_place.column - 1 :] if old_place else ""
        pointed.append((line[: place.column - 1].endswith(key) and line[place.column - 1 :].startswith(new), was))
    assert any(there and (old is None or was.startswith(old)) for there, was in pointed), places
    assert {found.place.side for found in back.changes if found.place} == {"new"}


def test_what_is_gone_is_pointed_at_in_the_old_source(changed: Any) -> None:
    forth, back = changed(edit({"  free: {}\n": ""}))
    (gone,), (came,) = forth.changes, back.changes
    assert (gone.place.side, gone.old_place) == ("old", gone.old_place)
    assert SOURCE.split("\n")[gone.place.line - 1] == "  free: {}"
    assert (came.place.side, came.place.line) == ("new", gone.place.line)


def test_a_plan_file_is_placed_by_its_sources_while_they_are_those(tmp_path: Path, changed: Any) -> None:
    del changed
    files = {"workflows/a.md": SOURCE, "env/ci.env": "KEY=1\n", ".akm/config.json": json.dumps(CONFIG)}
    plan, compiled = frozen(tmp_path / "plans", files)
    from akmc.session.freezing import PlanResult

    found = captured(PlanResult(plan), str(tmp_path / "plans" / "deep" / "plan.json"), None)
    assert set(found.texts) < set(compiled.texts) and SOURCE.encode() in found.texts.values()
    (tmp_path / "plans" / "workflows" / "a.md").write_text(SOURCE + "\n")
    assert captured(PlanResult(plan), str(tmp_path / "plans" / "plan.json"), None).texts == {}
