"""Read and write frozen plans.

Reading trusts nothing: size, strict JSON, irVersion, every hash, shape, exact form, every bound, in that order, each
once. Whatever the bytes are, the answer is a Plan or a PlanError.
"""

from __future__ import annotations

import re
from typing import Final, cast

import msgspec

from akm_schemas.bounds import CHILD_BYTES, COMPOSITION_DEPTH, KIB, PLAN_BYTES, STEPS
from akm_schemas.canonical import Writer, canonical_bytes, plain_bytes, pretty_bytes, writer_of
from akm_schemas.json_paths import dotted
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.json_values import a_type, json_equal
from akm_schemas.plan import Plan
from akm_schemas.plan_checks import check_plan
from akm_schemas.plan_error import PlanError, PlanErrorKind, PlanPath, plan_error
from akm_schemas.plan_integrity import check_integrity, check_version
from akm_schemas.plan_sizes import check_sizes
from akm_schemas.strict_json import JsonFault, numbers_are_plain, survey_json

__all__ = [
    "PlanError",
    "PlanErrorKind",
    "decode_intact",
    "decode_plan",
    "encode_plan",
    "is_intact",
    "plan_json",
    "pretty_plan",
]

# A compact plan has at most its own bytes, those of its children and a few for each place that holds a child. What
# another writer adds does not count: blanks (an indented deep list of small numbers is mostly that) and escapes.
_TEXT_BYTES: Final = PLAN_BYTES.high + CHILD_BYTES.high + STEPS.high * COMPOSITION_DEPTH.high * 32
_FILE_BYTES: Final = 16 * _TEXT_BYTES
_BLANKS: Final = b" \t\r\n"
_ESCAPES: Final = ((b"\\u", 5), (b"\\/", 1))  # and the bytes by which each may be longer than what it stands for
_LARGE: Final = 256 * KIB  # from here on a look at the bytes is worth its time before all of them are parsed

# Eight levels of embedded plans (five levels of nesting each) around a schema or literal of 64 levels, with room.
_DEPTH: Final = 192


def decode_plan(data: bytes) -> Plan:
    """The plan in the bytes of a file, canonical or indented; raises PlanError and nothing else.

    Checks everything that the interpreter relies on, so what decodes can start. Indented or otherwise re-spaced text
    is accepted when its values are those of the canonical text.
    """
    _check_file_size(data)
    return _checked(data, _as_written(data) or _read(data))


def is_intact(data: bytes) -> bool:
    """Whether ``decode_plan`` accepts ``data``, and they are, byte for byte, what is written for the plan in them."""
    try:
        _check_file_size(data)
        read = _as_written(data)
        return read is not None and bool(_checked(data, read))
    except PlanError:
        return False


def decode_intact(data: bytes) -> Plan:
    """The plan in bytes that ``is_intact``, in whatever process, has found to be so; nothing is checked again."""
    return msgspec.json.decode(data, type=Plan)


def _checked(data: bytes, read: _Read) -> Plan:
    check_integrity(read.value, read.write)
    plan = read.plan
    if plan is None:
        plan = _converted(read.value)
        _check_form(plan, read.value)
    size = read.size or _check_text(data, read.value, read.write)
    check_sizes(read.value, size, read.write)
    check_plan(plan)
    return plan


def plan_json(plan: Plan) -> JsonObject:
    """The plan as JSON values with camelCase names; absent optional members are left out."""
    return cast(JsonObject, msgspec.to_builtins(plan))


def encode_plan(plan: Plan) -> bytes:
    """The bytes of a plan's file: canonical JSON (RFC 8785) and one newline, which is in no hash."""
    return canonical_bytes(plan_json(plan)) + b"\n"


def pretty_plan(plan: Plan) -> bytes:
    """The indented twin of ``encode_plan``: decodes to the same plan with the same hashes."""
    return pretty_bytes(plan_json(plan)) + b"\n"


def _check_file_size(data: bytes) -> None:
    size = len(data)
    if _TEXT_BYTES < size <= _FILE_BYTES:
        # Blanks of strings are left out too: never more than the size of the plan, which is measured again once read.
        compact = data.translate(None, _BLANKS)
        size = len(compact) - sum(compact.count(text) * longer for text, longer in _ESCAPES)
    if size > _TEXT_BYTES:
        message = f"the file has {size} bytes, a plan with all it embeds has at most {_TEXT_BYTES}"
        raise PlanError("bounds", "", message)
    if len(data) > _LARGE:
        first = data.lstrip(_BLANKS)[:1]
        if first == b"[":
            raise PlanError("malformed", "", "a plan is a JSON object, found an array")
        if first == b"{" and b'"irVersion"' not in data and b"\\u" not in data:  # a name may be written in escapes
            raise PlanError("malformed", "", "there is no irVersion number, so this is no frozen plan")


class _Read(msgspec.Struct, frozen=True):
    """The JSON of a file, how its parts are written, and the plan and the size of its text where both are known."""

    value: JsonObject
    write: Writer
    plan: Plan | None = None
    size: int = 0


def _as_written(data: bytes) -> _Read | None:
    """A file that is, byte for byte, what is written for the plan in it: most are, and C code alone reads them.

    Nothing can be given twice, spelled out, left out or spaced otherwise then; of numbers and depth a look is left.
    """
    try:
        plan = msgspec.json.decode(data, type=Plan)
        if msgspec.json.encode(plan, order="sorted") + b"\n" != data:
            return None
        value = msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    if not numbers_are_plain(value, max_depth=_DEPTH):
        return None
    write = plain_bytes if data.isascii() else writer_of(value)  # with names beyond ASCII, the order may be another
    return _Read(check_version(value), write, plan, len(data) - 1) if write is plain_bytes else None


def _read(data: bytes) -> _Read:
    try:
        read = survey_json(data, max_depth=_DEPTH, canonical_numbers=True)
    except JsonFault as fault:
        raise PlanError("malformed", fault.path or "", _json_message(fault)) from None
    plan_object = check_version(read.value)
    return _Read(plan_object, plain_bytes if read.plain else writer_of(plan_object))


def _json_message(fault: JsonFault) -> str:
    place = "" if fault.offset is None else f" at byte {fault.offset}"
    return f"the file is not the JSON of a plan{place}: {fault.message}"


def _converted(value: JsonObject) -> Plan:
    try:
        return msgspec.convert(value, Plan)
    except msgspec.ValidationError as error:
        path, message = _translated(str(error))
        raise PlanError("malformed", path, message) from None


_PLACE: Final = re.compile(r"(?P<what>.*) - at `(?:key in )?\$\.?(?P<path>.*)`", re.DOTALL)
_KINDS: Final = re.compile(r"Expected `(?P<wanted>[^`]*)`, got `(?P<found>[^`]*)`")
_MEMBER: Final = re.compile(r"Object (?P<what>missing required|contains unknown) field `(?P<name>.*)`", re.DOTALL)
_WORD: Final = re.compile(r"Invalid (?:enum )?value (?P<word>.*)", re.DOTALL)
_TYPE_WORDS: Final = {"int": "integer", "float": "number", "str": "string", "bool": "boolean"}


def _translated(text: str) -> tuple[str, str]:
    """A msgspec message as (path, message) in the words of JSON."""
    place = _PLACE.fullmatch(text)
    what, path = (place["what"], place["path"]) if place else (text, "")
    if kinds := _KINDS.fullmatch(what):
        wanted = [a_type(_TYPE_WORDS.get(name, name)) for name in kinds["wanted"].split(" | ")]
        found = a_type(_TYPE_WORDS.get(kinds["found"], kinds["found"]))
        return path, f"expected {' or '.join(sorted(set(wanted)))}, found {found}"
    if member := _MEMBER.fullmatch(what):
        trouble = "is missing" if member["what"].startswith("missing") else "is not known here"
        return path, f"the member {dotted((member['name'],))} {trouble}"
    if word := _WORD.fullmatch(what):
        return path, f"{word['word']} is not one of the words allowed here"
    return path, what


def _check_form(plan: Plan, given: JsonObject) -> None:
    """Members that are absent by right must not be spelled out (a default, say), nor may what is written be left out."""
    encoded = plan_json(plan)
    if encoded == given:  # Python's equality will do: whatever is there kept its type on the way
        return
    path = _first_difference(encoded, given, ())
    raise plan_error(
        "malformed", path, "not written as akmc compile writes it: absent, and present with its default, differ"
    )


def _first_difference(one: Json, other: Json, path: PlanPath) -> PlanPath:
    if isinstance(one, dict) and isinstance(other, dict):
        for name in sorted(one.keys() | other.keys()):
            if name not in one or name not in other:
                return (*path, name)
            if not json_equal(one[name], other[name]):
                return _first_difference(one[name], other[name], (*path, name))
    if isinstance(one, list) and isinstance(other, list):
        for index, (left, right) in enumerate(zip(one, other, strict=False)):
            if not json_equal(left, right):
                return _first_difference(left, right, (*path, index))
    return path


def _check_text(data: bytes, value: JsonObject, write: Writer) -> int:
    """A flipped byte that leaves every value as it was (a blank, the case of an escape) is still a changed file.

    Returns the size of the canonical text in bytes.
    """
    canonical = write(value) + b"\n"
    size = len(canonical) - 1
    if data == canonical:
        return size
    written = canonical if len(data) == len(canonical) else pretty_bytes(value) + b"\n"
    if len(data) == len(written) and data != written:
        offset = next(place for place, (a, b) in enumerate(zip(data, written, strict=True)) if a != b)
        raise PlanError("integrity", "", f"byte {offset} is not as akmc compile writes it, though no value is changed")
    return size
