"""``akmc check --fix`` on real files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from akmc.cli import run

Capture = pytest.CaptureFixture[str]
BEFORE = "---\nsteps:\n  - id: build   # the only one\n---\nPreamble.\n\n##  biuld ##\n\nGo  there. \t\n"


def put(bundle: Path, raw: bytes) -> Path:
    (bundle / "workflows").mkdir(exist_ok=True)
    path = bundle / "workflows" / "a.md"
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_one_heading_is_mended_and_every_other_byte_stays(bundle: Path, bom: bytes, end: str) -> None:
    path = put(bundle, bom + BEFORE.replace("\n", end).encode())
    path.chmod(0o600)
    assert run(["check", "--fix"]) == 0
    assert path.read_bytes() == bom + BEFORE.replace("\n", end).replace("biuld", "build").encode()
    assert path.stat().st_mode & 0o777 == 0o600
    assert [item.name for item in path.parent.iterdir()] == ["a.md"]


def test_what_is_left_is_reported_with_what_was_fixed(bundle: Path, capfd: Capture) -> None:
    put(bundle, (BEFORE + "\n## stray\nNo.\n").encode())
    assert run(["check", "--fix", "--format", "json"]) == 1
    document = json.loads(capfd.readouterr().out)
    assert [item["rule"] for item in document["diagnostics"]] == ["unexpected-heading"]
    assert document["summary"]["fixed"] == 1


BROKEN_COMMAND = "---\ndescripton: x\nmodel: 3\n---\nSay it.\n"
USES = "name: x\non: {workflow_dispatch: {}}\njobs: {m: {runs-on: [self-hosted], steps: [{id: a, uses: commands/c}]}}\n"


def test_fixes_of_files_that_are_only_read_are_counted_apart(bundle: Path, capfd: Capture) -> None:
    put(bundle, BEFORE.encode())
    (bundle / "workflows/u.yml").write_text(USES)
    (bundle / "commands").mkdir()
    command = bundle / "commands/c.md"
    command.write_text(BROKEN_COMMAND)
    assert run(["check"]) == 1
    assert "(1 fixable with --fix, 2 fixable with akmc check --fix commands/c.md)" in capfd.readouterr().err
    assert run(["check", "--fix"]) == 1
    assert command.read_text() == BROKEN_COMMAND
    said = capfd.readouterr().err
    assert "1 fixed (2 fixable with akmc check --fix commands/c.md)" in said
    assert run(["check", "--fix", "commands/c.md"]) == 0
    assert command.read_text() == '---\ndescription: x\nmodel: "3"\n---\nSay it.\n'
    assert run(["check"]) == 0


def test_a_second_run_changes_nothing(bundle: Path, capfd: Capture) -> None:
    path = put(bundle, BEFORE.encode())
    run(["check", "--fix"])
    once, written = path.read_bytes(), path.stat().st_mtime_ns
    capfd.readouterr()
    assert run(["check", "--fix"]) == 0
    assert (path.read_bytes(), path.stat().st_mtime_ns) == (once, written)
    assert "fixed" not in capfd.readouterr().err


def test_ignored_findings_are_not_fixed(bundle: Path) -> None:
    path = put(bundle, BEFORE.encode())
    run(["check", "--fix", "--ignore", "unexpected-heading"])
    assert path.read_bytes() == BEFORE.encode()


def test_a_linked_file_is_mended_where_it_lies(bundle: Path) -> None:
    path = put(bundle, BEFORE.encode())
    real = bundle / "real.md"
    path.rename(real)
    path.symlink_to(real)
    run(["check", "--fix", "--bundle", "."])
    assert path.is_symlink() and b"## build" not in real.read_bytes() and b"##  build ##" in real.read_bytes()


def test_a_file_that_cannot_be_written_is_reported_and_its_findings_stay(
    bundle: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(bundle, BEFORE.encode())

    def refuse(**options: object) -> tuple[int, str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("akmc.files.tempfile.mkstemp", refuse)
    assert run(["check", "--fix"]) == 2
    captured = capfd.readouterr()
    assert "unexpected-heading" in captured.out and "Permission denied" in captured.err


LINE = st.sampled_from(["## biuld", "## build", "## tset", "Go.", "", "### gate", "```", "text  ", "const: x"])


@given(st.lists(LINE, max_size=12), st.sampled_from(["\n", "\r\n"]))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_fixing_converges_and_touches_no_line_but_headings(bundle: Path, lines: list[str], end: str) -> None:
    head = ["---", "steps:", "  - id: build", "  - id: test", "---"]
    path = put(bundle, end.join([*head, *lines, ""]).encode())
    run(["check", "--fix"])
    once = path.read_bytes()
    run(["check", "--fix"])
    assert path.read_bytes() == once
    before, after = [*head, *lines, ""], once.decode().split(end)
    assert len(before) == len(after)
    assert all(old == new or old.startswith("## ") for old, new in zip(before, after, strict=True))


@pytest.mark.parametrize(
    "headings",
    [
        ("## Build", "##build"),
        ("##build", "## Build"),
        ("##build", "##build"),
        ("## Build", "## biuld"),
        ("## build", "##build"),
        ("## Build", "##build", "##build"),
    ],
)
def test_two_headings_for_one_step_are_not_mended(bundle: Path, headings: tuple[str, ...]) -> None:
    body = "".join(f"\n{heading}\n\nText.\n" for heading in headings)
    path = put(bundle, f"---\nsteps:\n  - id: build\n---\n{body}".encode())
    before = path.read_bytes()
    run(["check", "--fix"])
    assert path.read_bytes() == before


def test_a_heading_without_a_blank_is_mended_where_it_stands_alone(bundle: Path) -> None:
    path = put(bundle, b"---\nsteps:\n  - id: build\n---\n\n##build\n\nText.\n")
    assert run(["check", "--fix"]) == 0
    assert b"\n## build\n" in path.read_bytes()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[s&a steps.scan.output.rows[12]]", None),
        ("[s\n      steps.scan.output.rows[12]]", None),
        ("[a, b steps.scan.output[1]]", None),
        ("[\n      steps.scan.output[1],\n\n   steps.scan.output[2]]", '[\n      "steps.scan.output[1]",\n\n   "steps.scan.output[2]"]'),
        ("[params.x,steps.scan.output[1]]", '[params.x,"steps.scan.output[1]"]'),
    ],
)  # fmt: skip
def test_a_reference_is_quoted_only_where_quotes_may_begin(bundle: Path, before: str, after: str | None) -> None:
    text = "---\nparams: {x: {type: string}}\nsteps:\n  - id: scan\n  - id: report\n    inputs: INPUTS\n---\n## scan\nGo.\n## report\nGo.\n"
    path = put(bundle, text.replace("INPUTS", before).encode())
    status = run(["check", "--fix"])
    assert (path.read_text(), status) == (text.replace("INPUTS", after or before), 0 if after else 1)


def test_a_fix_that_never_settles_changes_nothing(
    bundle: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("akmc_grammar.yaml_faults._begins_entry", lambda *_: True)
    text = b"---\nsteps:\n  - id: scan\n    inputs: [s&a teps.b.output.rows[1].kind]\n---\n## scan\nGo.\n"
    path = put(bundle, text)
    assert run(["check", "--fix"]) == 1
    assert path.read_bytes() == text
    assert "fixed" not in capfd.readouterr().err.replace("fixable", "")
