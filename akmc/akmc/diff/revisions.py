"""``REV:PATH``: the assets of a git revision in a directory of their own.

Blobs are read with ``git cat-file``, not ``git archive``, which would leave out what ``export-ignore`` names. Neither
the index nor the working tree is touched. Only files that can enter a plan are written: the family folders, ``.akm``
folders and the named file; all of them when one of those is a link, which may lead anywhere.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

from msgspec import Struct

from akmc.faults import CommandFault

_FAMILIES: Final = frozenset(("workflows", "tasks", "commands", "scripts", "env", ".akm"))
_BRANCHES: Final = "list the branches with: git branch --all"
_SHALLOW: Final = "this clone is shallow and may lack it: git fetch --unshallow (in CI, check out with fetch-depth: 0)"
_SYMLINK: Final = "120000"
_FILES: Final = ("100644", "100755", _SYMLINK)


class Revision(Struct, frozen=True):
    """A ``REV:PATH`` that git knows: ``tree`` is the tree's object id, ``path`` is relative to the repository root."""

    root: Path
    tree: str
    path: str
    label: str


class _Blob(Struct, frozen=True):
    mode: str
    object_id: str
    path: str


def find_revision(label: str) -> Revision:
    """Read ``REV:PATH``; as git does, PATH counts from the repository root, ``./PATH`` from the working directory.

    A PATH that the root does not have counts from the working directory, where a shell completes it.

    Raises:
        CommandFault: no git, no repository, no such revision or no such file in it.
    """
    rev, _, path = label.partition(":")
    root = Path(os.fsdecode(_git(["rev-parse", "--show-toplevel"], label).rstrip(b"\n")))
    named = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{tree}}"]
    tree = _git(named, label, missing=f'git knows no revision "{rev}"').decode().strip()
    inside = _from_root(path, root)
    kinds: set[bytes] = set()
    for candidate in dict.fromkeys((inside, _from_root(f"./{path}", root))):
        kind = b"" if candidate is None else _kind(tree, candidate, label)
        if candidate is not None and kind == b"blob":
            return Revision(root, tree, candidate, label)
        kinds.add(kind)
    if b"tree" in kinds:
        help = f'name a workflow in it, or compare all of the bundle with "akmc diff --merge-base {rev}"'
        raise CommandFault(f'"{label}" is a folder', help=help)
    raise CommandFault(f'revision "{rev}" has no file "{path}"', help=f'list its files with "git ls-tree -r {rev}"')


def merge_base(rev: str) -> tuple[Path, str]:
    """The repository's root and the commit where HEAD left ``rev``; before the first commit, the empty tree.

    Raises:
        CommandFault: no git, no repository, no such revision, or no common commit.
    """
    root = Path(os.fsdecode(_git(["rev-parse", "--show-toplevel"], rev).rstrip(b"\n")))
    if rev == "HEAD" and not _git(["rev-list", "--all", "-n1"], rev):
        return root, _git(["hash-object", "-t", "tree", "--stdin"], rev).decode().strip()
    verify = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}"]
    commit = _git(verify, rev, missing=f'git knows no revision "{rev}"', help=_BRANCHES).decode().strip()
    apart = "name a branch that HEAD comes from: git branch --all lists them"
    found = _git(["merge-base", commit, "HEAD"], rev, missing=f'HEAD and "{rev}" share no commit', help=apart)
    return root, found.decode().strip()


def _is_shallow(label: str) -> bool:
    """Whether this clone has a part of the history only, so that a commit which exists may be missing."""
    return _git(["rev-parse", "--is-shallow-repository"], label).strip() == b"true"


def _from_root(path: str, root: Path) -> str | None:
    """``path`` relative to the repository root, ``None`` when it leaves the repository."""
    if not path.startswith(("./", "../")):
        return path or None
    absolute = Path(os.path.normpath(Path.cwd().resolve() / path))
    return absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else None


def _kind(tree: str, path: str, label: str) -> bytes:
    """What ``path`` is in the tree, as git calls it: ``blob`` a file, ``tree`` a folder, empty when there is none."""
    if "\n" in path:
        return b""
    wanted = f"{tree}:{'' if path == '.' else path}\n"
    found = _git(["cat-file", "--batch-check"], label, stdin=wanted.encode("utf-8", "surrogateescape")).split()
    return found[-2] if found[-1].isdigit() else b""  # else "PATH missing", whatever words PATH ends with


def write_view(revision: Revision, folder: Path) -> Path:
    """Write the revision's assets below ``folder``; the path of the named file there.

    Raises:
        CommandFault: when git or the file system fails.
    """
    blobs = _entering(list(_blobs(revision)), revision.path)
    try:
        for blob, data in zip(blobs, _contents(blobs, revision.label), strict=True):
            target = folder / blob.path
            target.parent.mkdir(parents=True, exist_ok=True)
            if blob.mode == _SYMLINK:
                target.symlink_to(os.fsdecode(data))
            else:
                target.write_bytes(data)
    except OSError as error:
        raise CommandFault(f'cannot lay out "{revision.label}": {error.strerror or error}') from error
    return folder / revision.path


def _entering(blobs: list[_Blob], named: str) -> list[_Blob]:
    """The blobs to write, links last: nothing is ever written through one."""
    chosen = [blob for blob in blobs if blob.path == named or not _FAMILIES.isdisjoint(PurePosixPath(blob.path).parts)]
    if any(blob.mode == _SYMLINK for blob in chosen):
        chosen = blobs
    return sorted(chosen, key=lambda blob: (blob.mode == _SYMLINK, blob.path))


def _blobs(revision: Revision) -> Iterator[_Blob]:
    listing = _git(["ls-tree", "-r", "-z", "--full-tree", revision.tree], revision.label)
    for row in listing.split(b"\0"):
        if not row:
            continue
        head, _, path = row.partition(b"\t")
        mode, _, object_id = os.fsdecode(head).split(" ")
        blob = _Blob(mode, object_id, os.fsdecode(path))
        # git refuses to check out a tree with such names, and so do we
        if mode in _FILES and not {"..", ".git"} & set(PurePosixPath(blob.path).parts):
            yield blob


def _contents(blobs: list[_Blob], label: str) -> Iterator[bytes]:
    wanted = "".join(f"{blob.object_id}\n" for blob in blobs).encode()
    data = _git(["cat-file", "--batch"], label, stdin=wanted)
    position = 0
    for _ in blobs:
        end = data.index(b"\n", position)
        size = int(data[position:end].rsplit(b" ", 1)[1])
        yield data[end + 1 : end + 1 + size]
        position = end + 2 + size


def _git(arguments: list[str], label: str, *, stdin: bytes = b"", missing: str | None = None, help: str = "") -> bytes:
    """Standard output of ``git``; a failure is a usage fault that quotes what git said."""
    environment = {**os.environ, "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            ["git", *arguments],
            input=stdin,
            capture_output=True,
            check=False,
            env=environment,
        )
    except OSError as error:
        message = f'"{label}" names a git revision, but git cannot be run: {error.strerror or error}'
        raise CommandFault(message, help="install git, or give a plan or a source file") from error
    if done.returncode != 0:
        if missing is not None and _is_shallow(label):
            help = _SHALLOW
        said = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
        raise CommandFault(
            missing or f'cannot read "{label}": {said or "git failed"}',
            help=help or "give a plan, a source, or REV:PATH of a git repository",
        )
    return done.stdout
