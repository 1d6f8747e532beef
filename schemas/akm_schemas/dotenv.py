"""Terminals of dotenv files (spec 2, section 3; spec 3, section 5): what a freeze reads names with, a run reads values with.

``KEY=VALUE`` lines, ``#`` comments, an optional ``export``; a value is bare (to the end of the line or to a blank and
``#``), ``'literal'``, or ``"..."`` with escapes and line breaks. Compiled on import, which only readers of such files do.
"""

from __future__ import annotations

import re
from typing import Final

ASSIGNMENT: Final = re.compile(r"[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*")
BLANK: Final = re.compile(r"[ \t\r]*(?:#[^\n]*)?(?:\n|\Z)")
SINGLE: Final = re.compile(r"'([^'\n]*)'")
DOUBLE: Final = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
BARE: Final = re.compile(r"[^\n]*")
COMMENT: Final = re.compile(r"(?:^|[ \t])#.*")
SECRET: Final = re.compile(r"\$\{secret:([^}\n]*)(\}?)")
SECRET_NAME: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
