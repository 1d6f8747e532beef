"""Golden pairs: what ``akmc check`` prints for each ``tests/golden/err/<name>.md`` is exactly ``<name>.out``.

The file is checked as ``workflows/<name>.md``, with ``<name>.config.json`` as the config where there is one.
``AKMC_UPDATE_GOLDEN=1 pytest tests/akmc/test_golden_err.py`` writes the outputs anew; read the diff before it is kept.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from akmc.cli import run
from akmc_grammar.rules import RULES

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "err"
UPDATE = os.environ.get("AKMC_UPDATE_GOLDEN") == "1"
NAMES = sorted(path.stem for path in GOLDEN.glob("*.md"))
_HEAD = re.compile(r"^(?:error|warning|note)\[(AKM\d{4}) ([a-z0-9-]+)\]: ", re.MULTILINE)

# What a Markdown file of its own, with a config, cannot show.
ELSEWHERE = {
    "ambiguous-ref": "needs two files",
    "config-too-large": "needs a config of 256 KiB",
    "plan-bytes": "needs a source beyond 1.75 MiB of plan",
    "source-changed-during-freeze": "needs a second writer",
    "source-not-utf8": "a golden is UTF-8 text",
    "unreadable-source": "needs a file without permissions",
    "unrecognised-extension": "needs another extension",
}
OTHER_LANGUAGES = ("yaml_workflow", "task", "composition", "bindings")


@pytest.mark.parametrize("name", NAMES)
def test_output_is_exact(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "none"))
    monkeypatch.setenv("NO_COLOR", "1")
    path = Path("workflows", f"{name}.md")
    path.parent.mkdir()
    path.write_bytes((GOLDEN / f"{name}.md").read_bytes())
    config = GOLDEN / f"{name}.config.json"
    if config.exists():
        Path(".akm").mkdir()
        Path(".akm/config.json").write_bytes(config.read_bytes())
    status = run(["check", str(path)])
    captured = capsysbinary.readouterr()
    found = captured.out.decode()
    golden = GOLDEN / f"{name}.out"
    assert status == (1 if "error[" in found else 0), captured.err.decode()
    if UPDATE:
        golden.write_text(found, "utf-8")
    assert found == golden.read_text("utf-8")
    assert _HEAD.search(found)


def test_every_rule_of_the_markdown_language_has_a_golden() -> None:
    shown = {name for path in GOLDEN.glob("*.out") for _, name in _HEAD.findall(path.read_text("utf-8"))}
    wanted = {rule.name for rule in RULES.values() if rule.owner not in OTHER_LANGUAGES}
    assert sorted(wanted - shown - set(ELSEWHERE)) == []
    assert sorted(shown & set(ELSEWHERE)) == []


def test_no_output_is_left_of_a_golden_that_is_gone() -> None:
    assert {path.stem for path in GOLDEN.glob("*.out")} == set(NAMES)
