"""Golden pairs: ``tests/golden/migrate/<name>.{md,yaml}`` becomes exactly ``<name>.out.md`` with ``<name>.warnings``.

``<name>.engines.json`` is the mapping file where there is one. ``AKMC_UPDATE_GOLDEN=1`` writes the outputs anew; read
the diff before it is kept.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from akmc.cli import run

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "migrate"
UPDATE = os.environ.get("AKMC_UPDATE_GOLDEN") == "1"
OLD = sorted(path for path in GOLDEN.iterdir() if path.suffix in (".md", ".yaml") and ".out" not in path.name)


@pytest.mark.parametrize("old", OLD, ids=lambda path: path.stem)
def test_result_and_warnings_are_exact(
    old: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "none"))
    Path(old.name).write_bytes(old.read_bytes())
    engines = GOLDEN / f"{old.stem}.engines.json"
    status = run(["migrate", old.name, *(["--engines", str(engines)] if engines.exists() else [])])
    captured = capsysbinary.readouterr()
    text, warnings = GOLDEN / f"{old.stem}.out.md", GOLDEN / f"{old.stem}.warnings"
    if UPDATE:
        text.write_bytes(captured.out)
        warnings.write_bytes(captured.err)
    assert status == 0, captured.err.decode()
    assert captured.out == text.read_bytes()
    assert captured.err == warnings.read_bytes()
    Path("workflows").mkdir()
    Path("workflows/new.md").write_bytes(captured.out)
    assert run(["check", "workflows/new.md"]) == 0


def test_there_are_goldens_of_each_format() -> None:
    assert {path.suffix for path in OLD} == {".md", ".yaml"}
    assert len(OLD) >= 3
