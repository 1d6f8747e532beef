"""The units of a step share where a program was found; the next step looks for it anew."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker

Run = Callable[..., "subprocess.CompletedProcess[str]"]
INSTALL = 'mkdir -p first && printf "#!/bin/sh\\necho first\\n" > first/tool && chmod +x first/tool'


def test_a_step_uses_what_the_step_before_has_installed(run_program: Run, plans: PlanMaker, tmp_path: Path) -> None:
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "tool").write_text("#!/bin/sh\necho second\n")
    (tmp_path / "second" / "tool").chmod(0o755)
    params = {"l": {"type": "array", "default": [1, 2, 3]}}
    steps = [
        plans.step("before", plans.unit("tool"), over="params.l"),
        plans.step("install", plans.unit("sh", "-c", INSTALL)),
        plans.step("after", plans.unit("tool"), over="params.l"),
    ]
    (tmp_path / "plan.json").write_bytes(plans.data(*steps, params=params))
    path = os.pathsep.join([str(tmp_path / "first"), str(tmp_path / "second"), os.environ["PATH"]])
    done = json.loads(run_program("akm-run", "plan.json", "--json", env={"PATH": path}).stdout)
    outputs = {step["id"]: step.get("output") for step in done["steps"]}
    assert (outputs["before"], outputs["after"]) == (["second"] * 3, ["first"] * 3)
