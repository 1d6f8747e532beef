"""From a command line to a running process: program lookup, and spawn errors told apart.

The lookup is ours and not ``Popen``'s: it uses the unit's own PATH from the unit's own directory, it can say what
exactly is wrong, and it keeps ``os.get_exec_path`` (which changes the global warning filters) out of our threads.
"""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TypeAlias

from msgspec import Struct

_TEXT_ENCODING = ("utf-8", "surrogateescape")

Programs: TypeAlias = dict[tuple[str, str | None, str], str]
"""Files by the name that is called, the PATH and the directory that it is called from."""


class SpawnFault(Exception):
    """Nothing was started; the message names the program, the directory or the permission that was at fault."""


class Spawn(Struct, frozen=True):
    """What to start. ``cwd`` is an absolute directory; ``stdin`` bytes, ``None`` for an empty stdin; ``timeout_s``
    seconds from the spawn, ``None`` for no limit. ``env`` is the whole environment. ``programs`` remembers where names of
    programs were found, so that the units that share it run the same file; ``None``: it is looked for anew."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    stdin: bytes | None = None
    timeout_s: float | None = None
    programs: Programs | None = None


class Started(Struct, frozen=True):
    """A running process, and our ends of its pipes, which the caller closes; ``stdin`` is ``None`` where it is empty."""

    process: subprocess.Popen[bytes]
    stdout: int
    stderr: int
    stdin: int | None = None


def encoded(text: str) -> bytes:
    """``text`` as the bytes that a process gets: UTF-8 whatever the locale, undecodable ambient bytes given back."""
    return text.encode(*_TEXT_ENCODING)


def decoded(data: bytes) -> str:
    """The inverse of ``encoded``."""
    return data.decode(*_TEXT_ENCODING)


def start(spawn: Spawn) -> Started:
    """Start the process, as leader of a new session.

    A new session and not just a new group: Ctrl-C on the terminal reaches neither, so that the driver alone decides
    how units end; and without a controlling terminal a program that asks for a password on ``/dev/tty`` fails at
    once, where a background group would be stopped by the terminal and hang until its timeout.

    Raises SpawnFault.
    """
    called = (spawn.argv[0], spawn.env.get("PATH"), spawn.cwd)
    known = None if spawn.programs is None else spawn.programs.get(called)
    if known is None:
        require_directory(spawn.cwd)
    executable = known or find_program(*called)
    try:
        started = _piped(spawn, executable)
    except OSError as error:
        if (
            known is not None and spawn.programs is not None
        ):  # it went away or changed: look again, and say what is wrong
            spawn.programs.pop(called, None)
            return start(spawn)
        raise SpawnFault(_why(error, spawn, executable)) from None
    except ValueError as error:
        raise SpawnFault(f"cannot start {spawn.argv[0]!r}: {error} in its arguments or environment") from None
    if spawn.programs is not None and "/" not in spawn.argv[0]:
        spawn.programs[called] = executable
    return started


def _piped(spawn: Spawn, executable: str) -> Started:
    """Pipes of our own: ``Popen`` makes file objects of its own, and opens the null device, for each of thousands."""
    ours: list[int] = []
    theirs: list[int] = []
    try:
        for ends in ((ours, theirs), (ours, theirs), (theirs, ours))[: 2 if spawn.stdin is None else 3]:
            for end, descriptor in zip(ends, os.pipe(), strict=True):
                end.append(descriptor)
        process = subprocess.Popen(
            [encoded(word) for word in spawn.argv],
            executable=encoded(executable),
            cwd=encoded(spawn.cwd),
            env={encoded(name): encoded(value) for name, value in spawn.env.items()},
            stdin=_nothing() if spawn.stdin is None else theirs[2],
            stdout=theirs[0],
            stderr=theirs[1],
            start_new_session=True,
        )
    except BaseException:  # whatever it is: nobody else knows of them
        _close(ours)
        raise
    finally:
        _close(theirs)
    return Started(process, *ours)


@cache
def _nothing() -> int:
    """The null device, for the stdin of all processes."""
    return os.open(os.devnull, os.O_RDWR)


def _close(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def require_directory(path: str) -> None:
    """Raise SpawnFault unless ``path`` is a directory that may be entered."""
    try:
        os.stat(os.path.join(path, ""))  # noqa: PTH116, PTH118 - the slash makes it fail for anything else
    except OSError as error:
        raise SpawnFault(f"the working directory {path!r} cannot be used: {_reason(error)}") from None
    if not os.access(path, os.X_OK):
        raise SpawnFault(f"the working directory {path!r} cannot be entered: permission denied")


def find_program(name: str, path: str | None, cwd: str) -> str:
    """The absolute file that ``name`` stands for, searched as POSIX ``execvp`` does, relative names from ``cwd``.

    Raises SpawnFault for a program that is missing, is a directory, or may not be executed.
    """
    if "/" in name:
        candidate = os.path.join(cwd, name)  # noqa: PTH118 - Path would drop the trailing slash
        if os.path.isdir(candidate):  # noqa: PTH112
            raise SpawnFault(f"cannot run {name!r}: it is a directory")
        if not os.path.exists(candidate):  # noqa: PTH110
            raise SpawnFault(f"no such program: {name!r} (looked for from {cwd!r})")
        if not os.access(candidate, os.X_OK):
            raise SpawnFault(f"permission denied: {name!r} may not be executed (chmod +x makes a script a program)")
        return candidate
    candidates = [
        f"{folder}/{name}" if folder.startswith("/") else os.path.join(cwd, folder, name)  # noqa: PTH118
        for folder in (os.defpath if path is None else path).split(os.pathsep)
    ]
    for candidate in candidates:
        if os.access(candidate, os.X_OK) and not os.path.isdir(candidate):  # noqa: PTH112
            return candidate
    blocked = next((candidate for candidate in candidates if os.path.isfile(candidate)), None)  # noqa: PTH113
    if blocked is not None:
        raise SpawnFault(f"permission denied: {name!r} is found only as {blocked!r}, which may not be executed")
    raise SpawnFault(f"no such program: {name!r} is in no directory of the unit's PATH ({path or 'not set'})")


def _why(error: OSError, spawn: Spawn, executable: str) -> str:
    """The message for an error of fork or exec; program and directory were there a moment ago."""
    name = spawn.argv[0]
    if error.errno == errno.ENOENT and not os.path.exists(executable) and os.path.isdir(spawn.cwd):  # noqa: PTH110, PTH112
        return f"no such program: {name!r} ({executable!r} was removed while it was being started)"
    if error.errno == errno.ENOENT and os.path.exists(executable):  # noqa: PTH110
        return f"cannot run {name!r}: the interpreter that {executable!r} asks for (its first line) is missing"
    if error.errno == errno.ENOEXEC:
        return f"cannot run {name!r}: {executable!r} is no program (a script needs a first line such as #!/bin/sh)"
    if error.errno == errno.E2BIG:
        size = sum(len(encoded(word)) for pair in spawn.env.items() for word in pair)
        return f"cannot run {name!r}: arguments and environment ({size} bytes of variables) exceed the system's limit"
    return f"cannot run {name!r} in {spawn.cwd!r}: {_reason(error)}"


def _reason(error: OSError) -> str:
    reasons = {
        errno.ENOENT: "no such directory",
        errno.ENOTDIR: "it is not a directory",
        errno.EACCES: "permission denied",
        errno.ELOOP: "its symbolic links run in a circle",
        errno.EMFILE: "too many open files: raise ulimit -n, or give a lower --host-concurrency",
    }
    return reasons.get(error.errno or 0, os.strerror(error.errno or 0).lower())
