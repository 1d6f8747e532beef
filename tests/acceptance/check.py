#!/usr/bin/env python3
"""Runs the acceptance cases and compares the verdicts with ``not_yet.txt``.

Where ``../shared/cases`` lies beside the checkout, its cases and its runner are used; else the copies in this folder.
A case that fails although it is not listed fails the check, and so does a listed case that passes: the list only shrinks.

    check.py [--only TEXT] [--interpreter BIN]     # BIN: a folder whose akm-run is used instead of the one on PATH
"""

from __future__ import annotations

import argparse
import concurrent.futures
import importlib.util
import os
import pathlib
import shutil
import sys
import tempfile
from types import ModuleType
from typing import Any

from ruamel.yaml import YAML

HERE = pathlib.Path(__file__).resolve().parent
SHARED = HERE.parents[2] / "shared"


def source() -> pathlib.Path:
    """The folder that holds ``cases`` and ``tools``."""
    return SHARED if (SHARED / "cases").is_dir() and (SHARED / "tools" / "run_cases.py").is_file() else HERE


def load_runner(root: pathlib.Path) -> ModuleType:
    """The case runner as a module."""
    path = root / "tools" / "run_cases.py"
    sys.path.insert(0, str(path.parent))
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("run_cases", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_cases(root: pathlib.Path, only: str) -> list[dict[str, Any]]:
    """All cases whose id contains ``only``."""
    yaml = YAML(typ="safe")
    files = sorted((root / "cases").glob("*.yaml"))
    cases = [case for file in files for case in yaml.load(file.read_text(encoding="utf-8"))]
    return [case for case in cases if only in case["id"]]


def not_yet() -> dict[str, str]:
    """Case id -> why it cannot pass yet."""
    rows = [line for line in (HERE / "not_yet.txt").read_text().splitlines() if line and not line.startswith("#")]
    return dict(line.split(maxsplit=1) for line in rows)


def use_interpreter(folder: pathlib.Path, scratch: str) -> None:
    """Put ``folder``'s akm-run before the one on PATH, and nothing else of that folder."""
    found = shutil.which("akm-run", path=str(folder.resolve()))
    if found is None:
        sys.exit(f"no akm-run in {folder}")
    (pathlib.Path(scratch) / "akm-run").symlink_to(found)
    os.environ["PATH"] = scratch + os.pathsep + os.environ["PATH"]


def main() -> int:
    """Run, compare, print; 0 when everything is as it should be."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--interpreter", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=2 * max(2, os.cpu_count() or 1))
    options = parser.parse_args()
    root, expected = source(), not_yet()
    runner, cases = load_runner(root), load_cases(root, options.only)
    if options.interpreter:
        asking = [case for case in cases if "llm" in case or case["id"].startswith("run-llm")]
        cases = [case for case in cases if case not in asking]
        print(f"{len(asking)} cases ask an llm engine: they need httpx, which the bare interpreter does not have")
    wrong = listed = passed = 0
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        if options.interpreter:
            use_interpreter(options.interpreter, scratch)
        for case, problems in zip(cases, pool.map(runner.run_case, cases), strict=True):
            name = case["id"]
            if problems and name in expected:
                listed += 1
            elif problems:
                wrong += 1
                print(f"FAIL {name}: " + "\n     ".join(problems))
            elif name in expected:
                wrong += 1
                print(f"FAIL {name}: passes now; take it out of not_yet.txt")
            else:
                passed += 1
    print(f"cases of {'the shared folder' if root == SHARED else 'this checkout'}; {listed} are listed in not_yet.txt")
    print(f"{passed} passed, {wrong} failed")
    return 1 if wrong or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
