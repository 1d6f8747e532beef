"""The source read set: each file read once, looked at again before publication, all or nothing on disk."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from akmc.cli import run
from akmc.faults import FOUND, OK, USAGE
from akmc.session import store
from akmc.session.session import Session
from akmc_grammar.source import SourceText

Write = Callable[[Mapping[str, str]], Path]
Capture = pytest.CaptureFixture[str]

YAML = "name: A\non: {{workflow_dispatch: {{}}}}\njobs: {{main: {{runs-on: [self-hosted], steps: [{}]}}}}\n"
FILES = {
    "workflows/a.yml": YAML.format(
        "{id: k, uses: workflows/kid}, {id: l, uses: tasks/t}, {id: c, uses: commands/c}, {id: d, uses: commands/c}"
    ),
    "workflows/kid.yml": YAML.format("{id: g, uses: workflows/grandkid}, {id: s, uses: scripts/y.sh}"),
    "workflows/grandkid.yml": YAML.format("{id: s, uses: scripts/x.sh}, {id: t, uses: scripts/x.sh}"),
    "tasks/t.yml": "version: 4\nuses: workflows/kid\n",
    "commands/c.md": "Ask.\n",
    "scripts/x.sh": "ls\n",
    "scripts/y.sh": "ls -1\n",
    ".akm/config.json": '{"engines": {"e": {"kind": "agent", "platform": "claude"}}, "defaults": {"engine": "e"}}',
}
SOURCES = sorted(name for name in FILES if not name.startswith("."))
COMPILE = ["compile", "workflows/a.yml", "-o", "plans.json"]
BEFORE = b'{"irVersion":0}'  # a plan that is there already


def test_each_file_is_read_once_and_looked_at_once_more(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    root, reads = write(FILES), Counter[str]()
    read_regular = store.read_regular

    def count(path: Path) -> bytes:
        reads[os.path.relpath(path, root)] += 1
        return read_regular(path)

    monkeypatch.setattr(store, "read_regular", count)
    assert run(["check", "workflows/a.yml"]) == OK
    assert reads == dict.fromkeys(SOURCES, 1)
    reads.clear()
    assert run(COMPILE) == OK
    assert reads == dict.fromkeys(SOURCES, 2)
    reads.clear()
    assert run(["check"]) == OK  # grandkid, kid and a are targets and children
    assert reads == dict.fromkeys(SOURCES, 1)


def test_the_read_set_of_the_root_has_every_descendants_files(write: Write) -> None:
    root = write(FILES)
    assert run(COMPILE) == OK
    plan = json.loads((root / "plans.json").read_text())
    entries = plan["provenance"]["sourceReadSet"]
    assert sorted(entry["path"] for entry in entries) == SOURCES
    assert entries == sorted(entries, key=lambda entry: (entry["ref"], entry["path"]))
    for entry in entries:
        raw = (root / entry["path"]).read_bytes()
        assert (entry["sha256"], entry["size"]) == (hashlib.sha256(raw).hexdigest(), len(raw))


def _expect_refused(root: Path, capfd: Capture, name: str) -> None:
    """Nothing is written, and a plan of before stays byte for byte."""
    for before in (None, BEFORE):
        if before is not None:
            (root / "plans.json").write_bytes(before)
        capfd.readouterr()
        assert run(COMPILE) == USAGE
        captured = capfd.readouterr()
        assert captured.out == "" and f'source-changed-during-freeze]: "{name}"' in captured.err
        assert "nothing was written" in captured.err
        assert (root / "plans.json").exists() == (before is not None)
        if before is not None:
            assert (root / "plans.json").read_bytes() == before
        assert not [path.name for path in root.iterdir() if path.name.endswith(".tmp")]


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("change", ["edit", "delete", "replace"])
def test_a_change_after_the_passes(
    write: Write, capfd: Capture, monkeypatch: pytest.MonkeyPatch, name: str, change: str
) -> None:
    root = write(FILES)
    resolve = Session.resolve
    edits = iter(range(9))

    def resolve_and_change(session: Session, analysis: object) -> object:
        found = resolve(session, analysis)  # type: ignore[arg-type]  # handed on as it came
        write(FILES)
        path = root / name
        if change == "edit":
            path.write_text(FILES[name] + f"# {next(edits)}\n")
        else:
            path.unlink()
        if change == "replace":
            path.mkdir()
        return found

    def compile_fresh() -> None:
        if (root / name).is_dir():
            (root / name).rmdir()
        write(FILES)

    monkeypatch.setattr(Session, "resolve", resolve_and_change)
    for _ in range(2):
        compile_fresh()
        assert run(COMPILE) == USAGE
        captured = capfd.readouterr()
        assert captured.out == "" and f'source-changed-during-freeze]: "{name}"' in captured.err
        assert not (root / "plans.json").exists()


def test_a_grandchilds_script_that_changes_while_its_parents_are_read(
    write: Write, capfd: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write(FILES)
    read = store.FileStore.read

    def read_and_change(files: store.FileStore, path: Path) -> SourceText:
        source = read(files, path)
        if path.name == "x.sh":
            (root / "scripts/x.sh").write_text(FILES["scripts/x.sh"] + f"# {os.urandom(4).hex()}\n")
        return source

    monkeypatch.setattr(store.FileStore, "read", read_and_change)
    _expect_refused(root, capfd, "scripts/x.sh")
    monkeypatch.undo()
    monkeypatch.chdir(root)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(root / "none"))
    assert run(COMPILE) == OK


def test_a_touched_file_that_holds_the_same_bytes_is_no_change(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write(FILES)
    resolve = Session.resolve

    def resolve_and_touch(session: Session, analysis: object) -> object:
        found = resolve(session, analysis)  # type: ignore[arg-type]  # handed on as it came
        (root / "scripts/x.sh").unlink()
        (root / "scripts/x.sh").write_text(FILES["scripts/x.sh"])
        return found

    monkeypatch.setattr(Session, "resolve", resolve_and_touch)
    assert run(COMPILE) == OK


def test_a_write_that_fails_leaves_the_old_plan(write: Write, capfd: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    root = write({**FILES, "plans.json": BEFORE.decode()})

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert run(COMPILE) == USAGE
    monkeypatch.undo()
    assert "No space left" in capfd.readouterr().err
    assert (root / "plans.json").read_bytes() == BEFORE
    assert not [path.name for path in root.iterdir() if path.name.endswith(".tmp")]


def test_checking_writes_nothing(write: Write) -> None:
    root = write(FILES)
    before = sorted(path.name for path in root.rglob("*"))
    assert run(["compile", "--check", "workflows/a.yml", "-o", "plans.json"]) == FOUND
    assert sorted(path.name for path in root.rglob("*")) == before
