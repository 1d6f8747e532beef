"""Families, refs and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from akmc_passes.bundle import Bundle, Found, NotFound, classify, find_asset, find_bundle, iter_assets, similar_names


def _touch(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


@pytest.mark.parametrize(
    ("path", "root", "family", "ref"),
    [
        ("b/workflows/x.md", "b", "workflows", "workflows/x"),
        ("b/workflows/deep/er/x.yml", "b", "workflows", "workflows/deep/er/x"),
        ("b/tasks/t.yml", "b", "tasks", "tasks/t"),
        ("b/scripts/run.py", "b", "scripts", "scripts/run.py"),
        ("b/commands/c.md", "b", "commands", "commands/c"),
        ("b/env/ci.env", "b", "env", "env/ci"),
        ("b/workflows/scripts/x.md", "b", "workflows", "workflows/scripts/x"),  # scripts admits no .md
        ("b/workflows/tasks/x.yml", "b/workflows", "tasks", "tasks/x"),  # the nearest family wins
        ("b/tasks/workflows/x.md", "b/tasks", "workflows", "workflows/x"),
    ],
)
def test_a_file_belongs_to_its_nearest_family(tmp_path: Path, path: str, root: str, family: str, ref: str) -> None:
    located = classify(tmp_path / path)
    assert located is not None
    assert (located.bundle.root, located.family, located.ref) == (tmp_path / root, family, ref)
    assert located.recognised


@pytest.mark.parametrize(
    "path",
    [
        "b/docs/x.md",
        "b/workflows/README.md",
        ".github/workflows/x.yml",
        "b/.github/workflows/x.yml",
        "b/workflows/.hidden/x.md",
        "b/tasks/x.md",
        "b/workflows/x.txt",
    ],
)
def test_a_file_outside_every_family(tmp_path: Path, path: str) -> None:
    assert classify(tmp_path / path) is None


def test_yaml_is_told_by_name(tmp_path: Path) -> None:
    located = classify(tmp_path / "workflows" / "x.yaml")
    assert located is not None
    assert not located.recognised


def test_a_named_bundle_takes_its_first_folder(tmp_path: Path) -> None:
    located = classify(tmp_path / ".github/workflows/tasks/x.yml", Bundle(tmp_path / ".github"))
    assert located is not None
    assert (located.family, located.ref, located.path) == ("workflows", "workflows/tasks/x", "workflows/tasks/x.yml")
    assert classify(tmp_path / "elsewhere/workflows/x.md", Bundle(tmp_path / "b")) is None


def test_markdown_wins_and_names_its_shadow(tmp_path: Path) -> None:
    _touch(tmp_path, "workflows/x.md", "workflows/x.yml", "workflows/y.yml")
    bundle = Bundle(tmp_path)
    assert find_asset(bundle, "workflows", "x") == Found(
        tmp_path / "workflows/x.md", "workflows/x.md", "workflows/x.yml"
    )
    assert find_asset(bundle, "workflows", "y") == Found(tmp_path / "workflows/y.yml", "workflows/y.yml")
    assert find_asset(bundle, "workflows", "z") == NotFound("missing", ("workflows/z.md", "workflows/z.yml"))
    assert find_asset(bundle, "scripts", "x") == NotFound("missing", ("scripts/x",))


def test_links_must_stay_inside(tmp_path: Path) -> None:
    _touch(tmp_path, "outside/list.sh", "b/lib/list.sh")
    (tmp_path / "b/scripts").mkdir()
    (tmp_path / "b/scripts/out.sh").symlink_to(tmp_path / "outside/list.sh")
    (tmp_path / "b/scripts/in.sh").symlink_to("../lib/list.sh")
    (tmp_path / "b/scripts/gone.sh").symlink_to("/nonexistent/x.sh")
    (tmp_path / "b/env").symlink_to(tmp_path / "outside")
    bundle = Bundle(tmp_path / "b")
    assert find_asset(bundle, "scripts", "out.sh") == NotFound("escapes", ("scripts/out.sh",))
    assert find_asset(bundle, "scripts", "gone.sh") == NotFound("escapes", ("scripts/gone.sh",))
    assert isinstance(find_asset(bundle, "scripts", "in.sh"), Found)
    assert not bundle.contains(tmp_path / "b/env/list.sh")


def test_what_is_no_file_is_said_and_never_suggested(tmp_path: Path) -> None:
    _touch(tmp_path, "env/x.env", "env/folder.env/y", "workflows/w.md/y", "workflows/w.yml")
    (tmp_path / "env/gone.env").symlink_to("nothing")
    bundle = Bundle(tmp_path)
    folder = find_asset(bundle, "env", "folder")
    assert isinstance(folder, NotFound) and folder.says == '"env/folder.env" is a directory'
    assert folder.remedy == "put a file in the place of env/folder.env, or mend the ref"
    assert find_asset(bundle, "env", "gone") == NotFound("missing", ("env/gone.env",))
    assert find_asset(bundle, "workflows", "w") == Found(tmp_path / "workflows/w.yml", "workflows/w.yml")
    assert similar_names(bundle, "env") == ["env/x"]


def test_a_bundle_reached_through_a_link_is_whole(tmp_path: Path) -> None:
    _touch(tmp_path, "real/env/x.env")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert isinstance(find_asset(Bundle(tmp_path / "link"), "env", "x"), Found)


def test_find_bundle(tmp_path: Path) -> None:
    _touch(tmp_path, "b/workflows/deep/x.md", "b/docs/x.txt", "none/x.txt", "b/.github/workflows/ci.yml")
    (tmp_path / ".git").mkdir()
    assert find_bundle(tmp_path / "b") == Bundle(tmp_path / "b")
    assert find_bundle(tmp_path / "b/workflows/deep") == Bundle(tmp_path / "b")
    assert find_bundle(tmp_path / "b/docs") == Bundle(tmp_path / "b")
    assert find_bundle(tmp_path / "none") is None
    assert find_bundle(tmp_path / "b/.github") is None


def test_iter_assets(tmp_path: Path) -> None:
    _touch(
        tmp_path,
        "workflows/b.md",
        "workflows/a.yml",
        "workflows/old.yaml",
        "workflows/README.md",
        "workflows/notes.txt",
        "workflows/deep/c.md",
        "workflows/.hidden/d.md",
        "tasks/t.yml",
        "commands/c.md",
        "docs/e.md",
    )
    (tmp_path / "workflows/dangling.md").symlink_to("/nonexistent/x.md")
    found = [(asset.path, asset.recognised) for asset in iter_assets(Bundle(tmp_path))]
    assert found == [
        ("workflows/a.yml", True),
        ("workflows/b.md", True),
        ("workflows/dangling.md", True),
        ("workflows/old.yaml", False),
        ("workflows/deep/c.md", True),
        ("tasks/t.yml", True),
    ]
    assert [asset.path for asset in iter_assets(Bundle(tmp_path), tmp_path / "workflows/deep")] == [
        "workflows/deep/c.md"
    ]
    assert similar_names(Bundle(tmp_path), "commands") == ["commands/c"]


def test_what_is_outside_has_no_path_in_the_bundle(tmp_path: Path) -> None:
    bundle = Bundle(tmp_path / "bundle")
    assert bundle.relative(tmp_path / "bundle") == "."
    assert bundle.relative(tmp_path / "bundle" / "workflows" / ".." / "tasks" / "x.yml") == "tasks/x.yml"
    for outside in (tmp_path, tmp_path / "bundle2" / "x", tmp_path / "a", tmp_path / "bundle" / ".." / "x"):
        assert bundle.relative(outside) is None, outside
