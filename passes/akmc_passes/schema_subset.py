"""Schemas of the enforced subset.

Before: schemas are mappings of JSON values. After: every keyword outside the subset, malformed keyword, bad default
and bound of a schema is reported at its line. The program is unchanged.

The subset itself lives in ``akm_schemas.subset_check``, which returns pointer and fault; here faults become findings.
"""

from __future__ import annotations

from msgspec.structs import replace

from akm_schemas.json_types import JsonObject
from akm_schemas.subset_check import KeywordFix, SchemaFault, check_schema
from akmc_grammar.diagnostics import Edit, Fix
from akmc_grammar.places import Path, Place
from akmc_passes.contract import Context, Program, Readable
from akmc_passes.ir_walk import schemas

NAME: str = "schema_subset"
AFTER: tuple[str, ...] = ()
EMITS: tuple[str, ...] = (
    "schema-unsupported-keyword",
    "schema-unknown-keyword",
    "schema-malformed",
    "schema-bad-default",
    "bound-exceeded",
)

_RULES = {
    "unsupported-keyword": "schema-unsupported-keyword",
    "unknown-keyword": "schema-unknown-keyword",
    "malformed": "schema-malformed",
    "bad-default": "schema-bad-default",
    "bound": "bound-exceeded",
}


def run(program: Program, context: Context) -> Program:
    """Report every fault of every schema."""
    ir = program.document.ir
    if ir is None:
        return program
    for path, schema in schemas(ir):
        if program.document.is_poisoned(path):
            continue
        report_schema(program.document, context, path, schema)
    return program


def report_schema(
    document: Readable, context: Context, path: Path, schema: JsonObject, *, flag: str | None = None
) -> None:
    """Report every fault of the schema at ``path`` of a document. ``flag`` is the help line of a ``required`` beside
    the schema's own keywords that is neither a list nor the flag that stands there too."""
    for fault in check_schema(schema):
        is_flag = flag is not None and fault.pointer == ("required",) and fault.kind == "malformed"
        _report(document, context, path, replace(fault, help=flag) if is_flag else fault)


def _report(document: Readable, context: Context, path: Path, fault: SchemaFault) -> None:
    place = Place(document.source.name, (*path, *fault.pointer), fault.part)
    fix = None if fault.fix is None else _fix(document, (*path, *fault.pointer), fault.fix)
    help = fix.title if fix is not None and fix.safe else fault.help
    context.sink.report(_RULES[fault.kind], place, fault.message, help=help, fix=fix)


def _fix(document: Readable, path: Path, wanted: KeywordFix) -> Fix | None:
    """Edits of the key and of the value; ``None`` where the value is not written on one line.

    A value that only gets brackets around it keeps its spelling.
    """
    name = document.source.name
    span = document.locator.span(Place(name, path))
    if span.line != span.end_line or not 0 < span.line <= len(document.source.lines):
        return None
    written = document.source.lines[span.line - 1][span.column - 1 : span.end_column - 1].strip()
    if not written or written[0] in "|>&*!":
        return None
    import json

    wraps = wanted.key == "enum" and isinstance(wanted.value, list) and len(wanted.value) == 1
    text = f"[{written}]" if wraps and _fits_flow_list(written) else json.dumps(wanted.value, ensure_ascii=False)
    edits = (Edit(Place(name, path, "key"), wanted.key), Edit(Place(name, path), text))
    return Fix(f"write {wanted.key}: {text}", edits, safe=wanted.safe)


def _fits_flow_list(written: str) -> bool:
    """Whether a value can stand in a flow list as it is written."""
    if written[0] in "[{":
        return written[-1] in "]}"
    if written[0] in "\"'":
        return len(written) > 1 and written[-1] == written[0]
    return written[0] not in "%@`#?:" and not any(mark in written for mark in ",[]{}#") and ": " not in written
