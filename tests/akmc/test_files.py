"""Writing whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from akmc.faults import CommandFault
from akmc.files import create_exclusively, write_atomically


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
