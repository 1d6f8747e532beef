"""Worktrees that a killed driver left behind: removed, with git's records of them, unless they hold work or are in use."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from msgspec import Struct

from akm_run.dispatch.worktree import FOLDER, GitError, git, holds_work, kept
from akm_run.dispatch.worktree_claim import Claim, claim_left

_BEING_MADE: Final = "initializing"  # git's own reason for the lock on a worktree that it is making
_MAKING_S: Final = 5.0
_LOOK_AGAIN_S: Final = 0.1


class Leftover(Struct, frozen=True):
    """A worktree that nobody uses. ``why_kept`` is the notice about one that stays; ``None``: it was removed."""

    place: Path
    why_kept: str | None


def collect(top: Path, run_id: str | None = None, *, dry_run: bool = False) -> list[Leftover]:
    """Remove what is left of ``run_id``, or of all runs, in the repository at ``top``; what was found, in order.

    Worktrees in use by any process, of whatever run and state file, are not looked at.
    """
    base = top.joinpath(*FOLDER)
    folders = sorted(
        path for path in (base.iterdir() if base.is_dir() else ()) if path.is_dir() and not path.is_symlink()
    )
    found: list[Leftover] = []
    for folder in folders:
        if run_id is None or folder.name == run_id:
            for place in _places(top, folder):
                found.extend(_collected(top, place, dry_run=dry_run))
    return found


def _places(top: Path, folder: Path) -> list[Path]:
    """Everything that is, or was, a worktree in ``folder``: a directory, a lock without one, a record of git's."""
    names = {path.name.removesuffix(".lock") for path in folder.iterdir()}
    return sorted({folder / name for name in names} | {place for place in _records(top) if place.parent == folder})


def _records(top: Path) -> dict[Path, bool]:
    """git's worktrees: place -> whether it is being made."""
    records: dict[Path, bool] = {}
    for record in git(top, "worktree", "list", "--porcelain").split("\n\n"):
        lines = record.split("\n")
        if lines[0].startswith("worktree "):
            records[Path(lines[0].removeprefix("worktree "))] = f"locked {_BEING_MADE}" in lines
    return records


def _collected(top: Path, place: Path, *, dry_run: bool) -> Iterator[Leftover]:
    try:
        claim = claim_left(place)
        if claim is None:
            return
        why_kept = _why_kept(top, claim)
        if why_kept is None and not dry_run:
            _remove(top, place)
            claim.drop()
        else:
            claim.leave()
    except (OSError, GitError) as error:
        reason = os.strerror(error.errno or 0).lower() if isinstance(error, OSError) else str(error)
        why_kept = f"a worktree that was left behind, {str(place)!r}, could not be removed: {reason}"
    yield Leftover(place, why_kept)


def _why_kept(top: Path, claim: Claim) -> str | None:
    """Why the worktree must stay. No unit has begun in one that git did not finish."""
    place = claim.place
    if not place.is_dir() or not any(place.iterdir()) or _unfinished(top, place):
        return None
    return kept(place) if holds_work(place, claim.commit) else None


def _unfinished(top: Path, place: Path) -> bool:
    """Whether git was ended while it made the worktree; a git that outlived its driver is given time to end."""
    end = time.monotonic() + _MAKING_S
    while _records(top).get(place, False):
        if time.monotonic() >= end:
            return True
        time.sleep(_LOOK_AGAIN_S)
    return False


def _remove(top: Path, place: Path) -> None:
    """Remove the worktree and git's record of it, whichever of the two is there."""
    if place in _records(top):
        git(top, "worktree", "remove", "--force", "--force", str(place))  # twice: also one that git had locked
    elif place.is_dir():
        place.rmdir()  # git had not begun
