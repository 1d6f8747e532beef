"""Where state lives."""

from __future__ import annotations

from pathlib import Path

import pytest

from akm_run.scope import INDEX_NAME, find_scope, known_state_files, remember, user_folder


@pytest.mark.parametrize(
    ("folders", "start", "root"),
    [
        ([], "a/b", "a/b"),
        (["a/.git"], "a/b", "a"),
        (["a/.akm"], "a/b", "a"),
        (["a/.akm", "a/b/.git"], "a/b/c", "a"),
        (["a/.git", "a/b/.akm"], "a/b/c", "a/b"),
        (["a/b/.akm", "a/.akm"], "a/b/c", "a/b"),
    ],
)
def test_the_nearest_state_folder_then_the_git_root_then_here(
    tmp_path: Path, folders: list[str], start: str, root: str
) -> None:
    for folder in [start, *folders]:
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    scope = find_scope(tmp_path / start, None, {})
    assert scope.root == tmp_path / root
    assert scope.state_file == tmp_path / root / ".akm" / "state.db"
    assert scope.label == str(tmp_path / root)


def test_a_git_file_marks_a_root_too(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / ".git").write_text("gitdir: elsewhere\n")
    assert find_scope(tmp_path / "deep", None, {}).root == tmp_path


def test_a_named_state_file_wins(tmp_path: Path) -> None:
    environment = {"AKM_STATE_DB": "two.db"}
    assert find_scope(tmp_path, "one.db", environment).state_file == tmp_path / "one.db"
    assert find_scope(tmp_path, None, environment).state_file == tmp_path / "two.db"
    assert find_scope(tmp_path, None, environment).label == str(tmp_path / "two.db")


def test_the_index_remembers_and_prunes(tmp_path: Path) -> None:
    environment = {"AKM_CONFIG_DIR": str(tmp_path / "config")}
    files = [tmp_path / "b.db", tmp_path / "a.db"]
    for file in files:
        file.touch()
        remember(file, environment)
        remember(file, environment)
    assert known_state_files(environment) == sorted(files)
    files[0].unlink()
    assert known_state_files(environment) == [files[1]]
    assert "b.db" not in (tmp_path / "config" / INDEX_NAME).read_text()


def test_an_index_that_cannot_be_written_costs_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a file where the folder should be")
    environment = {"AKM_CONFIG_DIR": str(tmp_path / "config")}
    remember(tmp_path / "a.db", environment)
    assert known_state_files(environment) == []


def test_a_broken_index_is_built_anew(tmp_path: Path) -> None:
    (tmp_path / INDEX_NAME).write_text("{not json")
    (tmp_path / "a.db").touch()
    environment = {"AKM_CONFIG_DIR": str(tmp_path)}
    remember(tmp_path / "a.db", environment)
    assert known_state_files(environment) == [tmp_path / "a.db"]


def test_the_users_folder() -> None:
    assert user_folder({"AKM_CONFIG_DIR": "/x"}) == Path("/x")
    assert user_folder({"HOME": "/h", "XDG_CONFIG_HOME": "/c"}).name == "akm"
