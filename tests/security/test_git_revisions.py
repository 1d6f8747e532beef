"""``REV:PATH`` of a repository that somebody else made: read, never checked out, and nothing of it is run."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from in_process import folder_with, survives

from akm_schemas.bounds import CONFIG_FILE_BYTES, MIB
from akmc.diff import revision_view

PLAIN = "---\nsteps: [{id: a, unit: {exec: {command: [echo, NUMBER]}}}]\n---\n## a\nx\n"
MODULES = "[submodule]\nurl = ext::sh -c touch% owned"


def git(*words: str, stdin: bytes = b"") -> str:
    variables = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    # what git tidies up in the background would go on while the folder is removed
    variables |= {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "maintenance.auto", "GIT_CONFIG_VALUE_0": "false"}
    for who in ("AUTHOR", "COMMITTER"):
        variables |= {f"GIT_{who}_NAME": "n", f"GIT_{who}_EMAIL": "e@example.org"}
    return subprocess.run(["git", *words], check=True, capture_output=True, env=variables, input=stdin).stdout.decode()


def committed(tree_lines: str) -> None:
    """A commit of exactly this tree, on the current branch, whatever a checkout would say to it."""
    tree = git("mktree", "--missing", stdin=tree_lines.encode()).strip()
    commit = git("commit-tree", tree, "-m", "x").strip()
    git("update-ref", "HEAD", commit)


def blob(text: str) -> str:
    return git("hash-object", "-w", "--stdin", stdin=text.encode()).strip()


def test_submodules_are_left_out() -> None:
    with folder_with({"workflows/x.md": PLAIN.encode()}):
        git("init", "-q")
        workflows = git("mktree", stdin=f"100644 blob {blob(PLAIN)}\tx.md\n".encode()).strip()
        committed(
            f"040000 tree {workflows}\tworkflows\n160000 commit {'1' * 40}\tscripts\n"
            f"100644 blob {blob(MODULES)}\t.gitmodules\n"
        )
        ended = survives("akmc", "diff", "HEAD:workflows/x.md", "workflows/x.md", "--exit-code")
        assert ended.status == 0, ended.text
        assert survives("akmc", "diff", "HEAD:scripts", "workflows/x.md").status == 2
        assert not Path("owned").exists()


@pytest.mark.parametrize("target", ["/etc/passwd", "../../../../etc/passwd", "../secret", ".git/config"])
def test_links_of_a_revision_show_nothing_outside_it(target: str) -> None:
    with folder_with({"repo/.keep": b"", "secret": b"found-it", "x.md": PLAIN.encode()}):
        os.chdir("repo")
        git("init", "-q")
        workflows = git("mktree", stdin=f"120000 blob {blob(target)}\tx.md\n".encode()).strip()
        committed(f"040000 tree {workflows}\tworkflows\n")
        for words in (["diff", "HEAD:workflows/x.md", "../x.md"], ["diff", "../x.md", "HEAD:workflows/x.md"]):
            ended = survives("akmc", *words)
            assert ended.status == 2
            assert b"found-it" not in ended.out + ended.err and b"root:" not in ended.out + ended.err


def tree_of(*entries: tuple[str, str]) -> str:
    """A tree of subtrees, by name and object id, with names that ``git mktree`` would refuse."""
    raw = b"".join(b"40000 " + name.encode() + b"\0" + bytes.fromhex(tree) for name, tree in sorted(entries))
    return git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw).strip()


@pytest.mark.parametrize("name", ["..", ".git"])
def test_names_that_git_would_not_check_out_are_not_laid_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with folder_with({"repo/.keep": b""}) as folder:
        monkeypatch.setattr(tempfile, "tempdir", str(folder / ".home"))
        os.chdir("repo")
        git("init", "-q")
        evil = git("mktree", stdin=f"100644 blob {blob('owned')}\tevil.md\n".encode()).strip()
        workflows = git("mktree", stdin=f"100644 blob {blob(PLAIN)}\tx.md\n".encode()).strip()
        top = tree_of((name, tree_of(("workflows", evil))), ("workflows", workflows))
        git("update-ref", "HEAD", git("commit-tree", top, "-m", "x").strip())
        assert survives("akmc", "diff", "HEAD:workflows/x.md", "HEAD:workflows/x.md").status == 0
        assert list(folder.rglob("evil.md")) == []


@pytest.mark.parametrize("link", ["scripts", "workflows"])
def test_nothing_is_written_through_a_link_of_a_revision(link: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name may stand twice in a forged tree: as a link to elsewhere, and as a folder whose files would land there."""
    with folder_with({"repo/.keep": b"", "elsewhere/.keep": b""}) as folder:
        monkeypatch.setattr(tempfile, "tempdir", str(folder / ".home"))
        os.chdir("repo")
        git("init", "-q")
        inner = git("mktree", stdin=f"100644 blob {blob(PLAIN)}\tx.md\n".encode()).strip()
        raw = f"120000 {link}\0".encode() + bytes.fromhex(blob(str(folder / "elsewhere")))
        raw += b"".join(f"40000 {name}\0".encode() + bytes.fromhex(inner) for name in ("scripts", "workflows"))
        top = git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw).strip()
        git("update-ref", "HEAD", git("commit-tree", top, "-m", "x").strip())
        ended = survives("akmc", "diff", "HEAD:workflows/x.md", "HEAD:workflows/x.md")
        assert ended.status == 2 and b"cannot lay out" in ended.err
        assert [path.name for path in (folder / "elsewhere").iterdir()] == [".keep"]


@pytest.mark.parametrize(
    "label", ["--help:x", "--upload-pack=touch owned:x", "-x:y", "HEAD:../x", ":x", "HEAD:", "x\n:y", "@{1}:x"]
)
def test_a_revision_is_never_an_option(label: str) -> None:
    with folder_with({"workflows/x.md": PLAIN.encode()}):
        git("init", "-q")
        assert survives("akmc", "diff", "--", label, "workflows/x.md").status == 2
        assert not Path("owned").exists()


def test_no_hook_filter_or_driver_of_the_repository_runs() -> None:
    with folder_with({"workflows/x.md": PLAIN.encode(), ".gitattributes": b"* filter=evil diff=evil\n"}):
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "x")
        for key in (
            "filter.evil.smudge",
            "filter.evil.clean",
            "diff.evil.textconv",
            "diff.evil.command",
            "core.fsmonitor",
        ):
            git("config", key, "touch owned; cat")
        git("config", "core.hooksPath", "hooks")
        Path("hooks").mkdir()
        for hook in ("post-checkout", "pre-commit", "reference-transaction", "post-index-change"):
            (Path("hooks") / hook).write_text("#!/bin/sh\ntouch owned\n")
            (Path("hooks") / hook).chmod(0o755)
        assert survives("akmc", "diff", "HEAD:workflows/x.md", "workflows/x.md").status == 0
        assert not Path("owned").exists()


def bait() -> str:
    """A program that leaves ``owned`` beside it, whoever starts it and with what words."""
    program = Path("evil.sh").resolve()
    program.write_text(f"#!/bin/sh\ntouch '{program.parent}/owned'\nexit 1\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.parametrize("left_out", ["blob:none", "tree:0"])
@pytest.mark.parametrize("way", ["ext", "uploadpack"])
def test_a_partial_clone_fetches_nothing(way: str, left_out: str) -> None:
    """git fetches what such a clone lacks on first use, in the way that the repository's own config says."""
    with folder_with({"src/workflows/x.md": PLAIN.encode()}) as folder:
        os.chdir("src")
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "x")
        Path("workflows/x.md").write_text(PLAIN.replace("NUMBER", "OTHER"))
        git("commit", "-qam", "y")
        git("config", "uploadpack.allowFilter", "true")
        address = (folder / "src").as_uri()
        os.chdir(folder)
        git("clone", "-q", f"--filter={left_out}", address, "clone")
        evil = bait()
        os.chdir("clone")
        git("config", "protocol.ext.allow", "always")
        git("config", *{"ext": ("remote.origin.url", f"ext::{evil} x")}.get(way, ("remote.origin.uploadpack", evil)))
        assert survives("akmc", "diff", "HEAD:workflows/x.md", "workflows/x.md", "--exit-code").status == 0
        for words in (["HEAD~1:workflows/x.md", "workflows/x.md"], ["--merge-base", "HEAD~1"]):
            ended = survives("akmc", "diff", *words)
            assert ended.status == 2
            assert b"this clone lacks" in ended.err and b"git fetch --refetch --no-filter" in ended.err
        assert not (folder / "owned").exists()
        git("config", "remote.origin.url", address)
        git("config", "remote.origin.uploadpack", "git-upload-pack")
        git("fetch", "-q", "--refetch", "--no-filter")
        assert survives("akmc", "diff", "HEAD~1:workflows/x.md", "workflows/x.md", "--exit-code").status == 1


def test_an_object_that_is_gone_is_told() -> None:
    with folder_with({"workflows/x.md": PLAIN.encode()}):
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "x")
        name = blob(PLAIN)
        (Path(".git/objects") / name[:2] / name[2:]).unlink()
        ended = survives("akmc", "diff", "HEAD:workflows/x.md", "workflows/x.md")
        assert ended.status == 2 and b"this clone lacks" in ended.err and b"git fsck" in ended.err


def test_the_monitor_of_a_repository_is_not_started() -> None:
    """What git tracks is listed for ``--refresh``: all plans, and the source of one that lies elsewhere."""
    with folder_with({"one/workflows/x.md": PLAIN.encode(), "plans/.keep": b""}) as folder:
        git("init", "-q")
        assert survives("akmc", "compile", "one/workflows/x.md", "-o", "plans/x.json").status == 0
        git("add", ".")
        git("config", "core.fsmonitor", bait())
        git("ls-files")
        assert (folder / "owned").exists()  # it is one that git would start
        (folder / "owned").unlink()
        assert survives("akmc", "compile", "--refresh").status == 0
        assert survives("akmc", "diff", "--merge-base", "HEAD").status == 0  # no commit yet: all is new
        assert not (folder / "owned").exists()


BY_SCRIPT = b"""name: A
on: {workflow_dispatch: {}}
jobs: {main: {runs-on: [self-hosted], steps: [{id: s, uses: scripts/large.sh}]}}
"""
LARGE = bytes(CONFIG_FILE_BYTES.high + MIB)


def test_a_blob_that_is_larger_than_any_asset_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """What uses one is told of its size; what does not use it is compared."""
    with folder_with({"workflows/x.md": PLAIN.encode(), "workflows/y.yml": BY_SCRIPT, "scripts/large.sh": LARGE}):
        Path("workflows/z.md").write_bytes(LARGE)
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "x")
        read: list[int] = []
        contents = revision_view._contents

        def watched(blobs: list[tuple[revision_view._Blob, int]], label: str) -> Iterator[bytes]:
            read.extend(size for _, size in blobs)
            return contents(blobs, label)

        monkeypatch.setattr(revision_view, "_contents", watched)
        assert survives("akmc", "diff", "HEAD:workflows/x.md", "workflows/x.md", "--exit-code").status == 0
        for path in ("workflows/y.yml", "workflows/z.md"):
            ended = survives("akmc", "diff", f"HEAD:{path}", "workflows/x.md")
            assert ended.status == 2
            assert f"{CONFIG_FILE_BYTES.high + 1}" in ended.text and "at most" in ended.text, ended.text
        assert len(read) == 6 and max(read) < MIB


@pytest.mark.parametrize(("kind", "most"), [("bytes", "256 MiB"), ("files", "100000 files"), ("tree", "50000 files")])
def test_a_revision_that_unpacks_to_too_much_is_refused(kind: str, most: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One blob or one tree may stand in a revision any number of times."""
    with folder_with({"workflows/x.md": PLAIN.encode()}) as folder:
        monkeypatch.setattr(tempfile, "tempdir", str(folder / ".home"))
        git("init", "-q")
        workflows = git("mktree", stdin=f"100644 blob {blob(PLAIN)}\tx.md\n".encode()).strip()
        content = bytes(CONFIG_FILE_BYTES.high - 1) if kind == "bytes" else b"x"
        one = git("hash-object", "-w", "--stdin", stdin=content).strip()
        copies = git("mktree", stdin="".join(f"100644 blob {one}\t{number}\n" for number in range(20)).encode())
        for _ in range(0 if kind == "bytes" else 6):
            rows = "".join(f"040000 tree {copies.strip()}\t{number}\n" for number in range(20))
            copies = git("mktree", stdin=rows.encode())
        name = "other" if kind == "tree" else "scripts"
        committed(f"040000 tree {workflows}\tworkflows\n040000 tree {copies.strip()}\t{name}\n")
        if kind == "tree":
            monkeypatch.setattr(revision_view, "_LISTED", 50_000)
        for words in (["HEAD:workflows/x.md", "workflows/x.md"], ["--merge-base", "HEAD"]):
            ended = survives("akmc", "diff", *words)
            assert ended.status == 2 and f"hold more than {most}\n" in ended.err.decode(), ended.err
