"""Where state lives: the scope of the current directory, and the per-user index of other scopes (spec 3, section 1)."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from akm_run.faults import UsageFault
from akm_schemas.bounds import INDEX_BYTES
from akm_schemas.regular_files import read_regular

STATE_FOLDER = ".akm"
STATE_NAME = "state.db"
INDEX_NAME = "state-files.json"


class Scope(Struct, frozen=True):
    """``root`` names the scope for people; ``state_file`` is its journal, which need not exist."""

    root: Path
    state_file: Path
    named: bool = False

    @property
    def label(self) -> str:
        """What to call the scope: its folder, or the state file that was named explicitly."""
        return printable(self.state_file if self.named else self.root)


def printable(path: Path) -> str:
    """``path`` as text that can be written anywhere; bytes that are no UTF-8 are escaped."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def find_scope(start: Path, db: str | None, environment: Mapping[str, str] = os.environ) -> Scope:
    """The scope of ``start``: ``--db``, else ``AKM_STATE_DB``, else that of the nearest ``.akm``, git root, or itself."""
    root = scope_root(start)
    named = db or environment.get("AKM_STATE_DB")
    if named:
        return Scope(root, (start / named).absolute(), named=True)
    return Scope(root, root / STATE_FOLDER / STATE_NAME)


def current_directory() -> Path:
    """The current directory; raises UsageFault where it was removed, or lies where nobody may look."""
    try:
        return Path.cwd()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageFault(
            f"the current directory cannot be used: {reason}", "it was removed or moved: change to one that is there"
        ) from error


def scope_root(start: Path) -> Path:
    """The folder that a scope belongs to: the nearest with ``.akm``, else with ``.git``, else ``start``."""
    ancestry = [start, *start.parents]
    for name in (STATE_FOLDER, ".git"):
        for folder in ancestry:
            if (folder / name).is_dir() or (name == ".git" and (folder / name).exists()):
                return folder
    return start


def user_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Where akm keeps a user's own files: ``AKM_CONFIG_DIR``, else ``akm`` in the platform's config folder."""
    if own := environment.get("AKM_CONFIG_DIR"):
        return Path(own)
    home = Path(environment.get("HOME") or Path.home())
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "akm"
    return Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "akm"


def remember(state_file: Path, environment: Mapping[str, str] = os.environ) -> None:
    """Add ``state_file`` to the user's index.

    The index only serves ``list --all-scopes``; a home that cannot be written to (CI, containers) must not keep a run
    from starting, so a failure costs that listing and nothing else.
    """
    index = user_folder(environment) / INDEX_NAME
    known = _read_index(index)
    if str(state_file) in known:
        return
    try:
        _write_index(index, [*known, str(state_file)])
    except OSError:
        return


def known_state_files(environment: Mapping[str, str] = os.environ) -> list[Path]:
    """The state files of all scopes of this user, those that are gone pruned."""
    index = user_folder(environment) / INDEX_NAME
    known = _read_index(index)
    present = [path for path in known if not _is_gone(path)]
    if present != known:
        try:
            _write_index(index, present)
        except OSError:
            return [Path(path) for path in present]  # pruned in this answer, and again next time
    return [Path(path) for path in present]


def _is_gone(path: str) -> bool:
    """Whether there is no file any more; one in a folder that cannot be looked into may well be there."""
    try:
        return not stat.S_ISREG(Path(path).stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False


def _read_index(index: Path) -> list[str]:
    try:
        found = json.loads(read_regular(index, INDEX_BYTES.high))
    except (OSError, ValueError, RecursionError):
        return []  # no index yet, or one that is rebuilt run by run
    return sorted({entry for entry in found if isinstance(entry, str)}) if isinstance(found, list) else []


def _write_index(index: Path, paths: list[str]) -> None:
    index.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = index.with_name(f"{index.name}.{os.getpid()}")
    text = json.dumps(sorted(paths))  # escapes keep names that are no UTF-8
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as file:
        file.write(text)
    fresh.replace(index)
