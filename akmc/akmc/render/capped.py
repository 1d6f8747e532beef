"""The cap of the two formats that people read: so many findings per file, then one line that counts the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from akm_schemas.bounds import DIAGNOSTICS_PER_FILE
from akm_schemas.counting import counted
from akmc.render.escape import visible
from akmc.render.finding import Finding


def capped(findings: Iterable[Finding]) -> Iterator[tuple[str, list[Finding], int]]:
    """Per path (``findings`` are sorted by path): the findings to show, and how many are hidden.

    Errors are kept before warnings, so that no warning hides an error; what is kept stays in order.
    """
    limit = DIAGNOSTICS_PER_FILE.high
    for path, group in groupby(findings, key=lambda finding: finding.path):
        found = list(group)
        if len(found) <= limit:
            yield path, found, 0
            continue
        chosen = sorted(found, key=lambda finding: finding.rule.severity != "error")[:limit]
        yield path, sorted(chosen, key=lambda finding: finding.sort_key), len(found) - limit


def hidden_line(path: str, hidden: int) -> str:
    """The line that says how many findings of ``path`` are not shown, and where they are."""
    return f"{visible(path)}: {counted(hidden, 'more finding')} hidden (--format json shows all)"
