"""From command-line paths to files."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from akmc.cli import run
from akmc.session.store import FileStore, NotAFile, is_taken, read_regular
from akmc.session.targets import Collector, Targets, bundle_option

Write = Callable[[Mapping[str, str]], Path]
FILES = {
    "workflows/b.md": "x",
    "workflows/a.md": "x",
    "workflows/README.md": "x",
    "workflows/deep/c.md": "x",
    "workflows/.hidden/d.md": "x",
    "workflows/old.yaml": "x",
    "workflows/notes.txt": "x",
    "tasks/t.yml": "x",
    "tasks/t.md": "x",
    "commands/x.md": "x",
    "scripts/x.sh": "x",
    "docs/note.md": "x",
    "docs/flow.md": "---\ntype: workflow  # by its own word\nsteps: []\n---\n",
    "docs/late.md": "---\nsteps: []\n---\ntype: workflow\n",
    ".github/workflows/ci.yml": "x",
}
ALL = ["tasks/t.yml", "workflows/a.md", "workflows/b.md", "workflows/deep/c.md", "workflows/old.yaml"]


def collect(*paths: str, bundle: str | None = None) -> tuple[list[str], Targets]:
    store = FileStore()
    targets = Collector(store, bundle_option(None if bundle is None else Path(bundle))).collect(paths)
    return [store.name(target.path) for target in targets.targets], targets


@pytest.mark.parametrize("paths", [(), (".",), ("workflows", "tasks"), (".", "workflows/a.md", "./workflows/b.md")])
def test_the_bundle_is_every_workflow_and_task(write: Write, paths: tuple[str, ...]) -> None:
    write(FILES)
    names, targets = collect(*paths)
    assert names == ALL and targets.problems == ()
    assert [target.recognised for target in targets.targets] == [True, True, True, True, False]


def test_refs_and_families(write: Write) -> None:
    write(FILES)
    _, targets = collect("workflows/deep/c.md", "tasks/t.yml")
    assert [(target.family, target.ref) for target in targets.targets] == [
        ("tasks", "tasks/t"),
        ("workflows", "workflows/deep/c"),
    ]


def test_names_are_as_given(write: Write) -> None:
    root = write(FILES)
    assert collect("./workflows/a.md")[0] == ["./workflows/a.md"]
    assert collect(f"{root}/workflows/a.md")[0] == [f"{root}/workflows/a.md"]
    assert collect(f"{root}/workflows/deep")[0] == [f"{root}/workflows/deep/c.md"]
    os.chdir("workflows")
    assert collect("../workflows/a.md", "../tasks")[0] == ["../tasks/t.yml", "../workflows/a.md"]
    assert collect()[0][:3] == ["../tasks/t.yml", "a.md", "b.md"]


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("absent.md", 'there is no file or folder "absent.md"'),
        ("absent/b.md", 'there is no file or folder "absent/b.md"'),
        ("workflows/bb.md", 'there is no file or folder "workflows/bb.md" (did you mean "workflows/b.md"?)'),
        ("work\0flows", 'there is no file or folder "work\0flows"'),
        ("docs/note.md", "belongs to no family folder"),
        ("docs/late.md", "belongs to no family folder"),
        ("docs", "holds none"),
        ("tasks/t.md", "belongs to no family folder"),
        ("workflows/notes.txt", "belongs to no family folder"),
        (".github/workflows/ci.yml", "belongs to no family folder"),
    ],
)
def test_what_makes_no_sense_is_said_and_the_rest_is_checked(write: Write, path: str, word: str) -> None:
    write(FILES)
    names, targets = collect(path, "workflows/a.md")
    assert names == ["workflows/a.md"]
    (problem,) = targets.problems
    assert problem.fatal and word in problem.message and path in problem.message


def test_the_way_out_of_a_path_without_a_family_is_said(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    plan = '{"budget":{},"irVersion":5,"steps":[]}'
    write({**FILES, "plan.json": plan, "other.json": "{}", "old.md": "# Workflow: x\n"})
    outside = ', or a Markdown file with "type: workflow" in its frontmatter'
    for path, has in (("docs/note.md", True), ("other.json", False), ("old.md", False)):
        (problem,) = collect(path)[1].problems
        assert problem.message.endswith(outside) == has
    for command in ("check", "compile"):
        assert run([command, "plan.json"]) == 2
        assert '"plan.json" is a compiled plan, no source: see akmc verify' in capsys.readouterr().err


def test_an_extension_in_another_case_is_a_target_that_is_reported(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write(dict.fromkeys(("workflows/UP.MD", "workflows/b.Yml", "tasks/t.YAML", "tasks/t.MD", "scripts/x.SH"), "x"))
    write(dict.fromkeys(("workflows/README.MD", "workflows/deep/README.md", "docs/x.MD"), "x"))
    names, targets = collect()
    assert names == ["tasks/t.YAML", "workflows/UP.MD", "workflows/b.Yml"]
    assert [target.recognised for target in targets.targets] == [False] * 3
    assert collect("workflows/UP.MD")[0] == collect("workflows/UP.MD", bundle=".")[0] == ["workflows/UP.MD"]
    for path, fatal in (("scripts/x.SH", True), ("docs/x.MD", True), ("workflows/README.MD", False)):
        (problem,) = collect(path)[1].problems
        assert problem.fatal == fatal, path
    assert run(["check", "--format", "concise"]) == 1
    said = [line.partition("unrecognised-extension]: ")[2] for line in capsys.readouterr().out.splitlines()]
    assert said == [
        f'the extension "{found}" is never recognised; expected "{expected}"'
        for found, expected in ((".YAML", ".yml"), (".MD", ".md"), (".Yml", ".yml"))
    ]


def test_a_name_is_taken_by_another_file_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "w.MD").touch()
    (tmp_path / "x.yml").touch()
    assert not is_taken(tmp_path / "w.md", by_other_than=tmp_path / "w.MD")
    assert is_taken(tmp_path / "x.yml", by_other_than=tmp_path / "x.yaml")
    monkeypatch.setattr(os.path, "lexists", lambda _: True)  # as where any case of a name leads to the file
    assert not is_taken(tmp_path / "w.md", by_other_than=tmp_path / "w.MD")
    assert is_taken(tmp_path / "X.yml", by_other_than=tmp_path / "x.yaml")


@pytest.mark.parametrize("path", ["workflows/README.md", "scripts/x.sh"])
def test_assets_that_are_not_checked_are_named_and_no_fault(write: Write, path: str) -> None:
    write(FILES)
    names, targets = collect(path, "workflows/a.md")
    assert names == ["workflows/a.md"]
    assert [problem.fatal for problem in targets.problems] == [False]


def test_commands_are_targets_where_they_are_named(write: Write) -> None:
    write({**FILES, "commands/deep/y.md": "x"})
    _, targets = collect("commands/x.md")
    assert [(target.family, target.ref) for target in targets.targets] == [("commands", "commands/x")]
    names, targets = collect("commands")
    assert names == ["commands/deep/y.md", "commands/x.md"] and targets.problems == ()
    names, targets = collect("scripts")
    assert names == [] and [problem.fatal for problem in targets.problems] == [False]


def test_a_command_that_says_it_is_a_workflow_is_one_when_named(write: Write) -> None:
    write({**FILES, "commands/flow.md": FILES["docs/flow.md"]})
    assert [target.family for target in collect("commands/flow.md")[1].targets] == ["workflows"]


@pytest.mark.parametrize("inside", ["", "workflows", "workflows/a.md"])
@pytest.mark.parametrize("name", [".github", ".x"])
def test_a_folder_with_a_dot_is_a_bundle_by_its_option_alone(
    write: Write, monkeypatch: pytest.MonkeyPatch, name: str, inside: str
) -> None:
    root = write({f"{name}/workflows/a.md": "x", f"{name}/deep/workflows/b.md": "x"})
    names, targets = collect(os.path.join(name, inside).rstrip("/"))  # noqa: PTH118 (as a person writes it)
    (problem,) = targets.problems
    assert names == [] and problem.fatal and f'the name of "{name}" begins with a dot' in problem.message
    assert collect(bundle=name)[0] == [f"{name}/workflows/a.md"]
    assert collect(f"{name}/workflows/a.md", bundle=name)[0] == [f"{name}/workflows/a.md"]
    monkeypatch.chdir(root / name)
    names, targets = collect(*([inside] if inside else []))
    (problem,) = targets.problems
    assert names == [] and problem.fatal and f'the name of "{name}" begins with a dot' in problem.message
    assert collect(bundle=".")[0] == ["workflows/a.md"]


def test_a_folder_with_a_dot_further_up_keeps_nothing_from_being_found(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write({".cache/checkout/workflows/a.md": "x", ".cache/checkout/docs/note.txt": "x"})
    monkeypatch.chdir(root / ".cache/checkout")
    assert collect()[0] == ["workflows/a.md"]
    assert collect("workflows/a.md")[0] == ["workflows/a.md"]
    assert "dot" not in collect("docs/note.txt")[1].problems[0].message


@pytest.mark.parametrize(
    ("name", "text", "is_older"),
    [
        ("old/a.md", "# Workflow: T\n", True),
        ("old/a.yml", "version: 1\nsteps: []\n", True),
        ("old/b.yml", "version: 4\n", False),
        ("old/b.md", "text\n", False),
    ],
)
def test_a_superseded_file_outside_every_family_names_migrate(
    write: Write, name: str, text: str, is_older: bool
) -> None:
    write({name: text})
    (problem,) = collect(name)[1].problems
    assert problem.fatal and (f"akmc migrate {name}" in problem.message) == is_older


def test_a_workflow_by_its_own_word_belongs_to_the_working_directory(write: Write) -> None:
    root = write(FILES)
    _, targets = collect("docs/flow.md")
    (target,) = targets.targets
    assert (target.family, target.ref, target.bundle.root) == ("workflows", "", root)


def test_the_bundle_option(write: Write) -> None:
    root = write({f"team/{name}": text for name, text in FILES.items()})
    assert collect(bundle="team")[0] == [f"team/{name}" for name in ALL]
    names, targets = collect("team/docs/flow.md", bundle="team")
    assert names == ["team/docs/flow.md"] and targets.targets[0].bundle.root == root / "team"


def test_bundles_below_a_folder_that_is_none(write: Write) -> None:
    write({f"packages/{name}/workflows/a.md": "x" for name in ("one", "two")} | {"packages/.x/workflows/a.md": "x"})
    expected = ["packages/one/workflows/a.md", "packages/two/workflows/a.md"]
    assert collect("packages")[0] == expected
    assert collect()[0] == expected


def test_no_bundle_at_all(bundle: Path) -> None:
    (bundle / "docs").mkdir()
    _, targets = collect()
    assert [problem.fatal for problem in targets.problems] == [True]


def test_dangling_links_are_targets(write: Write) -> None:
    root = write(FILES)
    (root / "workflows" / "gone.md").symlink_to("nowhere.md")
    assert "workflows/gone.md" in collect()[0]
    assert collect("workflows/gone.md")[0] == ["workflows/gone.md"]


def test_the_store_reads_once_and_knows_stand_ins(write: Write) -> None:
    root = write({"a.md": "on disk"})
    store = FileStore()
    assert store.read(Path("a.md")) is store.read(root / "a.md")
    (root / "a.md").write_text("later")
    assert store.read(Path("a.md")).text == "on disk"
    assert store.changed() == ("a.md",)
    store.put(Path("a.md"), b"stands in")
    assert store.read(Path("a.md")).text == "stands in" and store.changed() == ()
    store.put(Path("new.md"), b"")
    assert store.exists(Path("new.md")) and not store.exists(Path("other.md"))


def test_what_is_no_regular_file_is_never_read(bundle: Path) -> None:
    os.mkfifo(bundle / "pipe")
    (bundle / "folder").mkdir()
    for name, reason in {"pipe": "no regular file", "folder": "directory"}.items():
        with pytest.raises((NotAFile, IsADirectoryError), match=reason):
            read_regular(bundle / name)


SECRET = "---\nsteps: []\nsecret: 4711\n---\n"


@pytest.mark.parametrize("paths", [[], ["workflows/out.md", "tasks/out.yml", "workflows/old.yaml"]])
def test_a_link_out_of_the_bundle_is_reported_and_not_read(
    write: Write, tmp_path: Path, capfd: pytest.CaptureFixture[str], paths: list[str]
) -> None:
    root = write({"workflows/README.md": "x", "tasks/README.md": "x"})
    outside = root.parent / f"{root.name}-outside"
    outside.mkdir()
    (outside / "secret").write_text(SECRET)
    for name in ("workflows/out.md", "tasks/out.yml", "workflows/old.yaml"):
        (root / name).symlink_to(outside / "secret")
    for extra in ([], ["--fix"]):
        assert run(["check", *paths, *extra, "--format", "concise"]) == 1
        said = capfd.readouterr().out
        assert sorted(line.split(": ")[0] for line in said.splitlines()) == [
            "tasks/out.yml:1:1",
            "workflows/old.yaml:1:1",
            "workflows/out.md:1:1",
        ]
        assert said.count("ref-escapes-bundle") == 3
    assert run(["check", *paths]) == 1
    said = capfd.readouterr().out
    assert said.count("ref-escapes-bundle") == 3 and "4711" not in said and "secret" not in said
    assert (outside / "secret").read_text() == SECRET
    assert run(["compile", "workflows/out.md", "-o", "p.json"]) == 2
    said = capfd.readouterr().err
    assert "ref-escapes-bundle" in said and "4711" not in said and not (root / "p.json").exists()


@pytest.mark.parametrize(("named", "count"), [("workflows", 1), ("workflows/team", 0)])
def test_a_linked_folder_is_left_out_with_a_word(
    write: Write, capfd: pytest.CaptureFixture[str], named: str, count: int
) -> None:
    sound = "---\nsteps: [{id: a}]\n---\n## a\nGo.\n"
    root = write({"workflows/a.md": sound, "shared/b.md": sound})
    (root / "workflows/team").symlink_to("../shared")
    assert run(["check", named]) == 0
    said = capfd.readouterr().err
    assert f"{count} file" in said
    assert said.count('"workflows/team" is a link to a folder, and left out: name the files in it') == 1


def test_links_inside_and_links_to_the_bundle_are_fine(write: Write, capfd: pytest.CaptureFixture[str]) -> None:
    text = "---\nsteps:\n  - id: build\n    unit: {exec: {command: [make]}}\n---\n## build\nBuilds.\n"
    root = write({"real/workflows/a.md": text, "real/shared/b.txt": text})
    (root / "real/workflows/b.md").symlink_to("../shared/b.txt")
    (root / "link").symlink_to("real")
    assert run(["check", "link"]) == 0
    assert run(["check", "link/workflows/a.md", "link/workflows/b.md", "real"]) == 0
    assert run(["compile", "link/workflows/b.md", "-o", "p.json"]) == 0
    (root / "real/workflows/gone.md").symlink_to("../../nowhere.md")
    assert run(["check", "real", "--format", "concise"]) == 1
    assert "unreadable-source" in capfd.readouterr().out
