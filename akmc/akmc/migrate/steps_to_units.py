"""Steps whose map or route cannot stand in the new format, as plain unit steps."""

from __future__ import annotations

from typing import cast

from akm_schemas.json_types import Json, JsonObject
from akmc.migrate.model import Section, code_span, one_line


def map_to_unit(step: JsonObject, section: Section) -> tuple[JsonObject, Section]:
    """A map step as one dispatch of its unit."""
    fan = cast(JsonObject, step["map"])
    found: JsonObject = {}
    for key, value in step.items():
        if key != "map":
            found[key] = value
        elif fan.get("unit"):
            found["unit"] = fan["unit"]
    return found, section


def route_to_unit(step: JsonObject, section: Section) -> tuple[JsonObject, Section]:
    """A route step as a unit that is told in words what the route was."""
    route = cast(JsonObject, step["route"])
    lines = [f"Say which of these steps should come next, judged by {_code(route.get('input'))}:", ""]
    for branch in cast("list[JsonObject]", route.get("when", [])):
        lines.append(f"- {_code(branch['match'])}: the step {_code(branch['step'])}")
    if "default" in route:
        lines.append(f"- anything else: the step {_code(route['default'])}")
    instructions = "\n".join(lines) if len(lines) > 2 else "Say which step should come next."
    found = {key: value for key, value in step.items() if key != "route"}
    return found, Section(section.step_id, instructions, section.rubric)


def _code(value: Json) -> str:
    return code_span(one_line(value))
