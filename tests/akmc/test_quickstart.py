"""The quickstart script, the README's first command, in a clone whose path a shell would take apart."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

if os.name != "posix":
    pytest.skip("the script is for POSIX shells", allow_module_level=True)

EXAMPLES = Path(__file__).resolve().parents[2] / "docs" / "examples"


def test_what_it_says_can_be_typed(tmp_path: Path, run_program: Any) -> None:
    clone = tmp_path / "it's my rëpo $HOME"
    programs = clone / ".venv" / "bin"
    shutil.copytree(EXAMPLES, clone / "docs" / "examples")
    programs.mkdir(parents=True)
    for name, module in (("akmc", "akmc"), ("akm-run", "akm_run")):  # as if it were installed already
        (programs / name).write_text(f'#!/bin/sh\nexec {sys.executable} -m {module} "$@"\n')
        (programs / name).chmod(0o755)
    done = run_program("sh", str(clone / "docs" / "examples" / "quickstart.sh"), env={"PYTHON": sys.executable})
    (line,) = (line.strip() for line in done.stdout.splitlines() if line.startswith("  PATH="))
    for name in ("akmc", "akm-run"):
        assert run_program("sh", "-c", f"{line}\ncommand -v {name}").stdout == f"{programs / name}\n"
    assert f"How workflows are written: {clone}/docs/language.md" in done.stdout
