"""Internal errors: a report in a file, one line for the person.

The report holds versions, the command line, and the traceback: no environment, no local variables, no file contents,
so that it can be sent on without a second look.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from akmc_passes.contract import PassCrash


def write_report(what: str) -> str | None:
    """Write the report of ``what`` broke (a traceback) to a private file in the temporary directory.

    Returns:
        The file's path, or ``None`` where no file could be written.
    """
    import os
    import tempfile

    try:
        descriptor, path = tempfile.mkstemp(prefix="akmc-error-", suffix=".txt")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(report_text(what))
    except OSError:
        return None
    return path


def report_text(what: str) -> str:
    """The report: what ran, on what, and where it broke."""
    import platform

    from akmc.version import version

    lines = [
        f"akmc {version()}",
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}",
        f"command: {sys.argv[1:]!r}",
    ]
    return "\n".join(lines) + f"\n\n{what}"


def is_place_gone() -> bool:
    """Whether the current directory was removed, or lies where nobody may look: no command can do anything then."""
    from pathlib import Path

    try:
        Path.cwd()
    except OSError:
        return True
    return False


def say_internal_error(error: BaseException) -> None:
    """Tell a person that this is our mistake, and where the report is."""
    import traceback

    _say(f"internal error ({type(error).__name__})", "".join(traceback.format_exception(error)))


def say_crashes(crashes: Sequence[PassCrash]) -> None:
    """The same for passes that raised while the rest of a check went on."""
    where = ", ".join(sorted({f"{crash.name} on {crash.file}" for crash in crashes}))
    text = "\n".join(f"{crash.name} on {crash.file}: {crash.summary}\n{crash.traceback}" for crash in crashes)
    _say(f"internal error in {where}", text)


def _say(headline: str, report: str) -> None:
    from akmc.console import err
    from akmc.render.escape import visible

    err(f"akmc: {visible(headline)}; this is a bug in akmc, not in your files")
    path = write_report(report)
    if path is None:
        err("  no report could be written: the temporary directory is not writable (set TMPDIR)")
    else:
        err(f"  a report is in {path}; please send it to the project")
