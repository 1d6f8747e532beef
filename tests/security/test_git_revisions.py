"""``REV:PATH`` of a repository that somebody else made: read, never checked out, and nothing of it is run."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from in_process import folder_with, survives

PLAIN = "---\nsteps: [{id: a, unit: {exec: {command: [echo, NUMBER]}}}]\n---\n## a\nx\n"
MODULES = "[submodule]\nurl = ext::sh -c touch% owned"


def git(*words: str, stdin: bytes = b"") -> str:
    variables = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
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
        # git itself finds the link, where both have the name of the folder that was asked for
        assert ended.status == 2 and (b"cannot lay out" if link == "scripts" else b"has no file") in ended.err
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
