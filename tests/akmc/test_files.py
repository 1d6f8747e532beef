"""Writing whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from akmc.cli import run
from akmc.faults import FOUND, USAGE, CommandFault
from akmc.files import create_exclusively, made, write_atomically


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("umask", [0, 0o022, 0o027, 0o077])
def test_a_new_file_gets_the_usual_mode_and_leaves_no_other_file(tmp_path: Path, umask: int) -> None:
    old = os.umask(umask)
    try:
        write_atomically(tmp_path / "a", b"x")
    finally:
        os.umask(old)
    assert (tmp_path / "a").read_bytes() == b"x"
    assert mode(tmp_path / "a") == 0o666 & ~umask
    assert names(tmp_path) == ["a"]


def test_an_existing_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_atomically(path, b"new")
    assert (path.read_bytes(), mode(path)) == (b"new", 0o600)


def test_a_link_stays_and_its_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    target, link = tmp_path / "deep" / "real", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to("deep/real")
    write_atomically(link, b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"
    assert names(tmp_path / "deep") == ["real"]


def test_a_device_is_written_to_and_not_replaced() -> None:
    write_atomically(Path(os.devnull), b"x")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_what_is_open_already_is_written_to(tmp_path: Path) -> None:
    with (tmp_path / "redirected").open("wb") as file:
        before = os.fstat(file.fileno()).st_ino
        write_atomically(Path(f"/dev/fd/{file.fileno()}"), b"x")
    assert (tmp_path / "redirected").read_bytes() == b"x"
    assert (tmp_path / "redirected").stat().st_ino == before


@pytest.mark.parametrize("name", ["folder", "absent/a"])
def test_what_cannot_be_written_is_a_fault(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(CommandFault, match="cannot write"):
        write_atomically(tmp_path / name, b"x")
    assert names(tmp_path) == ["folder"]


def test_creating_refuses_what_is_there_even_a_dangling_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        create_exclusively(tmp_path / "link", b"x")
    assert not (tmp_path / "nowhere").exists()


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file gets what is written to it, from now on; names still find room."""

    def refuse(descriptor: int) -> None:
        os.ftruncate(descriptor, 0)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", refuse)


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize(
    "words",
    [
        "new a",
        "new --yaml team/a",
        "new --bundle other a",
        "schema -o deep/schemas",
        "schema -o deep/schemas workflow",
        "schema -o there",
        "config set workflow.maxConcurrency 4",
        "config set workflow.maxConcurrency 4 --config new/c.json",
        "compile w.md -o w.json",
        "graph w.md -o w.svg",
        "migrate old.yml -o new",
        "migrate old.yml -o new/deep --force",
    ],
)
def test_a_full_disk_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "w.md").write_text(
        "---\ntype: workflow\nsteps:\n  - id: a\n    unit: {exec: {command: [echo]}}\n---\n\n## a\n\nSay it.\n"
    )
    old = "version: 1\nname: Old\nsteps:\n  - id: a\n    unit: {instructions: Do it.}\n"
    (tmp_path / "old.yml").write_text(old)
    before = everything(tmp_path)
    assert run(words.split()) in (FOUND, USAGE)
    assert "No space left on device" in capfd.readouterr().err
    assert everything(tmp_path) == before


def test_folders_that_were_made_go_where_nothing_was_put_into_them(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), made(tmp_path / "a" / "b"):
        raise ZeroDivisionError
    assert names(tmp_path) == []
    with pytest.raises(ZeroDivisionError), made(tmp_path / "a" / "b"):
        (tmp_path / "a" / "kept").write_text("")
        raise ZeroDivisionError
    assert everything(tmp_path) == ["a", "a/kept"]
    with made(tmp_path / "a" / "c"):
        pass
    assert everything(tmp_path) == ["a", "a/c", "a/kept"]


def test_the_schemas_that_were_written_before_the_disk_was_full_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    sync, left = os.fsync, [2, 2]  # a file and its folder each

    def refuse(descriptor: int) -> None:
        if not left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        left.pop()
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", refuse)
    assert run(["schema", "-o", str(tmp_path / "schemas"), "workflow"]) == USAGE
    said = capfd.readouterr().err
    assert said.count("akmc: wrote") == 1 and "help: schemas written before: 1 of 2" in said
    assert len(names(tmp_path / "schemas")) == 1
