"""``REV:PATH`` in a real git repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

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
        ({"sub/scripts/y.sh": "../../far/../big/data.bin"}, [".gitattributes", "big/data.bin", "far/one.sh"]),
        ({"sub/scripts/y.sh": "../../../outside", "sub/scripts/z.sh": "/outside"}, []),
        ({"sub/scripts/y.sh": "z.sh", "sub/scripts/z.sh": "y.sh"}, []),
    ],
)
def test_a_link_among_the_assets_brings_what_it_leads_to(
    repository: Path, tmp_path: Path, links: dict[str, str], brought: list[str]
) -> None:
    (repository / "far").mkdir()
    (repository / "far/one.sh").write_text("ls\n")
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
