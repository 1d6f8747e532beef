"""Script interpreters by file extension (spec 1, section 4)."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

INTERPRETERS: Final = MappingProxyType(
    {
        ".sh": ("sh",),
        ".py": ("python3",),
        ".js": ("bun",),
        ".ts": ("bun",),
        ".rb": ("ruby",),
        ".pl": ("perl",),
        ".php": ("php",),
        ".lua": ("lua",),
        ".r": ("Rscript",),
        ".go": ("go", "run"),
        ".swift": ("swift",),
        ".kt": ("kotlin",),
        ".kts": ("kotlinc", "-script"),
        ".ps1": ("powershell", "-NoProfile", "-NonInteractive", "-File"),
        ".cmd": ("cmd", "/d", "/s", "/c"),
        ".bat": ("cmd", "/d", "/s", "/c"),
    }
)
"""Extension, with its dot, to the argv that the script file's path is appended to."""
