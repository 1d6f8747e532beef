"""Files that only their owner may read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from akm_run.private_file import append_private


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_private_and_is_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "x"
    before = os.umask(0)
    try:
        with append_private(path) as one, append_private(path) as two:
            one.write(b"a")
            two.write(b"b")
            one.write(b"c")
    finally:
        os.umask(before)
    assert (path.read_bytes(), mode(path)) == (b"abc", 0o600)


def test_an_existing_file_keeps_content_and_mode(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a")
    path.chmod(0o644)
    with append_private(path) as file:
        file.write(b"b")
    assert (path.read_bytes(), mode(path)) == (b"ab", 0o644)


def test_a_child_does_not_inherit_it(tmp_path: Path) -> None:
    with append_private(tmp_path / "x") as file:
        assert not os.get_inheritable(file.fileno())


def test_what_cannot_be_written_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        append_private(tmp_path)
