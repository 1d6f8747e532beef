"""script units: private while they run, gone afterwards."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from akm_run.cancel import Cancellation
from akm_run.dispatch import dispatcher_for
from akm_run.dispatch.contract import UnitContext, UnitRequest, UnitResult
from akm_schemas.plan import ScriptTarget

Perform = Callable[..., UnitResult]
INTERPRETERS = {"sh": ["sh"], "py": ["python3"]}


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def perform(tmp_path: Path, temporary: Path) -> Iterator[Perform]:
    cancel = Cancellation()

    def run(text: str, extension: str = "sh", encoded: str | None = None, **more: Any) -> UnitResult:
        data = text.encode()
        target = ScriptTarget(
            ref="scripts/x",
            interpreter=INTERPRETERS[extension],
            extension=extension,
            bytes_base64=base64.b64encode(data).decode() if encoded is None else encoded,
            byte_length=len(data),
            content_hash="",
            input_bindings=[],
        )
        fixed: dict[str, Any] = {"env": (), "schema": None, "timeout_s": 30.0, "context": UnitContext({})} | more
        request = UnitRequest("r1", "a", "a:solo", 1, target, "x", workspace=tmp_path, bundle=tmp_path, **fixed)
        dispatcher = dispatcher_for(target)
        assert dispatcher is not None
        result = dispatcher(request, cancel)
        assert list(temporary.iterdir()) == []
        return result

    yield run
    cancel.close()


def test_private_and_deleted(perform: Perform, tmp_path: Path) -> None:
    text = 'printf %s "$0" > where.txt; ls -l "$0" | cut -c1-10; ls -ld "$(dirname "$0")" | cut -c1-10'
    assert perform(text).value == "-rwx------\ndrwx------"
    assert not Path((tmp_path / "where.txt").read_text()).exists()


def test_bytes_are_kept(perform: Perform) -> None:
    assert perform('#!/nowhere\nprintf "%s" "ä\\r"\r').value == "ä\\r\r"


@pytest.mark.parametrize(
    ("text", "reason"),
    [("exit 3", "non_zero_exit"), ("sleep 20", "timeout"), ("kill -9 $$", "non_zero_exit"), ('rm "$0"', None)],
)
def test_deleted_on_every_way_out(perform: Perform, text: str, reason: str | None) -> None:
    assert perform(text, timeout_s=0.5).failure_reason == reason


def test_values_and_schema(perform: Perform) -> None:
    text = "import os; print('{\"id\": \"' + os.environ['AKM_UNIT_ID'] + '\"}')"
    assert perform(text, "py", schema={"type": "object"}).value == {"id": "a:solo"}


def test_python_under_its_other_name(perform: Perform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").write_text('#!/bin/sh\necho "as python: $(/usr/bin/basename "$1")"\n')
    (tmp_path / "bin" / "python").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert perform("print(1)", "py").value == "as python: script.py"
    monkeypatch.setenv("PATH", str(tmp_path))
    result = perform("print(1)", "py")
    assert result.failure_reason == "spawn_failed"
    assert result.diagnostic is not None
    assert "'python3'" in result.diagnostic


def test_nowhere_to_write(perform: Perform, temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temporary / "missing"))
    result = perform("echo")
    assert result.failure_reason == "spawn_failed"
    assert result.diagnostic is not None
    assert "scripts/x cannot be written" in result.diagnostic


def test_damaged_bytes(perform: Perform) -> None:
    assert perform("", encoded="?").failure_reason == "spawn_failed"
