"""Five-field cron expressions, validated by the cronsim library."""

from __future__ import annotations

import datetime
from typing import Final

from akmc_grammar.places import Path
from akmc_grammar.shape_hints import quoted
from akmc_grammar.shape_walk import Walk
from akmc_grammar.yaml_tree import Bad, Node, Scalar

FIELDS: Final = 5
_EPOCH: Final = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)


def cron_fault(text: str) -> str | None:
    """Why ``text`` is no five-field cron expression, or ``None``."""
    fields = text.split()
    if text.startswith("@"):
        return "nicknames are not supported; write the five fields"
    if len(fields) != FIELDS:
        return f"expected five fields (minute hour day month weekday), found {len(fields)}"
    if not text.isascii():
        return "the fields are ASCII"
    from cronsim import CronSim, CronSimError

    try:
        CronSim(" ".join(fields), _EPOCH)
    except CronSimError as error:
        return str(error).lower() or "a field is out of range"
    return None


def check_cron(walk: Walk, node: Node, path: Path) -> str | None:
    """The fields of a cron text, one blank between them; reports and returns ``None`` otherwise."""
    if isinstance(node, Bad):
        walk.poisoned.add(path)
        return None
    if not isinstance(node, Scalar) or not isinstance(node.value, str):
        walk.wrong_type(path, "a cron text in quotes", node)
        return None
    if fault := cron_fault(node.value):
        help = 'minute hour day month weekday, such as "30 6 * * 1-5"'
        walk.report("invalid-cron", path, f"{quoted(node.value)} is no schedule: {fault}", help=help)
        return None
    return " ".join(node.value.split())
