"""The YAML program against its published schema, every fault at its place in the file.

``jsonschema`` is imported here, on use: no other command needs it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from akm_schemas.json_types import JsonObject
from akm_schemas.json_values import a_type
from akmc.migrate.model import clipped
from akmc_grammar.diagnostics import Sink
from akmc_grammar.places import Path, Place, Span
from akmc_grammar.suggest import did_you_mean, listed
from akmc_grammar.yaml_tree import Mapping, YamlTree, to_json

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

SCHEMA: Final = "published/akm-workflow-program.json"
_FORMS: Final = {
    "over": "an expression",
    "timeout": 'a count with ms, s or m ("90s"), a count of milliseconds, or "none"',
    "id": "an ASCII letter or underscore, then letters, digits, underscores and dashes",
}


def program_schema() -> JsonObject:
    """The schema of both versions, as published."""
    found: JsonObject = json.loads((files("akm_schemas") / SCHEMA).read_text(encoding="utf-8"))
    return found


def check_program(root: Mapping, file: str, sink: Sink) -> None:
    """Report every fault of the program at ``root``."""
    from jsonschema import Draft7Validator

    tree = YamlTree(root)
    seen: set[tuple[Span, str]] = set()
    for error in Draft7Validator(program_schema()).iter_errors(to_json(root)):
        for rule, path, part, message, help_line in _said(error):
            span = tree.span(Place(file, path, "key" if part == "key" else "value"))
            if (span, message) not in seen:
                seen.add((span, message))
                sink.report(rule, Place(file, span=span), message, help=help_line)


def _said(error: ValidationError) -> Iterator[tuple[str, Path, str, str, str | None]]:
    """(rule, path, part, message, help) of one error of the validator."""
    path: Path = tuple(error.absolute_path)
    where = _name(path)
    wanted: Any = error.validator_value
    found: Any = error.instance
    schema: Any = error.schema
    match error.validator:
        case "additionalProperties":
            allowed = sorted(schema.get("properties", {}))
            for key in sorted(set(found) - set(allowed)):
                message = f'unknown key "{key}" in {where}; allowed: {listed(allowed)}'
                yield "unknown-key", (*path, key), "key", message, did_you_mean(key, allowed)
        case "required":
            for key in wanted:
                if key not in found:
                    yield "missing-key", path, "value", f'{where} lacks the key "{key}"', None
        case "oneOf":
            kinds = [kind for branch in wanted for kind in branch.get("required", ())]
            there = [kind for kind in kinds if kind in found]
            message = f"a step has exactly one of {listed(kinds)}, found {listed(there)}"
            at = (*path, there[1]) if len(there) > 1 else path
            yield "step-kind-conflict", at, "key", message, "keep one of them" if there else "add one of them"
        case "type":
            names = wanted if isinstance(wanted, list) else [wanted]
            expected = " or ".join(a_type(name) for name in names)
            yield "wrong-type", path, "value", f"{where} has to be {expected}, found {clipped(found)}", None
        case "enum":
            message = f"{where} is {clipped(found)}, expected one of {', '.join(map(json.dumps, wanted))}"
            yield "invalid-value", path, "value", message, did_you_mean(str(found), [str(word) for word in wanted])
        case "pattern":
            form = _FORMS.get(str(path[-1]) if path else "", f"a text of the form {wanted}")
            yield "invalid-value", path, "value", f"{where} is {clipped(found)}, expected {form}", None
        case _:
            limit = f"{error.validator} is {clipped(wanted)}"
            yield "bound-exceeded", path, "value", f"{where} is {clipped(found)}, but its {limit}", None


def _name(path: Path) -> str:
    """A path as people write it: ``steps[0].unit``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")
    return text or "the program"
