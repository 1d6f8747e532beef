"""Inputs and schedules of a task."""

from __future__ import annotations

from akm_schemas.bounds import SCHEDULES
from akm_schemas.json_types import JsonObject
from akm_schemas.task_keys import SCHEDULE_ENTRY
from akmc_grammar.cron import check_cron
from akmc_grammar.places import Path
from akmc_grammar.shape_walk import Walk
from akmc_grammar.task_ir import TaskInput, TaskSchedule
from akmc_grammar.yaml_tree import Bad, Mapping, Node, Scalar, Sequence, to_json

RULE = "task-invalid"
FLAG = "required"


def read_inputs(walk: Walk, node: Node | None) -> dict[str, TaskInput]:
    """The inputs of a walked task; a malformed one is reported and left out.

    ``required`` is the task's own flag when it is a boolean, and the JSON Schema keyword when it is a list.
    """
    found: dict[str, TaskInput] = {}
    for entry in node.entries if isinstance(node, Mapping) else ():
        name, path = str(entry.key.value), ("inputs", str(entry.key.value))
        if path in walk.poisoned or name in found or not isinstance(entry.value, Mapping):
            continue
        schema = to_json(entry.value)
        assert isinstance(schema, dict)  # a mapping, and the walk has read it
        required = schema.get(FLAG) is True
        if schema.get(FLAG) is False:
            help = f'drop "{FLAG}": an input without {FLAG}: true is optional'
            walk.report(RULE, (*path, FLAG), f'"{FLAG}" is true or left out, found false', help=help)
        if isinstance(schema.get(FLAG), bool):
            del schema[FLAG]
        if required and "default" in schema:
            message = "a required input has no default: one of the two says nothing"
            walk.report(RULE, (*path, FLAG), message, key=True, help='drop "required", or the default')
            continue
        found[name] = TaskInput(schema=schema, required=required)
    return found


def read_schedule(walk: Walk, node: Node | None) -> list[TaskSchedule]:
    """A cron text, or a list of ``{cron, inputs?}``. Entries that could not be read are poisoned."""
    path: Path = ("schedule",)
    if node is None or path in walk.poisoned:
        return []
    if isinstance(node, Scalar):
        line = check_cron(walk, node, path)
        return [] if line is None else [TaskSchedule(cron=line)]
    if not isinstance(node, Sequence):
        walk.wrong_type(path, "a cron text in quotes, or a list of {cron, inputs}", node)
        return []
    if not SCHEDULES.holds(len(node.items)):
        walk.out_of_bounds(path, len(node.items), SCHEDULES)
    found: list[TaskSchedule] = []  # unreadable entries keep their place
    for index, item in enumerate(node.items):
        at = (*path, index)
        entry = None if isinstance(item, Bad) else walk.value(item, SCHEDULE_ENTRY, at)
        if not isinstance(item, Mapping) or not isinstance(entry, dict):
            walk.poisoned.add(at)
            found.append(TaskSchedule(cron=""))
            continue
        cron = item.get("cron")
        line = None if cron is None else check_cron(walk, cron, (*at, "cron"))
        inputs = _inputs(walk, item.get("inputs"), (*at, "inputs"))
        if line is None or inputs is None:
            walk.poisoned.add(at)
        found.append(TaskSchedule(cron=line or "", inputs=inputs or {}))
    return found


def _inputs(walk: Walk, node: Node | None, path: Path) -> JsonObject | None:
    """The values of a schedule's inputs; ``None`` when they could not be read."""
    if node is None:
        return {}
    if not isinstance(node, Mapping):
        if path not in walk.poisoned:
            walk.wrong_type(path, "a mapping from input names to values", node)
        return None
    try:
        value = to_json(node)
    except ValueError:  # a value inside was reported by the reader
        return None
    return value if isinstance(value, dict) else None
