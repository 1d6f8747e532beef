"""Write the published JSON Schemas: ``python -m akm_schemas.publish [DIRECTORY]``.

Generated from the key tables: the frontmatter of Markdown workflows with its asset envelope, YAML workflows, tasks, the
config and its model aliases; from the Structs: the frozen plan.
Written by hand, because no table knows them: the superseded YAML program and the output of ``akmc check``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from akm_schemas import config_schema, keys, plan_schema
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.key_schema import SchemaWriter
from akm_schemas.yaml_schema import task, yaml_workflow

FOLDER: Final = Path(__file__).with_name("published")
DRAFT: Final = "http://json-schema.org/draft-07/schema#"
ENVELOPE_FILE: Final = "akm-asset-envelope.json"


def envelope() -> JsonObject:
    """What the frontmatter of every asset may say about it. Open: each kind of asset adds its own keys."""
    writer = SchemaWriter()
    properties = writer.properties(keys.Record("envelope", keys.ENVELOPE))
    # Which kind an asset is, only its own schema says.
    properties["type"] = {"type": "string", "description": "Asset type."}
    return {
        "title": "AKM asset envelope",
        "description": "Frontmatter keys that every AKM asset shares.",
        "type": "object",
        "properties": properties,
        "definitions": writer.definitions,
    }


def workflow() -> JsonObject:
    """The frontmatter of ``workflows/x.md``: envelope and orchestration keys, closed in this one place."""
    writer = SchemaWriter()
    shared: dict[str, JsonObject] = {
        key.name: {"$ref": f"{ENVELOPE_FILE}#/properties/{key.name}"} for key in keys.ENVELOPE if key.name != "type"
    }
    root = writer.record(keys.WORKFLOW, shared)
    return {
        "title": "AKM workflow frontmatter",
        "description": "The frontmatter of a Markdown workflow (workflows/*.md); the prose of its steps is the body.",
        **root,
        "definitions": writer.definitions,
    }


GENERATED: Final[dict[str, Callable[[], JsonObject]]] = {
    "akm-asset-envelope.json": envelope,
    "akm-config.json": config_schema.config,
    "akm-models.json": config_schema.models,
    "akm-plan.json": plan_schema.plan,
    "akm-task.json": task,
    "akm-workflow-yaml.json": yaml_workflow,
    "akm-workflow.json": workflow,
}


def texts() -> dict[str, str]:
    """The text of every generated file by its name.

    The ``$id`` is the bare file name: references then lead to the file beside it, wherever the files are kept.
    """
    return {name: written({"$schema": DRAFT, "$id": name, **build()}) for name, build in GENERATED.items()}


def written(schema: JsonObject) -> str:
    """A schema as the files hold it."""
    ordered = dict(schema)
    if (definitions := ordered.pop("definitions", None)) is not None:
        ordered["definitions"] = _sorted(definitions)
    return json.dumps(ordered, indent=2, ensure_ascii=False) + "\n"


def _sorted(definitions: Json) -> Json:
    assert isinstance(definitions, dict)
    return dict(sorted(definitions.items()))


def main(arguments: Sequence[str]) -> int:
    """Rewrite the files in the directory named, by default the package's own; print what changed."""
    folder = Path(arguments[0]) if arguments else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts().items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8", newline="\n")
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
