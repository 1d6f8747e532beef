"""Members that no plan has, looked for in plain JSON of any shape: what was added to a plan after it was compiled.

The shape of a plan is read off its Structs, so there is no second table to keep. Only a plan that is refused already is
looked through.
"""

from __future__ import annotations

from msgspec import inspect

from akm_schemas.json_types import Json
from akm_schemas.plan import Plan
from akm_schemas.plan_error import PlanPath


def foreign_member(plan: Json) -> PlanPath | None:
    """The path of a member that is not one of a plan, an outer one before those inside; ``None`` when there is none.

    What has another type than a plan's is passed over: below it no name is right or wrong. Schemas and literals are
    free in their names.
    """
    stack: list[tuple[Json, inspect.Type, PlanPath]] = [(plan, inspect.type_info(Plan), ())]
    while stack:
        value, kind, path = stack.pop()
        kind = _alternative(kind, value)
        if isinstance(kind, inspect.StructType) and isinstance(value, dict):
            members = {member.encode_name: member.type for member in kind.fields}
            foreign = next((name for name in value if name not in members and name != kind.tag_field), None)
            if foreign is not None:
                return (*path, foreign)
            stack.extend((value[name], members[name], (*path, name)) for name in reversed(value) if name in members)
        elif isinstance(kind, inspect.DictType) and isinstance(value, dict):
            stack.extend((value[name], kind.value_type, (*path, name)) for name in reversed(value))
        elif isinstance(kind, inspect.ListType) and isinstance(value, list):
            stack.extend((value[index], kind.item_type, (*path, index)) for index in reversed(range(len(value))))
    return None


def _alternative(kind: inspect.Type, value: Json) -> inspect.Type:
    """The member of a union that ``value`` is of, as far as that can be told; any other type as it is."""
    if not isinstance(kind, inspect.UnionType):
        return kind
    for option in kind.types:
        if isinstance(option, inspect.StructType) and isinstance(value, dict):
            if option.tag_field is None or value.get(option.tag_field) == option.tag:
                return option
        elif isinstance(option, inspect.ListType) and isinstance(value, list):
            return option
    return kind
