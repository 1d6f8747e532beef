"""Where paths lead: out of a bundle by no ref, no link, and no link that came after the check."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from in_process import folder_with, run, survives

REFS = [
    "../outside/secret",
    "..",
    "/etc/passwd",
    "a/../../secret",
    "./x",
    "x\\..\\y",
    "~/x",
    "x//y",
    "x/.hidden",
    "x\0y",
    "%2e%2e/x",
]
USES = "name: X\non: {workflow_dispatch: null}\njobs: {j: {runs-on: [self-hosted], steps: [STEP]}}\n"
PLAIN = "---\nsteps:\n  - id: a\n    unit: {exec: {command: [cat, f.txt], cwd: sub}}\n---\n## a\nx\n"


@pytest.mark.parametrize("ref", REFS)
@pytest.mark.parametrize("family", ["workflows", "tasks", "commands", "scripts", "env"])
def test_no_ref_leads_out_of_its_bundle(family: str, ref: str) -> None:
    text = f"{family}/{ref}"
    if family == "env":
        step = {"id": "a", "unit": {"exec": {"command": ["true"]}, "env": [text]}}
        files = {"b/workflows/x.md": f"---\nsteps: [{json.dumps(step)}]\n---\n## a\nx\n".encode()}
    else:
        files = {"b/workflows/x.yml": USES.replace("STEP", json.dumps({"id": "a", "uses": text})).encode()}
    secret = {f"outside/secret{ending}": b"KEY=found-it\n" for ending in (".md", ".yml", ".env", "")}
    with folder_with({**files, **secret, "secret.sh": b"found-it"}):
        os.chdir("b")
        ended = survives("akmc", "compile", next(iter(files)).removeprefix("b/"))
        assert ended.status == 2
        assert b"found-it" not in ended.out + ended.err


@pytest.mark.parametrize("cwd", ["..", "../x", "/tmp", "a/../../x", "~", "C:\\x", "a\\b", "x/.."])
def test_no_working_directory_is_written_outside(cwd: str) -> None:
    for path, text in (
        ("workflows/x.md", PLAIN.replace("cwd: sub", f"cwd: {json.dumps(cwd)}")),
        (
            "workflows/x.yml",
            USES.replace("STEP", json.dumps({"id": "a", "run": "true", "working-directory": cwd})),
        ),
    ):
        with folder_with({path: text.encode()}):
            ended = survives("akmc", "check", "--format", "json", path)
            rules = {finding["rule"] for finding in json.loads(ended.out)["diagnostics"]}
            assert rules & {"exec-cwd-escape", "working-directory-escape"}, rules


@pytest.mark.parametrize(
    ("link", "source"),
    [
        ("workflows/kid.md", {"id": "a", "uses": "workflows/kid"}),
        ("scripts/s.sh", {"id": "a", "uses": "scripts/s.sh"}),
        ("tasks/t.yml", {"id": "a", "uses": "tasks/t"}),
        ("commands/c.md", {"id": "a", "uses": "commands/c"}),
    ],
)
def test_a_link_out_of_the_bundle_is_not_followed(link: str, source: dict[str, str]) -> None:
    with folder_with({"b/workflows/x.yml": USES.replace("STEP", json.dumps(source)).encode(), "secret": b"found-it"}):
        path = Path("b") / link
        path.parent.mkdir(exist_ok=True)
        path.symlink_to(Path("secret").resolve())
        os.chdir("b")
        ended = survives("akmc", "compile", "workflows/x.yml")
        assert ended.status == 2 and b"found-it" not in ended.out + ended.err
        assert b"ref-escapes-bundle" in ended.out + ended.err


def test_a_source_that_is_a_link_out_of_its_bundle_is_not_shown() -> None:
    with folder_with({"b/workflows/.keep": b"", "secret": b"found-it"}):
        Path("b/workflows/x.md").symlink_to(Path("secret").resolve())
        for words in (["check", "b/workflows/x.md"], ["show", "b/workflows/x.md"], ["compile", "b/workflows/x.md"]):
            ended = survives("akmc", *words)
            assert ended.status in (1, 2) and b"found-it" not in ended.out + ended.err, words


def test_a_directory_that_became_a_link_after_the_check_is_not_entered() -> None:
    with folder_with({"workflows/x.md": PLAIN.encode(), "sub/f.txt": b"mine", "x/.akm/k": b""}) as folder:
        assert run("akmc", "compile", "workflows/x.md", "-o", "x.json").status == 0
        assert run("akm-run", "x.json").status == 0
        outside = folder / ".home" / "out"
        outside.mkdir()
        (outside / "f.txt").write_text("found-it")
        (folder / "inside").mkdir()
        Path("sub").rename("old")
        Path("sub").symlink_to(outside)
        os.chdir("inside")  # the workspace is where akm-run is started
        Path("sub").symlink_to(outside)
        ended = survives("akm-run", "../x.json", "--json")
        assert ended.status == 1 and b"found-it" not in ended.out
        assert json.loads(ended.out)["steps"][0]["failureReason"] == "exec_cwd_escape"


def test_an_env_file_that_became_a_link_after_the_freeze_is_not_read() -> None:
    step = "---\nsteps: [{id: a, unit: {exec: {command: [sh, -c, 'echo \"$KEY\"']}, env: [env/ci]}}]\n---\n## a\nx\n"
    with folder_with({"b/workflows/x.md": step.encode(), "b/env/ci.env": b"KEY=value\n", "b/.akm/k": b""}) as folder:
        os.chdir("b")
        assert run("akmc", "compile", "workflows/x.md", "-o", "x.json").status == 0
        (folder / "outside.env").write_text("KEY=found-it\n")
        Path("env/ci.env").unlink()
        Path("env/ci.env").symlink_to(folder / "outside.env")
        ended = survives("akm-run", "x.json", "--json")
        step_part = json.loads(ended.out)["steps"][0]
        assert (ended.status, step_part["failureReason"]) == (1, "spawn_failed")
        assert "leads out of its bundle" in step_part["summary"] and b"found-it" not in ended.out
        Path("env/ci.env").unlink()
        for inside in ("env/real.env", "real.env"):  # anywhere in the bundle, beside its folders too
            Path(inside).write_text("KEY=value\n")
            Path("env/ci.env").symlink_to(Path(inside).absolute())
            assert survives("akm-run", "x.json").status == 0
            Path("env/ci.env").unlink()


def test_a_source_that_changes_between_reading_and_publishing_fails_the_freeze(monkeypatch: pytest.MonkeyPatch) -> None:
    import akmc.compiling
    from akmc.session.freezing import compile_source as real

    def compile_then_change(*args: object, **more: object) -> object:
        result = real(*args, **more)  # type: ignore[arg-type]  # whatever it was called with
        Path("workflows/x.md").write_text(PLAIN.replace("x\n", "y\n"))
        return result

    monkeypatch.setattr(akmc.compiling, "compile_source", compile_then_change)
    with folder_with({"workflows/x.md": PLAIN.encode()}):
        ended = survives("akmc", "compile", "workflows/x.md", "-o", "x.json")
        assert ended.status != 0 and b"source-changed-during-freeze" in ended.err
        assert not Path("x.json").exists()


@pytest.mark.parametrize("write", [lambda path: path.symlink_to("victim"), lambda path: os.link("victim", path)])
def test_what_is_written_never_goes_through_a_prepared_name(write: Callable[[Path], None]) -> None:
    """``new`` and ``migrate -o`` write new files only; a name that is there already, a link included, is refused."""
    with folder_with({"victim": b"mine", "workflows/.keep": b""}):
        write(Path("workflows/hello.md"))
        assert survives("akmc", "new", "hello").status != 0
        assert Path("victim").read_bytes() == b"mine"
