"""``isolation: worktree``: a fresh detached git worktree for each unit (spec 3, section 4)."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from akm_run.dispatch.contract import UnitRequest
from akm_run.dispatch.outcome import UnitFault
from akm_run.dispatch.worktree_claim import Claim, new_claim
from akm_run.run_ids import as_file_name

FOLDER: Final = (".akm", "worktrees")
# git must look at the unit's repository, not at the one whose hook or alias may have started us
_FOREIGN: Final = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES"),
)
_serial: Final = threading.Lock()


class GitError(Exception):
    """git refused, or is not there; the message is git's own."""


class Repository(Struct, frozen=True):
    """``top`` is the root of the working tree, ``inside`` the place of the workspace in it, ``commit`` what HEAD is."""

    top: Path
    inside: str
    commit: str


def repository_of(workspace: Path) -> Repository:
    """The repository that ``workspace`` lies in. Raises GitError: not a git directory, no commit yet, no git.

    The driver asks this when it publishes a run: the commit is recorded then, and a plan with isolated units is
    refused before anything is dispatched where there is none.
    """
    try:
        top, _, inside = git(workspace, "rev-parse", "--show-toplevel", "--show-prefix").partition("\n")
    except GitError as error:
        raise GitError(f"isolation: worktree needs a git directory, and {str(workspace)!r} is none ({error})") from None
    try:
        commit = git(workspace, "rev-parse", "--verify", "HEAD^{commit}")
    except GitError:
        raise GitError(f"isolation: worktree needs a commit, and {top!r} has none yet; commit first") from None
    return Repository(Path(top), inside.strip("\n"), commit)


@contextmanager
def worktree(request: UnitRequest, notices: list[str]) -> Iterator[Path]:
    """The base directory of an isolated unit: the workspace's place in a new worktree of its own.

    Removed afterwards; kept, and named in a notice, when it holds changes. Raises UnitFault (``spawn_failed``).
    """
    try:
        repository = repository_of(request.workspace)
        commit = request.commit or repository.commit
        if _has_changes(request.workspace):
            notices.append(f"uncommitted changes are not in the unit's worktree, which is at {commit[:12]}")
        with _serial:
            claim = _create(repository, commit, request)
    except GitError as error:
        raise UnitFault("spawn_failed", str(error)) from None
    try:
        yield claim.place / repository.inside
    finally:
        notices.extend(_remove(repository, claim, commit))


def git(folder: Path, *arguments: str) -> str:
    """The stdout of a git command without the last newline; hooks off, texts in English. Raises GitError."""
    environment = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    environment["LC_ALL"] = "C"
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), "-c", f"core.hooksPath={os.devnull}", *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            start_new_session=True,  # Ctrl-C must not stop it half-way
        )
    except OSError as error:
        raise GitError(f"git cannot be run: {os.strerror(error.errno or 0).lower()}") from None
    if done.returncode != 0:
        raise GitError(done.stderr.strip() or f"git {arguments[0]} exited with status {done.returncode}")
    return done.stdout.removesuffix("\n")


def _has_changes(folder: Path) -> bool:
    """Whether the working tree around ``folder`` differs from HEAD; what this program keeps in ``.akm`` aside."""
    everything = (":/", ":(exclude,top).akm")
    return git(folder, "status", "--porcelain", "--untracked-files=normal", "--", *everything) != ""


def holds_work(place: Path, commit: str) -> bool:
    """Whether the worktree at ``place``, made at ``commit``, holds changes or commits."""
    return _has_changes(place) or git(place, "rev-parse", "HEAD") != commit


def kept(place: Path) -> str:
    """The notice about a worktree that holds changes."""
    return f"the unit's worktree holds changes and was kept: {str(place)!r}"


def slug(unit_id: str) -> str:
    """A unit's id as the beginning of a folder's name."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", unit_id)


def _create(repository: Repository, commit: str, request: UnitRequest) -> Claim:
    top = repository.top.joinpath(*FOLDER)
    try:
        top.mkdir(parents=True, exist_ok=True)
        ignore = top / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
        claim = new_claim(top / as_file_name(request.run_id), slug(request.unit_id), commit)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise GitError(f"no worktree can be made in {str(top)!r}: {reason}") from None
    try:
        git(repository.top, "worktree", "add", "--detach", "--quiet", str(claim.place), commit)
    except GitError:
        claim.place.rmdir()
        claim.drop()
        raise
    return claim


def _remove(repository: Repository, claim: Claim, commit: str) -> list[str]:
    """Remove the worktree unless it holds changes or commits; says what was kept."""
    try:
        if holds_work(claim.place, commit):
            claim.leave()
            return [kept(claim.place)]
        with _serial:
            git(repository.top, "worktree", "remove", "--force", str(claim.place))
            claim.drop()
    except GitError as error:
        claim.leave()
        return [f"the unit's worktree {str(claim.place)!r} could not be removed: {error}"]
    return []
