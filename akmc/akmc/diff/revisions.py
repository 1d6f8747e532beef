"""``REV:PATH`` and ``--merge-base REV``: which tree of a git repository is meant."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path
from typing import Final

from msgspec import Struct

from akmc.faults import CommandFault
from akmc.reading_git import read_git

_BRANCHES: Final = "list the branches with: git branch --all"
_SHALLOW: Final = "this clone is shallow and may lack it: git fetch --unshallow (in CI, check out with fetch-depth: 0)"
_PARTIAL: Final = "fetch all of it: git fetch --refetch --no-filter (in CI, clone without a filter)"
_DAMAGED: Final = "name what is missing with: git fsck"
_UNFETCHED: Final = (b"promisor remote", b"lazy fetching disabled")
_NEED_OBJECTS: Final = frozenset(("ls-tree", "cat-file"))


class Revision(Struct, frozen=True):
    """A ``REV:PATH`` that git knows: ``tree`` is the tree's object id, ``path`` is relative to the repository root."""

    root: Path
    tree: str
    path: str
    label: str


def find_revision(label: str) -> Revision:
    """Read ``REV:PATH``; as git does, PATH counts from the repository root, ``./PATH`` from the working directory.

    A PATH that the root does not have counts from the working directory, where a shell completes it.

    Raises:
        CommandFault: no git, no repository, no such revision or no such file in it.
    """
    rev, _, path = label.partition(":")
    root = Path(os.fsdecode(ask_git(["rev-parse", "--show-toplevel"], label).rstrip(b"\n")))
    named = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{tree}}"]
    tree = ask_git(named, label, missing=f'git knows no revision "{rev}"').decode().strip()
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
    root = Path(os.fsdecode(ask_git(["rev-parse", "--show-toplevel"], rev).rstrip(b"\n")))
    if rev == "HEAD" and not ask_git(["rev-list", "--all", "-n1"], rev):
        return root, ask_git(["hash-object", "-t", "tree", "--stdin"], rev).decode().strip()
    verify = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{rev}^{{commit}}"]
    commit = ask_git(verify, rev, missing=f'git knows no revision "{rev}"', help=_BRANCHES).decode().strip()
    apart = "name a branch that HEAD comes from: git branch --all lists them"
    found = ask_git(["merge-base", commit, "HEAD"], rev, missing=f'HEAD and "{rev}" share no commit', help=apart)
    return root, found.decode().strip()


def _is_shallow(label: str) -> bool:
    """Whether this clone has a part of the history only, so that a commit which exists may be missing."""
    return ask_git(["rev-parse", "--is-shallow-repository"], label).strip() == b"true"


def _from_root(path: str, root: Path) -> str | None:
    """``path`` relative to the repository root, ``None`` when it leaves the repository."""
    if not path.startswith(("./", "../")):
        return path or None
    absolute = Path(os.path.normpath(Path.cwd().resolve() / path))
    return absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else None


def _kind(tree: str, path: str, label: str) -> bytes:
    """What ``path`` is in the tree, as git calls it: ``blob`` a file, ``tree`` a folder, empty when there is none."""
    plain = path.removesuffix("/")
    if plain == ".":
        return b"tree"
    if plain != posixpath.normpath(plain) or plain.startswith("/") or plain == "..":
        return b""
    row = ask_git(["--literal-pathspecs", "ls-tree", "-z", "--full-tree", tree, "--", plain], label)
    kind = row.split(b" ", 2)[1] if row else b""
    return b"" if kind == b"blob" and plain != path else kind


def ask_git(
    arguments: list[str], label: str, *, stdin: bytes = b"", missing: str | None = None, help: str = ""
) -> bytes:
    """Standard output of ``git``; a failure is a usage fault that quotes what git said."""
    try:
        done = read_git(arguments, stdin=stdin)
    except OSError as error:
        message = f'"{label}" names a git revision, but git cannot be run: {error.strerror or error}'
        raise CommandFault(message, help="install git, or give a plan or a source file") from error
    if done.returncode == 0:
        return done.stdout
    if missing is not None and _is_shallow(label):
        help = _SHALLOW
    elif any(words in done.stderr for words in _UNFETCHED) or (
        _is_partial() and not _NEED_OBJECTS.isdisjoint(arguments)
    ):
        raise lacking(label)
    said = done.stderr.decode("utf-8", "replace").strip().removeprefix("fatal: ")
    raise CommandFault(
        missing or f'cannot read "{label}": {said or "git failed"}',
        help=help or "give a plan, a source, or REV:PATH of a git repository",
    )


def lacking(label: str) -> CommandFault:
    """The fault of a clone that has a revision, but not all that it is made of."""
    message = f'this clone lacks files or folders of "{label}", and they are not fetched here'
    return CommandFault(message, help=_PARTIAL if _is_partial() else _DAMAGED)


def _is_partial() -> bool:
    """Whether this clone was made with a filter, so that objects are missing until git fetches them."""
    return read_git(["config", "--get-regexp", r"^remote\..*\.promisor$"]).returncode == 0
