"""script units: embedded bytes in a private file, run by their interpreter (spec 3, section 4)."""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from akm_run.dispatch.contract import Cancel, UnitRequest, UnitResult
from akm_run.dispatch.local import Invocation, perform_process
from akm_run.dispatch.outcome import UnitFault, failed
from akm_run.dispatch.script_file import script_file
from akm_schemas.plan import ScriptTarget

_FALLBACKS = {"python3": "python"}


def perform(request: UnitRequest, cancel: Cancel) -> UnitResult:
    """Write the script to a 0700 file in a 0700 directory, run it, and delete both on every way out."""
    target = request.target
    assert isinstance(target, ScriptTarget)
    try:
        with _private_file(request, target) as path:
            argv = (*target.interpreter, str(path))
            return perform_process(request, cancel, Invocation(argv, fallback=_FALLBACKS.get(argv[0])))
    except UnitFault as fault:
        return failed(fault.reason, fault.message)


@contextmanager
def _private_file(request: UnitRequest, target: ScriptTarget) -> Iterator[Path]:
    """The script as a file. Raises UnitFault (``spawn_failed``) when there is nowhere to write it."""
    with ExitStack() as stack:
        try:
            content = base64.b64decode(target.bytes_base64, validate=True)
            path = stack.enter_context(script_file(request.run_id, _file_name(target), content))
        except binascii.Error as error:
            message = f"the bytes of {target.ref} in the plan are damaged: {error}; compile it again"
            raise UnitFault("spawn_failed", message) from None
        except OSError as error:
            reason = (os.strerror(error.errno) if error.errno else error.strerror or str(error)).lower()
            message = f"{target.ref} cannot be written to a temporary file: {reason}"
            raise UnitFault("spawn_failed", message) from None
        yield path


def _file_name(target: ScriptTarget) -> str:
    """A constant name: some interpreters go by the extension, none by the rest, and ``ref`` is not ours to trust."""
    return f"script.{target.extension.lstrip('.')}"
