"""The dispatch settings of the YAML program: a unit's bag, and the defaults."""

from __future__ import annotations

import re
from typing import cast

from akm_schemas.json_types import Json, JsonObject
from akmc.migrate.model import Notes
from akmc.migrate.surroundings import Surroundings
from akmc_grammar.reference_grammar import parse_asset_ref
from akmc_grammar.suggest import listed
from akmc_grammar.yaml_tree import Mapping, Scalar, Sequence, to_json

_SAME = ("engine", "model", "llm", "timeout", "retry", "on_error", "output", "env", "isolation")
_OLD_ENV_REF = re.compile(r"(?P<bundle>[^/]+//)?env:(?P<name>.+)")


def new_settings(bag: Mapping, what: str, around: Surroundings, notes: Notes) -> JsonObject:
    """The settings of a unit, or of ``defaults``, under their new names; ``what`` names the bag for people."""
    found: JsonObject = {}
    engine = around.engines.engine_of(bag, what, notes)
    if engine is not None:
        found["engine"] = engine
    for key in _SAME:
        node = bag.get(key)
        if node is None:
            continue
        if key == "env" and isinstance(node, Sequence):
            refs = env_refs(node, what, around, notes)
            if refs:
                found[key] = refs
        elif key == "retry":
            found[key] = _retry(cast(JsonObject, to_json(node)))
        elif key == "engine" and isinstance(node, Scalar):
            found[key] = around.engines.names.get(node.text, node.text)
        else:
            found[key] = to_json(node)
    return found


def env_refs(node: Sequence, what: str, around: Surroundings, notes: Notes) -> list[Json]:
    """Env refs in today's spelling (``env/name``; ``env:name`` is the older one), each once; others are kept as prose."""
    found: list[Json] = []
    for item in node.items:
        text = str(getattr(item, "value", ""))
        old = _OLD_ENV_REF.fullmatch(text)
        ref = text if old is None else f"{old['bundle'] or ''}env/{old['name']}"
        parsed = parse_asset_ref(ref)
        if parsed is None or parsed.family != "env":
            notes.keep(item.span, f"env of {what}", text, "it is no env ref, which is written env/<name>")
        elif parsed.bundle is not None and parsed.bundle not in around.bundles:
            why = f'no bundle is called "{parsed.bundle}"; configured: {listed(around.bundles)}'
            notes.keep(item.span, f"env of {what}", text, why)
        elif ref not in found:
            found.append(ref)
    return found


def _retry(retry: JsonObject) -> JsonObject:
    """``max`` and ``on``, each reason once."""
    return {"max": retry["max"], "on": list(dict.fromkeys(cast("list[str]", retry["on"])))}
