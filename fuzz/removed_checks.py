#!/usr/bin/env python3
"""Removes each check that docs/security.md relies on, one at a time, and sees whether a test fails.

removed_checks.py [NUMBER...]      # 0 when every removal made a test fail, 1 otherwise

Works on a copy of the tree in a temporary directory, with the Python that runs it; a few seconds for each check.
``tests/house`` holds the list to the code: every text here stands in its file exactly once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
_PACKAGES: Final = ("akmc", "grammar", "schemas", "passes", "runtime")
_SECURITY: Final = "tests/security/test_"


@dataclass(frozen=True)
class Removal:
    """``old`` in ``file`` becomes ``new``; one of the tests in ``tests`` has to fail then."""

    check: str
    file: str
    old: str
    new: str
    tests: str


def _terminal(check: str, file: str, old: str, new: str) -> Removal:
    return Removal(check, file, old, new, f"{_SECURITY}terminal.py")


def _paths(check: str, file: str, old: str, new: str) -> Removal:
    return Removal(check, file, old, new, f"{_SECURITY}paths.py")


def _private(check: str, file: str, old: str, new: str) -> Removal:
    return Removal(check, file, old, new, f"{_SECURITY}private_files.py")


_RUN: Final = "runtime/akm_run"
_CONSOLE: Final = f"{_RUN}/console.py"
_INTEGRITY: Final = "schemas/akm_schemas/plan_integrity.py"
REMOVALS: Final = (
    _terminal("the compiler's net", "akmc/akmc/console.py", "        data = harmless(data)\n", ""),
    _terminal("the interpreter's net, text", _CONSOLE, "_no_ci_command(harmless(data))", "_no_ci_command(data)"),
    _terminal(
        "the interpreter's net, stderr",
        _CONSOLE,
        "_no_ci_command(joined(lines))",
        '"".join(f"{line}\\n" for line in lines)',
    ),
    _terminal("faults are escaped", _CONSOLE, "{visible(message)}", "{message}"),
    _terminal("JSON is escaped", f"{_RUN}/show/document.py", "escaped_json(text)", "text"),
    _terminal("GitHub commands are escaped", "akmc/akmc/render/github.py", "map(visible, ", "map(str, "),
    _terminal("invisible characters", "schemas/akm_schemas/visible.py", '"Cf", ', ""),
    Removal(
        "commands of CI in text",
        _CONSOLE,
        "data = _no_ci_command(harmless(data))",
        "data = harmless(data)",
        f"{_SECURITY}ci_commands.py",
    ),
    Removal("texts of others behind bars", _CONSOLE, "{indent}| {row}", "{indent}{row}", f"{_SECURITY}ci_commands.py"),
    _paths("links out of a bundle", "passes/akmc_passes/bundle.py", " and not bundle.contains(file):", " and False:"),
    _paths(
        "sources that are links",
        "akmc/akmc/session/links.py",
        "return not target.bundle",
        "return False and not target.bundle",
    ),
    _paths("cwd before the spawn", f"{_RUN}/dispatch/local.py", "    if contained and place", "    if False and place"),
    _paths(
        "env files before they are read", f"{_RUN}/environment.py", "if not _lies_in(", "if False and not _lies_in("
    ),
    _paths(
        "changed sources", "akmc/akmc/planning.py", "for name in changed_sources(result.analysis)", "for name in ()"
    ),
    Removal(
        "cwd that is a link, at check",
        "passes/akmc_passes/directories.py",
        "if bundle is None or bundle.contains(bundle.root / directory):",
        "if True:",
        "tests/passes/test_directories_pass.py",
    ),
    Removal(
        "only frozen keys of an env file",
        f"{_RUN}/envfile.py",
        "            if secret not in secret_names:",
        "            if False:",
        "tests/runtime/test_envfile.py",
    ),
    Removal(
        "env files, secrets and configs are regular files",
        "schemas/akm_schemas/regular_files.py",
        "if not stat.S_ISREG(mode):",
        "if False:",
        "tests/runtime/test_envfile.py",
    ),
    Removal(
        "the allowlist",
        f"{_RUN}/environment.py",
        "variables = outer.part((*ALLOWLIST, *pass_env))",
        "variables = dict(outer)",
        "tests/runtime/test_dispatch_exec.py",
    ),
    Removal(
        "context names are reserved",
        f"{_RUN}/environment.py",
        "        variables.pop(name, None)\n",
        "        pass\n",
        "tests/runtime/test_dispatch_exec.py",
    ),
    _private("recordings and events", f"{_RUN}/private_file.py", "0o600", "0o666"),
    _private("the index of scopes", f"{_RUN}/scope.py", "0o600", "0o666"),
    _private("the state file", f"{_RUN}/journal/place.py", "0o600", "0o666"),
    _private("logs", f"{_RUN}/run_log.py", "0o600", "0o666"),
    _private("leases", f"{_RUN}/lease.py", "0o600", "0o666"),
    _private(
        "scripts", f"{_RUN}/dispatch/script_file.py", "os.fchmod(descriptor, 0o700)", "os.fchmod(descriptor, 0o755)"
    ),
    Removal(
        "contentHash and planHash",
        _INTEGRITY,
        "    if stated == derived:\n",
        "    if True:\n",
        "tests/schemas/test_decode.py",
    ),
    Removal(
        "planHash of children",
        _INTEGRITY,
        '        if target.get("planHash") != child["planHash"]:',
        "        if False:",
        "tests/schemas/test_decode.py",
    ),
    Removal(
        "depth of plans",
        "schemas/akm_schemas/decode.py",
        "_DEPTH: Final = 192",
        "_DEPTH: Final = 10**9",
        f"{_SECURITY}bounds_of_input.py",
    ),
    Removal(
        "nodes of YAML",
        "grammar/akmc_grammar/yaml_compose.py",
        "self._total > YAML_NODES.high",
        "self._total > 50 * YAML_NODES.high",
        f"{_SECURITY}bounds_of_input.py",
    ),
    Removal(
        "HTML of a comparison",
        "akmc/akmc/diff/html_format.py",
        "return escape(visible(text))",
        "return visible(text)",
        f"{_SECURITY}markup.py",
    ),
    Removal(
        "text in drawings",
        "schemas/akm_schemas/drawing/text.py",
        "return escape(visible(text))",
        "return visible(text)",
        f"{_SECURITY}markup.py",
    ),
    Removal(
        "Markdown of a comparison",
        "akmc/akmc/diff/markdown_text.py",
        r"[\\`*{}\[\]<>|~&$]",
        r"[$]",
        f"{_SECURITY}markup.py",
    ),
    Removal(
        "names that git refuses",
        "akmc/akmc/diff/revision_view.py",
        " and not _FORBIDDEN.search(path)",
        "",
        f"{_SECURITY}git_revisions.py",
    ),
    Removal(
        "links of a revision come last",
        "akmc/akmc/diff/revision_view.py",
        "key=lambda blob: (blob.is_link, blob.path)",
        "key=lambda blob: (not blob.is_link, blob.path)",
        f"{_SECURITY}git_revisions.py",
    ),
    Removal(
        "a partial clone fetches nothing",
        "akmc/akmc/reading_git.py",
        "env={**os.environ, **_VARIABLES}\n    )",
        "env={**os.environ}\n    )",
        f"{_SECURITY}git_revisions.py",
    ),
    Removal(
        "the monitor of the index",
        "akmc/akmc/reading_git.py",
        '"core.fsmonitor": "false"',
        '"core.quotePath": "false"',
        f"{_SECURITY}git_revisions.py",
    ),
    Removal(
        "a revision is bounded",
        "akmc/akmc/diff/revision_view.py",
        "if sum(size for size in sizes if size <= _LARGEST) > _TOTAL:",
        "if False:",
        f"{_SECURITY}git_revisions.py",
    ),
    Removal(
        "headings of a body are bounded",
        "grammar/akmc_grammar/body_binder.py",
        "most=BODY_MARKS.high",
        "most=None",
        f"{_SECURITY}bounds_of_input.py",
    ),
    Removal(
        "names in allow comments are bounded",
        "akmc/akmc/session/suppression.py",
        "if names > ALLOWED_NAMES.high:",
        "if False:",
        f"{_SECURITY}bounds_of_input.py",
    ),
    Removal(
        "YAML that parsers misread",
        "grammar/akmc_grammar/yaml_events.py",
        "found = misread(events, text)",
        "found = None",
        "tests/grammar/test_yaml_misread.py",
    ),
    Removal(
        "odd state files are told apart from bugs",
        f"{_RUN}/journal/trouble.py",
        "what = fault_in(path, runs)",
        "what = None",
        f"{_SECURITY}foreign_database.py",
    ),
)


def survives(copy: Path, removal: Removal) -> bool:
    """Whether the tests pass without the check."""
    file = copy / removal.file
    before = file.read_text()
    assert before.count(removal.old) == 1, (removal.file, removal.old)
    file.write_text(before.replace(removal.old, removal.new))
    paths = os.pathsep.join(str(copy / name) for name in _PACKAGES)
    argv = [sys.executable, "-m", "pytest", "-n0", "-q", "-x", "-p", "no:cacheprovider", *removal.tests.split()]
    try:
        done = subprocess.run(
            argv,
            cwd=copy,
            env={**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            check=False,
        )
    finally:
        file.write_text(before)
    return done.returncode == 0


def main() -> int:
    """Remove, test, tell."""
    chosen = [REMOVALS[int(number)] for number in sys.argv[1:]] or list(REMOVALS)
    survivors = 0
    with tempfile.TemporaryDirectory(prefix="akm-removed-") as folder:
        copy = Path(folder) / "tree"
        shutil.copytree(
            ROOT,
            copy,
            symlinks=True,
            ignore=shutil.ignore_patterns(".venv*", ".git", "__pycache__", ".*_cache", ".hypothesis"),
        )
        for removal in chosen:
            alive = survives(copy, removal)
            survivors += alive
            print(f"{'SURVIVED' if alive else 'found   '}  {removal.check} ({removal.file})", flush=True)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
