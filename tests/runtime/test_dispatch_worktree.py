"""``isolation: worktree`` with real git."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from akm_run.cancel import Cancellation
from akm_run.dispatch import dispatcher_for
from akm_run.dispatch.contract import UnitContext, UnitRequest, UnitResult
from akm_run.dispatch.worktree import GitError, repository_of
from akm_schemas.plan import ExecTarget

Perform = Callable[..., UnitResult]


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", "-C", str(folder), *who, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    top = tmp_path / "top"
    (top / "sub").mkdir(parents=True)
    git(top, "init", "-q")
    (top / "file.txt").write_text("committed\n")
    (top / "sub" / "inner.txt").write_text("inner\n")
    git(top, "add", ".")
    git(top, "commit", "-q", "-m", "one")
    return top


@pytest.fixture
def perform() -> Iterator[Perform]:
    cancel = Cancellation()

    def run(workspace: Path, text: str, **more: Any) -> UnitResult:
        target = ExecTarget(command=["sh", "-c", text], pass_env=[], content_hash="", input_bindings=[])
        fixed: dict[str, Any] = {"env": (), "schema": None, "timeout_s": 30.0, "context": UnitContext({})} | more
        request = UnitRequest(
            *("r1", "a", "a:solo", 1, target, "x"), workspace=workspace, bundle=workspace, isolation="worktree", **fixed
        )
        dispatcher = dispatcher_for(target)
        assert dispatcher is not None
        return dispatcher(request, cancel)

    yield run
    cancel.close()


def worktrees(repository: Path) -> int:
    return git(repository, "worktree", "list", "--porcelain").count("worktree ")


def test_a_fresh_tree_that_is_removed(perform: Perform, repository: Path) -> None:
    result = perform(repository, "cat file.txt; pwd; git rev-parse --abbrev-ref HEAD")
    assert isinstance(result.value, str)
    content, place, head = result.value.split("\n")
    assert (content, head, result.notices) == ("committed", "HEAD", ())
    assert Path(place) != repository
    assert not Path(place).exists()
    assert worktrees(repository) == 1
    assert git(repository, "status", "--porcelain") == ""


def test_it_starts_where_the_workspace_is(perform: Perform, repository: Path) -> None:
    assert perform(repository / "sub", "cat inner.txt").value == "inner"


def test_the_recorded_commit_counts(perform: Perform, repository: Path) -> None:
    first = repository_of(repository).commit
    (repository / "file.txt").write_text("later\n")
    git(repository, "commit", "-q", "-a", "-m", "two")
    assert perform(repository, "cat file.txt").value == "later"
    assert perform(repository, "cat file.txt", commit=first).value == "committed"


@pytest.mark.parametrize("name", ["file.txt", "untracked.txt"])
def test_uncommitted_changes_are_not_in_it(perform: Perform, repository: Path, name: str) -> None:
    (repository / name).write_text("changed\n")
    result = perform(repository, "cat file.txt; ls")
    assert result.value == "committed\nfile.txt\nsub"
    assert len(result.notices) == 1
    assert "uncommitted changes" in result.notices[0]


@pytest.mark.parametrize(
    "text",
    [
        "echo x > file.txt",
        "echo x > new.txt; exit 3",
        "git -c user.name=t -c user.email=t@e commit -q --allow-empty -m two",
    ],
)
def test_changes_are_kept_and_named(perform: Perform, repository: Path, text: str) -> None:
    result = perform(repository, f"pwd > {repository.parent}/place; {text}")
    place = (repository.parent / "place").read_text().strip()
    assert [place in notice for notice in result.notices] == [True]
    assert Path(place).is_dir()
    assert worktrees(repository) == 2


def test_removed_after_a_failure(perform: Perform, repository: Path) -> None:
    assert perform(repository, "sleep 20", timeout_s=0.3).failure_reason == "timeout"
    assert perform(repository, "exit 1").failure_reason == "non_zero_exit"
    assert worktrees(repository) == 1


def test_hooks_and_foreign_variables_do_not_interfere(
    perform: Perform, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho hooked > hooked.txt\n")
    hook.chmod(0o755)
    monkeypatch.setenv("GIT_DIR", "/no/such/place")
    result = perform(repository, "ls")
    assert (result.value, result.notices) == ("file.txt\nsub", ())


def test_a_directory_without_git(perform: Perform, tmp_path: Path) -> None:
    result = perform(tmp_path, "touch ran")
    assert result.failure_reason == "spawn_failed"
    assert result.diagnostic is not None
    assert "needs a git directory" in result.diagnostic
    assert str(tmp_path) in result.diagnostic
    assert list(tmp_path.iterdir()) == []


def test_a_repository_without_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    with pytest.raises(GitError, match="needs a commit"):
        repository_of(tmp_path)


def test_git_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git cannot be run: no such file"):
        repository_of(tmp_path)


def test_an_unknown_commit(perform: Perform, repository: Path) -> None:
    result = perform(repository, "true", commit="0" * 40)
    assert result.failure_reason == "spawn_failed"
    assert worktrees(repository) == 1
    assert [entry.name for entry in (repository / ".akm" / "worktrees").iterdir()] == [".gitignore"]
