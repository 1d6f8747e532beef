"""``REV:PATH`` in a real git repository."""

from __future__ import annotations

import io
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from akm_schemas.bounds import MIB
from akmc.diff import revision_view
from akmc.diff.revision_view import write_view
from akmc.diff.revisions import find_revision, merge_base
from akmc.faults import CommandFault


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One commit with a bundle in ``sub/`` and a file that is no asset; the working tree has moved on."""
    root = tmp_path / "repository"
    for name, text in {
        "sub/workflows/a.md": "one\n",
        "sub/scripts/x.sh": "ls\n",
        "sub/.akm/config.json": "{}\n",
        "big/data.bin": "0" * 100,
        ".gitattributes": "*.sh export-ignore\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    monkeypatch.chdir(root)
    for key, value in {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}.items():
        monkeypatch.setenv(key, value)
    _git("init", "-q", ".")
    _git("add", ".")
    _git("-c", "user.name=T", "-c", "user.email=t@example.invalid", "commit", "-qm", "one")
    (root / "sub/scripts/x.sh").write_text("ls -a\n")
    (root / "sub/workflows/a.md").unlink()
    return root


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def test_the_view_holds_the_assets_as_committed(repository: Path, tmp_path: Path) -> None:
    before = _git("status", "--porcelain")
    view = tmp_path / "view"
    named = write_view(find_revision("HEAD:sub/workflows/a.md"), view)
    assert named.read_bytes() == b"one\n"
    assert _files(view) == ["sub/.akm/config.json", "sub/scripts/x.sh", "sub/workflows/a.md"]
    assert (view / "sub/scripts/x.sh").read_text() == "ls\n"
    assert _git("status", "--porcelain") == before
    assert repository.is_dir()


@pytest.mark.parametrize("label", ["HEAD:./workflows/a.md", "HEAD:workflows/a.md", "HEAD:sub/workflows/a.md"])
def test_paths_count_from_the_root_or_from_here(repository: Path, monkeypatch: pytest.MonkeyPatch, label: str) -> None:
    monkeypatch.chdir(repository / "sub")
    assert find_revision(label).path == "sub/workflows/a.md"


@pytest.mark.parametrize(
    ("links", "brought"),
    [
        ({"sub/scripts/y.sh": "../../big/data.bin"}, ["big/data.bin"]),
        ({"sub/scripts/y.sh": "./..//.././big/data.bin"}, ["big/data.bin"]),
        ({"sub/scripts/y.sh": "../../near", "near": "big/data.bin"}, ["big/data.bin"]),
        ({"sub/scripts/y.sh": "../../near/data.bin", "near": "big"}, ["big/data.bin"]),
        ({"sub/scripts/y": "../../big", "big/more": "../far/one.sh"}, ["big/data.bin", "far/one.sh"]),
        (
            {"sub/scripts/y.sh": "../../far/../big/data.bin"},
            [".gitattributes", "big/data.bin", "far/one.sh", "zone.bin"],
        ),
        ({"sub/scripts/y.sh": "../../../outside", "sub/scripts/z.sh": "/outside"}, []),
        ({"sub/scripts/y.sh": "z.sh", "sub/scripts/z.sh": "y.sh"}, []),
        ({"sub/scripts/all": "../.."}, [".gitattributes", "big/data.bin", "far/one.sh", "zone.bin"]),
        ({"sub/scripts/y.sh": "../../+odd", "+odd": "big/data.bin"}, ["big/data.bin"]),
        ({"sub/scripts/y.sh": "../../ready", "ready": "big/data.bin"}, ["big/data.bin"]),
        ({"sub/scripts/y.sh": "../../zone.bin"}, ["zone.bin"]),
    ],
)
def test_a_link_among_the_assets_brings_what_it_leads_to(
    repository: Path, tmp_path: Path, links: dict[str, str], brought: list[str]
) -> None:
    (repository / "far").mkdir()
    (repository / "far/one.sh").write_text("ls\n")
    (repository / "zone.bin").write_text("0" * 100)
    for link, target in links.items():
        (repository / link).symlink_to(target)
    _git("add", "-A")
    _git("-c", "user.name=T", "-c", "user.email=t@example.invalid", "commit", "-qm", "two")
    view = tmp_path / "view"
    write_view(find_revision("HEAD:sub/.akm/config.json"), view)
    assert [name for name in _files(view) if not name.startswith("sub/") and not (view / name).is_symlink()] == brought
    for link, target in links.items():
        if link.endswith(".sh") and brought:
            assert (view / link).read_text() == "0" * 100
        elif not brought:
            assert (view / link).readlink() == Path(target)


def test_a_named_file_outside_every_asset_folder_comes_alone(repository: Path, tmp_path: Path) -> None:
    for name in ("flow.md", "aside.md", "zebra.md"):
        (repository / name).write_text(f"{name}\n")
    _git("add", "-A")
    _git("-c", "user.name=T", "-c", "user.email=t@example.invalid", "commit", "-qm", "two")
    view = tmp_path / "view"
    assert write_view(find_revision("HEAD:flow.md"), view).read_text() == "flow.md\n"
    assert [name for name in _files(view) if not name.startswith("sub/")] == ["flow.md"]


def test_sizes_of_a_view(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Assets may have their largest size, and all of them together the whole sum; larger ones do not count."""
    for name, size in {"small.sh": 60, "largest.sh": 100, "huge.sh": 1000}.items():
        (repository / "sub/scripts" / name).write_bytes(b"x" * size)
    _git("add", "-A")
    _git("-c", "user.name=T", "-c", "user.email=t@example.invalid", "commit", "-qm", "two")
    monkeypatch.setattr(revision_view, "_LARGEST", 100)
    revision = find_revision("HEAD:sub/.akm/config.json")
    others = len("{}\n") + len("ls -a\n")
    monkeypatch.setattr(revision_view, "_TOTAL", 160 + others)
    view = tmp_path / "view"
    write_view(revision, view)
    sizes = {path.name: path.stat().st_size for path in (view / "sub/scripts").iterdir()}
    assert sizes == {"x.sh": 6, "small.sh": 60, "largest.sh": 100, "huge.sh": 101}
    assert (view / "sub/scripts/largest.sh").read_bytes() == b"x" * 100
    monkeypatch.setattr(revision_view, "_TOTAL", 160 + others - 1)
    with pytest.raises(CommandFault, match="hold more than"):
        write_view(revision, tmp_path / "again")


def test_megabytes_of_assets_are_laid_out(repository: Path, tmp_path: Path) -> None:
    for number in range(3):
        (repository / f"sub/scripts/{number}.sh").write_bytes(b"x" * MIB)
    _git("add", "-A")
    _git("-c", "user.name=T", "-c", "user.email=t@example.invalid", "commit", "-qm", "two")
    write_view(find_revision("HEAD:sub/.akm/config.json"), tmp_path / "view")
    assert sum(path.stat().st_size for path in (tmp_path / "view/sub/scripts").iterdir()) > 3 * MIB


@pytest.mark.parametrize(("count", "length", "what"), [(100_000, 1, "100000 files"), (65_536, 256, "16 MiB of names")])
def test_files_and_names_that_are_kept_in_mind(repository: Path, count: int, length: int, what: str) -> None:
    del repository
    room = revision_view._Room(find_revision("HEAD:sub/workflows/a.md"))
    for _ in range(count):
        room.take(b"x" * length)
    with pytest.raises(CommandFault, match=f"more than {what}"):
        room.take(b"x")


class _Pieces(io.BytesIO):
    """What git writes, in the pieces in which it comes."""

    def __init__(self, *pieces: bytes) -> None:
        super().__init__()
        self._pieces = iter(pieces)

    def read(self, size: int | None = -1, /) -> bytes:
        del size
        return next(self._pieces, b"")


@pytest.mark.parametrize("length", [8193, 100_000, 20_000_000])
def test_a_name_without_an_end_is_not_gathered(length: int) -> None:
    assert list(revision_view._rows(_Pieces(b"x" * 8192, b"\0"))) == [b"x" * 8192]
    with pytest.raises(OSError, match="longer than any path"):
        list(revision_view._rows(_Pieces(b"x" * length, b"\0")))


@pytest.mark.parametrize("head", [b"11\n", b"13\n", b"abc missing\n", b"0 missing\n", b""])
def test_an_object_of_another_size_than_was_said_is_not_taken(monkeypatch: pytest.MonkeyPatch, head: bytes) -> None:
    @contextmanager
    def answers(words: list[str], stdin: object) -> Iterator[io.BytesIO]:
        del words, stdin
        yield io.BytesIO(head + b"x" * 12 + b"\n")

    monkeypatch.setattr(revision_view, "git_output", answers)
    blob = revision_view._Blob("workflows/a.md", "0" * 40, is_link=False)
    with pytest.raises(CommandFault):
        list(revision_view._contents([(blob, 12)], "HEAD:workflows/a.md"))


def test_a_link_that_is_longer_than_any_path_is_not_read(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "sub/scripts/y").symlink_to("../../hop")
    (repository / "long").write_text("./" * 2049)
    _git("add", "-A")
    _git("update-index", "--add", "--cacheinfo", f"120000,{_git('hash-object', '-w', 'long').strip()},hop")
    _git("-c", "user.name=T", "-c", "user.email=t@example.invalid", "commit", "-qm", "two")
    reached, contents = revision_view._reached, revision_view._contents
    read: list[int] = []

    def watched(blobs: list[tuple[revision_view._Blob, int]], label: str) -> Iterator[bytes]:
        read.extend(size for _, size in blobs)
        return contents(blobs, label)

    def following(*arguments: Any) -> set[str]:
        with monkeypatch.context() as patch:
            patch.setattr(revision_view, "_contents", watched)
            return reached(*arguments)

    monkeypatch.setattr(revision_view, "_reached", following)
    with pytest.raises(CommandFault, match="cannot lay out"):  # no file system has such a link
        write_view(find_revision("HEAD:sub/.akm/config.json"), tmp_path / "view")
    assert read == [len("../../hop")]


@pytest.mark.parametrize(
    ("label", "says"),
    [
        ("nowhere:sub/workflows/a.md", 'git knows no revision "nowhere"'),
        ("HEAD:sub/workflows/b.md", 'revision "HEAD" has no file "sub/workflows/b.md"'),
        ("HEAD:sub/workflows", '"HEAD:sub/workflows" is a folder'),
        ("HEAD:sub/workflows/", '"HEAD:sub/workflows/" is a folder'),
        ("HEAD:./big", '"HEAD:./big" is a folder'),
        ("HEAD:", '"HEAD:" is a folder'),
        ("HEAD:a blob", 'has no file "a blob"'),
        ("HEAD:a tree", 'has no file "a tree"'),
        ("HEAD:../x.md", 'has no file "../x.md"'),
        ("--output=x:sub/workflows/a.md", "git knows no revision"),
        (":sub/workflows/a.md", "git knows no revision"),
    ],
)
def test_what_git_does_not_have_is_a_usage_fault(repository: Path, label: str, says: str) -> None:
    del repository
    with pytest.raises(CommandFault) as caught:
        find_revision(label)
    assert caught.value.status == 2
    assert says in caught.value.message


def test_outside_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(CommandFault, match="not a git repository"):
        find_revision("HEAD:workflows/a.md")


def test_a_shallow_clone_is_told_to_fetch_more(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A commit that the clone lacks is no typo: the help names what fetches it, here and in CI."""
    first = _git("rev-parse", "HEAD").strip()
    _git("-c", "user.name=T", "-c", "user.email=t@example.invalid", "commit", "-qam", "two")
    _git("clone", "-q", "--depth=1", repository.as_uri(), str(tmp_path / "shallow"))
    with pytest.raises(CommandFault) as whole:
        merge_base("0" * 40)
    assert "--unshallow" not in (whole.value.help or "")
    monkeypatch.chdir(tmp_path / "shallow")
    for ask in (merge_base, lambda rev: find_revision(f"{rev}:sub/workflows/a.md")):
        with pytest.raises(CommandFault) as fault:
            ask(first)
        assert f'git knows no revision "{first}"' in fault.value.message
        assert "git fetch --unshallow" in (fault.value.help or "")
        assert "fetch-depth: 0" in (fault.value.help or "")
