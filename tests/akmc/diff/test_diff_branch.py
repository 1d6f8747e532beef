"""``akmc diff --merge-base`` where a repository has several bundles, faults of long standing, and moves."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from akmc.cli import run
from akmc.faults import FOUND, OK, USAGE

Akmc = Callable[..., tuple[int, str, str]]
FAULTY = "---\nsteps: [{id: a, bog: 1, unit: {exec: {command: [ls]}}}]\n---\n## a\nx\n"
PARENT = (
    "name: P\non: {workflow_dispatch: {}}\n"
    "jobs: {main: {runs-on: [self-hosted], steps: [{id: k, uses: workflows/kid}]}}\n"
)


def source(*command: str) -> str:
    return f"---\nsteps: [{{id: a, unit: {{exec: {{command: [{', '.join(command)}]}}}}}}]\n---\n## a\nx\n"


def write(name: str, text: str) -> None:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


def git(*words: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], check=True, capture_output=True)


def commit(**files: str) -> None:
    """Commit files of the bundle ``one``, by their stems."""
    for stem, text in files.items():
        write(f"one/workflows/{stem}.{'yml' if text.startswith('name:') else 'md'}", text)
    git("add", "-A")
    git("commit", "-qm", "more")


@pytest.fixture
def akmc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Akmc:
    """A repository with the bundles ``one`` and ``two``, and a folder that is in neither."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_SYSTEM", "/dev/null")
    git("init", "-q", "-b", "main")
    write("two/workflows/c.md", source("make"))
    write("src/main.py", "")
    commit(a=source("ls"))

    def call(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        status = run(["diff", *arguments])
        return status, *capfd.readouterr()

    return call


def test_a_folder_outside_every_bundle_is_no_all_clear(akmc: Akmc, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("one/workflows/a.md").unlink()
    monkeypatch.chdir("src")
    status, out, err = akmc("--merge-base", "HEAD", "--fail-on", "breaking")
    assert (status, out) == (USAGE, "")
    assert "there is no bundle here" in err
    # a path leads to its own bundle
    status, out, _ = akmc("--merge-base", "HEAD", "--fail-on", "breaking", "../one")
    assert (status, "== one/workflows/a.md: deleted" in out) == (FOUND, True)


def test_a_bundle_option_that_names_no_bundle_is_no_all_clear(akmc: Akmc, tmp_path: Path) -> None:
    status, out, err = akmc("--merge-base", "HEAD", "--bundle", "three")
    assert (status, out, 'there is no folder "three"' in err) == (USAGE, "", True)
    status, out, err = akmc("--merge-base", "HEAD", "--bundle", str(tmp_path.parent))
    assert (status, out, "lies outside the repository" in err) == (USAGE, "", True)


@pytest.mark.parametrize("format_name", ["text", "json", "markdown", "html"])
def test_a_place_can_be_opened(akmc: Akmc, monkeypatch: pytest.MonkeyPatch, format_name: str) -> None:
    """It is told from the working directory, as ``akmc check`` tells the places of findings."""
    write("one/workflows/a.md", source("ls", "-l"))
    told = {"json": '"file": "{}",\n              "line": 2'}.get(format_name, "{}:2:45")
    wanted = told.format("one/workflows/a.md")
    assert wanted in akmc("--merge-base", "HEAD", "--format", format_name)[1]
    sides = akmc("HEAD:one/workflows/a.md", "one/workflows/a.md", "--format", format_name)[1]
    assert wanted.replace("              ", "        ") in sides
    monkeypatch.chdir("one/workflows")
    inside = akmc("--merge-base", "HEAD", "--format", format_name)[1]
    assert told.format("a.md") in inside
    assert wanted not in inside


def test_a_plan_file_is_placed_by_its_source_from_here(akmc: Akmc, tmp_path: Path) -> None:
    assert run(["compile", "one/workflows/a.md", "-o", "one/old.json"]) == OK
    write("one/workflows/a.md", source("ls", "-l"))
    assert run(["compile", "one/workflows/a.md", "-o", "one/new.json"]) == OK
    assert "  --> one/workflows/a.md:2:45" in akmc("one/old.json", "one/new.json")[1]


@pytest.mark.parametrize("format_name", ["text", "json", "markdown", "html"])
def test_a_workflow_that_does_not_freeze_is_told_with_its_findings(akmc: Akmc, format_name: str) -> None:
    write("one/workflows/a.md", FAULTY)
    status, out, err = akmc("--merge-base", "HEAD", "--format", format_name)
    assert status == USAGE
    assert "unknown-key" in out and "one/workflows/a.md" in out
    assert "no change" not in out
    assert err == 'akmc: "one/workflows/a.md" does not freeze\n'
    if format_name != "json":
        assert "1 of 2 workflows does not freeze" in out


def test_a_headline_alone_leaves_the_findings_to_standard_error(akmc: Akmc) -> None:
    write("one/workflows/a.md", FAULTY)
    status, out, err = akmc("--merge-base", "HEAD", "--summary")
    assert (status, out) == (USAGE, "1 of 2 workflows does not freeze\n")
    assert err.count("error[AKM0201 unknown-key]") == 1


def test_a_fault_of_long_standing_is_nobodys_doing(akmc: Akmc) -> None:
    commit(bad=FAULTY)
    status, out, err = akmc("--merge-base", "HEAD", "--exit-code")
    assert (status, out.splitlines()[0], err) == (
        OK,
        "since HEAD: no change in 3 workflows; 1 still does not freeze",
        "",
    )
    markdown = akmc("--merge-base", "HEAD", "--format", "markdown")[1]
    assert markdown.endswith("Still not freezing, none of their files changed: `one/workflows/bad.md`\n")
    rows = json.loads(akmc("--merge-base", "HEAD", "--format", "json")[1])["workflows"]
    assert {row["path"]: row["status"] for row in rows}["one/workflows/bad.md"] == "untouched"
    # what else changes in it cannot be told: that is the branch's doing
    write("one/workflows/bad.md", FAULTY.replace("[ls]", "[rm]"))
    status, out, err = akmc("--merge-base", "HEAD")
    assert (status, out.count("unknown-key")) == (USAGE, 1)
    assert err.splitlines() == [
        'akmc: "HEAD:one/workflows/bad.md" does not freeze',
        'akmc: "one/workflows/bad.md" does not freeze',
    ]


@pytest.mark.parametrize("format_name", ["text", "markdown", "html"])
def test_a_finding_of_a_composed_workflow_is_told_once(akmc: Akmc, format_name: str) -> None:
    commit(kid=source("ls"), par=PARENT)
    write("one/workflows/kid.md", FAULTY)
    status, out, _ = akmc("--merge-base", "HEAD", "--format", format_name)
    assert (status, out.count("unknown-key"), out.count("composition-invalid")) == (USAGE, 1, 1)
    own = out[out.index("one/workflows/kid.md") : out.index("one/workflows/par.yml")]
    assert "unknown-key" in own and "composition-invalid" not in own


def test_a_fault_that_moved_into_a_composed_workflow_counts(akmc: Akmc) -> None:
    """The parent's own bytes are the same, those of what it is made of are not."""
    commit(kid=FAULTY, par=PARENT)
    write("one/workflows/kid.md", FAULTY.replace("bog", "bag"))
    rows = json.loads(akmc("--merge-base", "HEAD", "--format", "json")[1])["workflows"]
    assert {row["path"]: row["status"] for row in rows if row["status"] != "same"} == {
        "one/workflows/kid.md": "broken",
        "one/workflows/par.yml": "broken",
    }


def test_a_moved_and_edited_workflow_is_compared_with_what_it_was(akmc: Akmc) -> None:
    git("mv", "one/workflows/a.md", "one/workflows/renamed.md")
    write("one/workflows/renamed.md", source("ls", "-l"))
    found = json.loads(akmc("--merge-base", "HEAD", "--format", "json")[1])
    told = {row["path"]: [change["message"] for change in row["diff"]["changes"]] for row in found["workflows"]}
    assert told["one/workflows/a.md"] == [
        'workflow is gone: whoever runs or composes it fails; "one/workflows/renamed.md" does nearly the same'
    ]
    assert told["one/workflows/renamed.md"] == [
        "runs `ls -l`, ran `ls`",
        'new workflow; does nearly what "one/workflows/a.md" did',
    ]


@pytest.mark.parametrize("edit", [[], ["-l"]])
def test_a_path_loses_no_move(akmc: Akmc, edit: list[str]) -> None:
    """What it moved to is looked for in the whole bundle, and told with the one that was asked for alone."""
    git("mv", "one/workflows/a.md", "one/workflows/b.md")
    write("one/workflows/b.md", source("ls", *edit))
    _, out, _ = akmc("--merge-base", "HEAD", "one/workflows/a.md")
    assert f'"one/workflows/b.md" does {"nearly " if edit else ""}the same' in out
    assert "== one/workflows/b.md" not in out


def test_unlike_workflows_are_no_move(akmc: Akmc) -> None:
    git("rm", "-q", "one/workflows/a.md")
    write("one/workflows/b.md", source("curl", "-sSf", "https://example.com/other").replace("\nx\n", "\nDownloads.\n"))
    _, out, _ = akmc("--merge-base", "HEAD")
    assert "new unit step that runs `curl -sSf https://example.com/other`" in out
    assert "nearly" not in out
