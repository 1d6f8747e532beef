#!/usr/bin/env python3
"""Tries each mutant that cosmic-ray knows of the modules that docs/security.md rests on, in a copy of the tree.

mutants.py FOLDER [MODULE...]      # 0 when every mutant made a test fail, 1 otherwise; FOLDER holds the copy and the work

A mutant writes and removes whatever it likes: as root, one of them replaces ``/dev/null`` by a file. Run this as an account
without rights, or in a container that holds nothing else and has ``AKMC_MUTANTS_CONTAINED=1``.

Needs ``pip install cosmic-ray coverage``. What is done is kept in ``FOLDER``, in a database of cosmic-ray's for
each module: a run that was stopped goes on there, and ``cr-report`` reads it. Starting pytest for each mutant takes longer than its
tests do, so this process imports all libraries once, none of the product's modules, and forks for each mutant. A fork
runs the tests that pass over the mutant's line, the rest of the module's tests only when those pass.
"""

from __future__ import annotations

import ast
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGES: Final = ("akmc", "grammar", "schemas", "passes", "runtime")


@dataclass(frozen=True)
class Part:
    """What is mutated of a module, and the test files that cover it, the quickest first.

    ``names`` are the functions that a claim of the threat model rests on; empty for the whole module. What is left out
    words messages, reads files or decides about colors.
    """

    tests: str
    names: str = ""


_RUN: Final = "runtime/akm_run"
MODULES: Final = {
    f"{_RUN}/private_file.py": Part("runtime/test_private_file.py security/test_private_files.py"),
    "akmc/akmc/render/terminal.py": Part("security/test_terminal.py"),
    "akmc/akmc/render/github.py": Part("akmc/test_render_machine.py security/test_terminal.py"),
    "schemas/akm_schemas/visible.py": Part(
        "akmc/test_escape.py security/test_terminal.py security/test_ci_commands.py"
    ),
    "akmc/akmc/render/escape.py": Part("akmc/test_escape.py security/test_terminal.py"),
    "passes/akmc_passes/directories.py": Part("passes/test_directories_pass.py security/test_paths.py"),
    "akmc/akmc/files.py": Part("akmc/test_files.py security/test_paths.py"),
    "akmc/akmc/console.py": Part(
        "akmc/test_console.py security/test_terminal.py", "is_terminal out out_bytes err _write"
    ),
    f"{_RUN}/console.py": Part(
        "security/test_terminal.py security/test_ci_commands.py runtime/test_streams.py",
        "one_line joined barred harmless _no_ci_command escaped_json out say is_terminal write",
    ),
    "passes/akmc_passes/bundle.py": Part(
        "passes/test_bundle.py security/test_paths.py", "relative contains find_asset iter_assets _walk _admits"
    ),
    "akmc/akmc/diff/revisions.py": Part(
        "akmc/diff/test_diff_revisions.py security/test_git_revisions.py",
        "find_revision _from_root _kind ask_git",
    ),
    "akmc/akmc/diff/revision_view.py": Part(
        "akmc/diff/test_diff_revisions.py security/test_git_revisions.py",
        "write_view _needed _reached _target _blobs _rows _sizes _contents",
    ),
    f"{_RUN}/envfile.py": Part(
        "runtime/test_envfile.py", "read_env_file secrets_in config_folder secret_variable _secret"
    ),
    f"{_RUN}/environment.py": Part(
        "runtime/test_dispatch_exec.py security/test_paths.py runtime/test_judge.py",
        "environment_of concealed_values _outer _bindings _env_file _lies_in",
    ),
    f"{_RUN}/dispatch/script_file.py": Part(
        "runtime/test_script_leftover.py security/test_private_files.py", "script_file _claimed _write"
    ),
    "schemas/akm_schemas/plan_integrity.py": Part(
        "schemas/test_decode.py schemas/test_plan_checks.py",
        "_versioned _check_plan _check_step _check_target _compare",
    ),
}
_LIBRARIES: Final = (
    "pytest hypothesis.strategies hypothesis.stateful msgspec click rich.console ruamel.yaml lark jsonschema networkx"
)
_COPY_LEAVES_OUT: Final = shutil.ignore_patterns(".venv*", ".git", "__pycache__", ".*_cache", ".hypothesis", "golden")
_SLOWER: Final = 4
"""A mutant is found, too, when its tests take so many times as long as without it, and ``_START_S`` more."""
_START_S: Final = 6
_MEMORY: Final = 4 << 30


class Coverage:
    """A pytest plugin that notes, by line of one module, which tests pass over it, and the seconds of each test."""

    def __init__(self, file: Path) -> None:
        import coverage

        self.file = file
        self.measured = coverage.Coverage(data_file=None, include=[str(file)], config_file=False)
        self.seconds: dict[str, float] = {}

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """What follows belongs to this test."""
        self.measured.switch_context(nodeid)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A part of a test has ended."""
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0.0) + report.duration

    def lines(self) -> dict[int, list[str]]:
        """The tests of each line."""
        found: dict[int, list[str]] = self.measured.get_data().contexts_by_lineno(str(self.file))
        return {line: sorted(filter(None, tests), key=lambda test: self.seconds[test]) for line, tests in found.items()}


def _forked(work: Callable[[], int], seconds: float) -> int | None:
    """The status of ``work`` in a process group of its own; ``None`` when it took more than ``seconds``."""
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        said = os.open("../said.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for descriptor, to in enumerate((os.open(os.devnull, os.O_RDONLY), said, said)):
            os.dup2(to, descriptor)
        try:
            os._exit(work())
        except BaseException:  # noqa: BLE001 - nothing of this process may go on in the fork
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(99)
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        return None
    finally:
        with suppress(ProcessLookupError, PermissionError):  # the group has ended
            os.killpg(child, signal.SIGKILL)
        with suppress(ChildProcessError):  # only what it had started was left
            os.waitpid(child, 0)


def _tests(words: list[str], plugins: tuple[object, ...] = ()) -> int:
    import pytest

    quiet = [
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "--no-header",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
    ]
    return int(pytest.main([*quiet, *words], plugins=list(plugins)))


def _covered(copy: Path, file: Path, tests: list[str]) -> tuple[dict[int, list[str]], dict[str, float]]:
    """The tests of each line of ``file``, the quickest first, and the seconds of each test; they have to pass."""
    with tempfile.NamedTemporaryFile("r", dir=copy.parent) as answer:

        def work() -> int:
            sys.dont_write_bytecode = False  # the forks after this one read what it compiled
            del os.environ["PYTHONDONTWRITEBYTECODE"]
            noted = Coverage(file)
            noted.measured.start()
            status = _tests(tests, (noted,))
            noted.measured.stop()
            Path(answer.name).write_text(repr((noted.lines(), noted.seconds)))
            return status

        status = _forked(work, 600)
        assert status == 0, f"the tests of {file} fail without a mutant ({status}); see said.txt"
        found: tuple[dict[int, list[str]], dict[str, float]] = ast.literal_eval(answer.read())
        return found


def _annotations(source: str) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """The places of annotations, which nothing evaluates in these modules."""
    for node in ast.walk(ast.parse(source)):
        for part in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(part, ast.expr):
                yield (part.lineno, part.col_offset), (part.end_lineno or 0, part.end_col_offset or 0)


def _survives(file: Path, source: str, mutated: str, work: list[tuple[list[str], float]]) -> bool:
    """Whether all lists of tests, each with the seconds it takes, pass with ``mutated`` in the place of ``source``."""
    file.write_text(mutated)
    try:
        return all(
            _forked(partial(_tests, tests), _SLOWER * seconds + _START_S) == 0 for tests, seconds in work if tests
        )
    finally:
        file.write_text(source)


def _module(copy: Path, module: str) -> int:
    """Try the mutants of one module that have no result yet; the number of survivors."""
    plugins, mutating = import_module("cosmic_ray.plugins"), import_module("cosmic_ray.mutating")
    work, kept = import_module("cosmic_ray.work_item"), import_module("cosmic_ray.work_db")
    file = copy / module
    source, part = file.read_text(), MODULES[module]
    tests, names = [f"tests/{name}" for name in part.tests.split()], part.names.split()
    lines, seconds = _covered(copy, file, tests)
    for cached in file.parent.glob(f"__pycache__/{file.stem}.*"):
        cached.unlink()  # a mutant of the same length and second would be taken for it
    unread = list(_annotations(source))
    with kept.use_db(copy.parent / f"{file.parent.name}-{file.stem}.sqlite", kept.WorkDB.Mode.create) as db:
        if not db.num_work_items:
            import_module("cosmic_ray.commands.init").init([file], db, {})
        begun = time.monotonic()
        for item in list(db.pending_work_items):
            (mutation,) = item.mutations
            start, end = mutation.start_pos, mutation.end_pos
            elsewhere = names and mutation.definition_name not in (None, *names)
            if elsewhere or any(first <= start and end <= last for first, last in unread):
                db.set_result(item.job_id, work.WorkResult(work.WorkerOutcome.SKIPPED))
                continue
            mutated = mutating.mutate_code(source, plugins.get_operator(mutation.operator_name)(), mutation.occurrence)
            near = lines.get(start[0], [])
            rest = [test for test in seconds if test not in near]
            tried = [(chosen, sum(seconds[test] for test in chosen)) for chosen in (near, rest)]
            alive = mutated is not None and _survives(file, source, mutated, tried)
            outcome = work.TestOutcome.SURVIVED if alive else work.TestOutcome.KILLED
            db.set_result(item.job_id, work.WorkResult(work.WorkerOutcome.NORMAL, None, outcome, mutated))
            if alive:
                line = (mutated or "").split("\n")[start[0] - 1].strip()
                print(f"SURVIVED {module}:{start[0]} {mutation.operator_name}: {line}", flush=True)
        results = [result for _, result in db.results]
    skipped = sum(result.worker_outcome == work.WorkerOutcome.SKIPPED for result in results)
    survivors = sum(result.test_outcome == work.TestOutcome.SURVIVED for result in results)
    took = time.monotonic() - begun
    print(f"{module}: {len(results) - skipped} mutants, {survivors} survivors, {took:.0f} s", flush=True)
    return int(survivors)


def main() -> int:
    """Copy, mutate, test, tell."""
    if hasattr(os, "geteuid") and os.geteuid() == 0 and os.environ.get("AKMC_MUTANTS_CONTAINED") != "1":
        print("mutants.py: a mutant of root can replace any file; see the help in this program", file=sys.stderr)
        return 2
    folder, chosen = Path(sys.argv[1]).resolve(), sys.argv[2:] or list(MODULES)
    copy = folder / "tree"
    if not copy.exists():
        shutil.copytree(ROOT, copy, symlinks=True, ignore=_COPY_LEAVES_OUT)
    os.chdir(copy)
    paths = [str(copy / name) for name in PACKAGES]
    os.environ |= {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.path[:0] = paths
    sys.dont_write_bytecode = True
    for name in _LIBRARIES.split():
        import_module(name)
    return 1 if sum([_module(copy, module) for module in chosen]) else 0


if __name__ == "__main__":
    sys.exit(main())
