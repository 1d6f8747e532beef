"""How many sources ``akmc`` parses in one call: count_parses.py WORDS..., a number out."""

from __future__ import annotations

import contextlib
import io
import sys

import akmc_passes.library
from akmc.cli import run

parsed = 0
read = akmc_passes.library.front_end


def counted(*arguments: object) -> object:
    """The front end, counted."""
    global parsed
    parsed += 1
    return read(*arguments)  # type: ignore[arg-type]


akmc_passes.library.front_end = counted  # type: ignore[assignment]
with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()) as shown:
    status = run(sys.argv[1:])
if status != 0:
    sys.exit(shown.getvalue())
print(parsed)
