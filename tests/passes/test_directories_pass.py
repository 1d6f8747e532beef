"""Working directories behind links."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MARKDOWN = "---\nsteps:\n  - id: a\n    unit: {exec: {command: [make], cwd: DIR}}\n---\n## a\nGo.\n"
YAML = (
    "name: A\non: {workflow_dispatch: {}}\njobs:\n  main:\n    runs-on: [self-hosted]\n    steps:\n"
    "      - {id: a, run: make, working-directory: DIR}\n"
)
TASK = "version: 4\nrun: make\nworking-directory: DIR\n"


@pytest.mark.parametrize(
    ("directory", "escapes"), [("in", False), ("gone/sub", False), ("out", True), ("out/sub", True)]
)
def test_links_are_followed(compose: Callable[..., Any], tmp_path: Path, directory: str, escapes: bool) -> None:
    (tmp_path / "b" / "real").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "b" / "in").symlink_to("real")
    (tmp_path / "b" / "out").symlink_to("../outside")
    files = {"b/workflows/m.md": MARKDOWN, "b/workflows/y.yml": YAML, "b/tasks/t.yml": TASK}
    texts = {name: text.replace("DIR", directory) for name, text in files.items()}
    expected = {
        "b/workflows/m.md": ("exec-cwd-escape", 4),
        "b/workflows/y.yml": ("working-directory-escape", 7),
        "b/tasks/t.yml": ("working-directory-escape", 3),
    }
    for root, (rule, line) in expected.items():
        found = compose(texts, root).rules
        assert found == ([(rule, root, line)] if escapes else [])
