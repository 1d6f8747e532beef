"""Where the fields of a dispatch bag stand in YAML sources: places speak the source IR, authors other words."""

from __future__ import annotations

from typing import Final

from akmc_grammar.places import Path

# Longest first: the first prefix that fits decides. Inside a run line there is one scalar and no deeper path.
_FIELDS: Final[tuple[tuple[Path, str, bool], ...]] = (
    (("unit", "exec", "cwd"), "working-directory", True),
    (("unit", "uses", "with"), "with", True),
    (("unit", "exec"), "run", False),
    (("unit", "uses"), "uses", True),
    (("unit", "with"), "with", True),
    (("unit", "env"), "env", True),
    (("unit", "output"), "output", True),
)


def written_path(path: Path) -> Path:
    """The path below a step (or a task) as its author wrote it."""
    for prefix, name, deeper in _FIELDS:
        if path[: len(prefix)] == prefix:
            return (name, *path[len(prefix) :]) if deeper else (name,)
    return path
