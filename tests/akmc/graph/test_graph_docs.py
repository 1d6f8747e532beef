"""The example of ``docs/graph.md`` is what ``akmc graph`` says."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from akmc.cli import run

PAGE = Path(__file__).resolve().parents[3] / "docs" / "graph.md"
DRAWING = re.compile(r"(<!-- drawing -->\n```mermaid\n)(.*?)(```\n)", re.DOTALL)


def test_the_example_is_drawn_as_shown(workflows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = PAGE.read_text("utf-8")
    source = re.search(r"<!-- source -->\n```markdown\n(.*?)```\n", text, re.DOTALL)
    assert source is not None
    (workflows / "workflows" / "ship.md").write_text(source[1])
    assert run(["graph", "workflows/ship.md"]) == 0
    out = capsys.readouterr().out
    if os.environ.get("AKMC_UPDATE_GOLDEN"):
        PAGE.write_text(DRAWING.sub(lambda match: match[1] + out + match[3], text), "utf-8")
    drawing = DRAWING.search(PAGE.read_text("utf-8"))
    assert drawing is not None
    assert drawing[2] == out
