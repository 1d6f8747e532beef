"""``akmc diff --merge-base`` in a real repository: every workflow of a branch, whatever happened to it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from akmc.cli import run
from akmc.diff.markdown_format import MAX_UNITS, units
from akmc.faults import CONFIG, FOUND, OK, USAGE

Capture = pytest.CaptureFixture[str]
Akmc = Callable[..., tuple[int, str, str]]


def source(command: str, name: str = "build") -> str:
    return f"---\nsteps:\n  - id: {name}\n    unit: {{exec: {{command: [{command}]}}}}\n---\n## {name}\nRuns.\n"


def write(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


def git(*words: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *who, *words], check=True, capture_output=True, text=True).stdout


def commit() -> None:
    git("add", "-A")
    git("commit", "-qm", "more")


@pytest.fixture
def akmc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> Akmc:
    """A repository with a branch ``main`` of four workflows, ``topic`` checked out; runs a command in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    git("init", "-q", "-b", "main")
    for name in ("changed", "deleted", "same", "form"):
        write(f"workflows/{name}.md", source(f"make, {name}"))
    commit()
    git("switch", "-qc", "topic")

    def call(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        status = run(["diff", *arguments])
        return status, *capfd.readouterr()

    return call


def branch() -> None:
    """What a branch may do to workflows, partly committed; ``main`` moves on meanwhile."""
    write("workflows/changed.md", source("make, other"))
    Path("workflows/deleted.md").unlink()
    commit()
    write("workflows/new.md", source("curl, example.com"))
    write("workflows/form.md", source("make, form").replace("steps:", "steps: # all"))
    git("switch", "-q", "main")
    write("workflows/same.md", source("make, later"))
    git("commit", "-qm", "later", "--", "workflows/same.md")
    git("switch", "-q", "topic")


def statuses(found: Any) -> dict[str, str]:
    return {row["path"].removeprefix("workflows/"): row["status"] for row in found["workflows"]}


def test_all_that_a_branch_did(akmc: Akmc) -> None:
    branch()
    before = git("status", "--porcelain")
    status, out, err = akmc("--merge-base", "main", "--format", "json")
    assert (status, err) == (OK, "")
    found = json.loads(out)
    assert statuses(found) == {
        "changed.md": "changed",
        "deleted.md": "deleted",
        "form.md": "changed",
        "new.md": "added",
        "same.md": "same",
    }
    assert found["summary"] == {"breaking": 1, "security": 2, "behaviour": 1, "provenance": 1}
    assert (found["base"], found["equal"]) == ("main", False)
    assert git("status", "--porcelain") == before


def test_the_json_satisfies_the_published_schema(akmc: Akmc) -> None:
    branch()
    write("workflows/broken.md", source("make").replace("## build", "## biuld"))
    found = json.loads(akmc("--merge-base", "main", "--format", "json")[1])
    assert statuses(found)["broken.md"] == "broken"
    schema = json.loads((files("akmc.diff") / "diff.schema.json").read_text("utf-8"))
    jsonschema.validate(found, schema, jsonschema.Draft202012Validator)
    found["workflows"][0]["status"] = "moved"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(found, schema, jsonschema.Draft202012Validator)


def test_the_text_says_the_most_dangerous_workflow_first(akmc: Akmc) -> None:
    branch()
    out = akmc("--merge-base", "main")[1]
    assert [line for line in out.splitlines() if line.startswith(("since", "=="))] == [
        "since main: 1 breaking, 2 security, 1 behaviour, 1 provenance in 4 of 5 workflows",
        "== workflows/deleted.md: deleted, 1 breaking",
        "== workflows/changed.md: 1 security",
        "== workflows/new.md: new, 1 security, 1 behaviour",
        "== workflows/form.md: no change in behaviour (1 provenance)",
    ]
    assert "new unit step that runs `curl example.com`" in out
    assert akmc("--merge-base", "main", "--summary")[1] == out.splitlines()[0].removeprefix("since main: ") + "\n"


@pytest.mark.parametrize("format_name", ["text", "json", "markdown", "html"])
def test_every_format_has_everything_and_the_exit_status(akmc: Akmc, format_name: str) -> None:
    branch()
    status, out, _ = akmc("--merge-base", "main", "--format", format_name, "--exit-code")
    assert status == FOUND
    assert all(name in out for name in ("deleted.md", "changed.md", "new.md", "form.md"))
    assert akmc("--merge-base", "main", "--format", format_name, "--fail-on", "breaking")[0] == FOUND
    assert akmc("--merge-base", "main", "--fail-on", "breaking", "workflows/new.md")[0] == OK


def test_a_comment_is_short_about_form(akmc: Akmc) -> None:
    branch()
    text = akmc("--merge-base", "main", "--format", "markdown")[1]
    assert text.endswith("\n\nNo change in behaviour, only in form: `workflows/form.md`\n")
    assert [line for line in text.splitlines() if line.startswith("####")] == [
        "#### `workflows/deleted.md`: deleted, 1 breaking",
        "#### `workflows/changed.md`: 1 security",
        "#### `workflows/new.md`: new, 1 security, 1 behaviour",
    ]


def test_nothing_happened(akmc: Akmc) -> None:
    assert akmc("--merge-base", "main", "--exit-code")[:2] == (OK, "since main: no change in 4 workflows\n")


def test_a_moved_workflow_is_gone_and_new_and_said_to_be_the_same(akmc: Akmc) -> None:
    git("mv", "workflows/same.md", "workflows/other.md")
    out = akmc("--merge-base", "main")[1]
    assert 'workflow is gone: whoever runs or composes it fails; "workflows/other.md" does the same' in out
    assert 'new workflow; does what "workflows/same.md" did' in out
    assert "security" not in out


def test_a_workflow_in_the_other_language_is_the_same_workflow(akmc: Akmc) -> None:
    Path("workflows/same.md").unlink()
    step = '{id: build, run: "make same"}'
    head = "name: S\non: {workflow_dispatch: {}}\njobs: {main: {runs-on: [self-hosted], steps: ["
    write("workflows/same.yml", f"{head}{step}]}}}}\n")
    found = json.loads(akmc("--merge-base", "main", "--format", "json")[1])
    assert statuses(found)["same.yml"] == "changed"
    assert "same.md" not in statuses(found)
    assert found["summary"]["breaking"] == 0


@pytest.mark.parametrize(("first", "then"), [("api/workflows/a.md", "workflows/b.md"), ("workflows/b.md", "")])
def test_a_bundle_that_came_or_went_around_others(akmc: Akmc, tmp_path: Path, first: str, then: str) -> None:
    """A root that is a bundle on one side only: what still lies there is neither new nor deleted."""
    for path in sorted(Path("workflows").iterdir()):
        path.unlink()
    write("api/workflows/a.md", source("make, api"))
    write(first, source("make"))
    commit()
    git("branch", "-f", "main")
    if then:
        write(then, source("make, more"))
    else:
        Path(first).unlink()
        Path("workflows").rmdir()
    found = json.loads(akmc("--merge-base", "main", "--format", "json")[1])
    rows = {row["path"]: row["status"] for row in found["workflows"]}
    assert rows == ({then: "added"} if then else {first: "deleted", "api/workflows/a.md": "same"})


def test_a_broken_workflow_hides_no_other(akmc: Akmc) -> None:
    branch()
    write("workflows/changed.md", source("make").replace("## build", "## biuld"))
    status, out, err = akmc("--merge-base", "main")
    assert status == USAGE
    assert err == 'akmc: "workflows/changed.md" does not freeze\n'
    assert "== workflows/changed.md: does not freeze\n  workflows/changed.md:6:4: error[" in out
    assert "== workflows/deleted.md: deleted" in out


def test_a_branch_that_mends_a_workflow_passes(akmc: Akmc) -> None:
    git("switch", "-q", "main")
    write("workflows/same.md", source("make").replace("## build", "## biuld"))
    commit()
    git("switch", "-qC", "topic")
    write("workflows/same.md", source("make"))
    status, out, err = akmc("--merge-base", "main", "--fail-on", "breaking")
    assert status == OK
    assert "main:workflows/same.md" in err
    assert "not compared: it did not freeze before" in out


def test_paths_and_folders(akmc: Akmc, monkeypatch: pytest.MonkeyPatch) -> None:
    write("api/workflows/deep/a.md", source("make, api"))
    branch()
    assert "api/workflows/deep/a.md" not in akmc("--merge-base", "main")[1]
    assert akmc("--merge-base", "main", "--summary", "workflows/deleted.md")[1] == "1 breaking in 1 of 1 workflow\n"
    status, _, err = akmc("--merge-base", "main", "workflows/absent.md")
    assert (status, 'no workflow lies at "workflows/absent.md"' in err) == (USAGE, True)
    assert "api/workflows/deep/a.md" in akmc("--merge-base", "main", "--bundle", "api")[1]
    monkeypatch.chdir("api/workflows")
    assert "== api/workflows/deep/a.md: new" in akmc("--merge-base", "main")[1]


def test_what_cannot_be_compared(akmc: Akmc) -> None:
    status, _, err = akmc("--merge-base", "nowhere")
    assert (status, 'git knows no revision "nowhere"' in err, "  help: " in err) == (USAGE, True, True)
    git("switch", "-q", "--orphan", "alone")
    write("workflows/a.md", source("make"))
    commit()
    status, _, err = akmc("--merge-base", "main")
    assert (status, 'HEAD and "main" share no commit' in err) == (USAGE, True)
    write(".akm/config.json", "{")
    assert akmc("--merge-base", "HEAD")[0] == CONFIG
    assert akmc("workflows/a.md")[0] == USAGE
    assert akmc()[0] == USAGE


def test_before_the_first_commit_everything_is_new(akmc: Akmc, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "fresh").mkdir()
    monkeypatch.chdir(tmp_path / "fresh")
    git("init", "-q")
    write("workflows/a.md", source("make"))
    status, out, _ = akmc("--merge-base", "HEAD", "--summary")
    assert (status, out) == (OK, "1 security, 1 behaviour in 1 of 1 workflow\n")


def test_a_comment_about_many_workflows_fits(akmc: Akmc) -> None:
    for number in range(40):
        write(f"workflows/many/w{number}.md", source(f"make, {'x' * 3000}"))
    text = akmc("--merge-base", "main", "--format", "markdown")[1]
    assert units(text) <= MAX_UNITS + 100
    assert text.startswith("### Workflows since `main`: 40 security, 40 behaviour in 40 of 44 workflows\n")
    assert text.count("<details") == text.count("</details>")
    assert "`workflows/many/w39.md`" in text
