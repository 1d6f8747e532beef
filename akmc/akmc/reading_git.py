"""git, asked about a repository that may be somebody else's: nothing that its config names is run, nothing is fetched.

What reads here never checks out, compares or writes, so hooks, filters, drivers and pagers have no part in it. Left are
the monitor of the index, and a partial clone, which fetches what it lacks by any transport of its config.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Final

_SETTINGS: Final = {
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "fetch.bundleURI": "",  # a fetch may ask there before it looks at the protocols that are allowed
}
_OPTIONS: Final = ["--no-pager", *(word for key, value in _SETTINGS.items() for word in ("-c", f"{key}={value}"))]
_VARIABLES: Final = {
    "GIT_NO_LAZY_FETCH": "1",  # git 2.45
    "GIT_ALLOW_PROTOCOL": "",  # any git: no transport at all, whatever protocol.*.allow of the repository says
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


def read_git(arguments: list[str], *, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run ``git`` to its end and keep what it says. ``OSError`` where it cannot be started."""
    return subprocess.run(
        _words(arguments), input=stdin, capture_output=True, check=False, env={**os.environ, **_VARIABLES}
    )


@contextmanager
def git_output(arguments: list[str], *, stdin: IO[bytes] | None = None) -> Iterator[IO[bytes]]:
    """Standard output of ``git`` as a stream, for what may be long; who stops early stops git.

    Raises:
        OSError: git cannot be started.
        subprocess.CalledProcessError: git failed, and everything it wrote was read.
    """
    words = _words(arguments)
    process = subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL if stdin is None else stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **_VARIABLES},
    )
    assert process.stdout is not None
    with process.stdout as output:
        try:
            yield output
        except BaseException:  # an interruption included: git would write to nobody
            process.kill()
            process.wait()
            raise
    if process.wait() != 0:
        raise subprocess.CalledProcessError(process.returncode, words)


def _words(arguments: list[str]) -> list[str]:
    return ["git", *_OPTIONS, *arguments]
