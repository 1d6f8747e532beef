"""Real files of both superseded formats: recognised by check, and clean after migration."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Callable
from typing import Any

import pytest

CORPUS = pathlib.Path(__file__).resolve().parents[4] / "shared" / "corpus" / "legacy"
pytestmark = pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus of old workflows is not beside the checkout")
OLD = sorted([*CORPUS.glob("classic/*.md"), *CORPUS.glob("program/*.y*ml")])


@pytest.fixture
def legacy(tmp_path: pathlib.Path) -> pathlib.Path:
    """All old files in the ``workflows`` of a bundle."""
    (tmp_path / "workflows").mkdir()
    for path in OLD:
        shutil.copyfile(path, tmp_path / "workflows" / path.name)
    return tmp_path


def test_check_recognises_each(legacy: pathlib.Path, run_program: Callable[..., Any]) -> None:
    said = run_program("akmc", "check", "--format", "concise", expect=1).stdout.splitlines()
    assert len(OLD) > 5
    assert sorted(line.split(":")[0] for line in said) == sorted(f"workflows/{path.name}" for path in OLD)
    assert all("superseded-format" in line for line in said)


def test_all_migrate_to_what_checks_clean(legacy: pathlib.Path, run_program: Callable[..., Any]) -> None:
    done = run_program("akmc", "migrate", *(f"workflows/{path.name}" for path in OLD), "-o", "new/workflows")
    assert done.stdout.splitlines() == [f"new/workflows/{path.stem}.md" for path in OLD]
    assert all(": warning: " in line for line in done.stderr.splitlines())
    run_program("akmc", "check", "--strict", "new")
    for path in (legacy / "new" / "workflows").iterdir():
        assert "Step ID:" not in path.read_text()
