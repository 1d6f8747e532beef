"""What to type instead: the help lines of findings about shapes.

Every finding of the checking walk has something to act on; what it is depends on the shape, the bound and the value.
"""

from __future__ import annotations

from typing import Final

from akm_schemas import keys
from akm_schemas.bounds import ENGINE_NAME, PARAM_NAME, TIMEOUT_MS, Bound
from akm_schemas.json_types import Json
from akm_schemas.spelling import nearest
from akm_schemas.subset_keywords import TYPES
from akm_schemas.yaml_keys import YAML_JOB, YAML_ROOT, YAML_STEP
from akmc_grammar.reference_grammar import parse_duration
from akmc_grammar.suggest import did_you_mean, listed
from akmc_grammar.yaml_core import resolve_plain
from akmc_grammar.yaml_tree import Mapping, Node, Scalar, Sequence

ONE_JOB: Final = "jobs: {main: {runs-on: [self-hosted], steps: [{id: build, run: make}]}}"
_EXAMPLES: Final[dict[tuple[str, str], str]] = {
    ("exec", "command"): "command: [make, test]",
    ("frontmatter", "steps"): "steps: [{id: build}]",
    ("job", "runs-on"): "runs-on: [self-hosted]",
    ("job", "steps"): "steps: [{id: build, run: make}]",
    ("map", "over"): "over: params.files",
    ("output", "from"): "from: steps.report.output",
    ("retry", "max"): "max: 2",
    ("retry", "on"): "on: [timeout]",
    ("route", "input"): "input: steps.review.output.verdict",
    ("route", "when"): "when: [{match: pass, step: publish}]",
    ("route.when", "match"): "match: pass",
    ("route.when", "step"): "step: publish",
    ("stamp", "by"): "by: release-bot",
    ("step", "id"): "id: build",
    ("task", "version"): "version: 4",
    ("workflow", "jobs"): ONE_JOB,
    ("workflow", "name"): "name: Nightly build",
    ("workflow", "on"): "on: {workflow_dispatch: {}}",
}
# What a name of each rule is, for "... cannot be ...".
_NOUNS: Final[dict[str, str]] = {
    "invalid-engine-name": "an engine name",
    "invalid-param-name": "a name",
    "invalid-step-id": "a step id",
}
# Words of other languages for the keys of a branch.
_BRANCH_WORDS: Final[dict[str, str]] = {
    **dict.fromkeys(("case", "equals", "if", "is", "value", "when"), "match"),
    **dict.fromkeys(("do", "goto", "next", "target", "then", "to"), "step"),
}
# Where a misplaced key of a step is looked for before anything at the level of the document.
_OF_STEPS: Final = frozenset({"exec", "gate", "llm", "map", "retry", "route", "step", "unit"})
_YAML: Final = (YAML_JOB, YAML_ROOT, YAML_STEP)
_GITHUB: Final[dict[str, str]] = {
    "if": 'no step is conditional here: write the workflow in Markdown and select steps by "route"',
    "permissions": "drop it: a run has the rights of who starts it",
    "strategy": 'nothing fans out here: write the workflow in Markdown and use "map"',
    "timeout-minutes": 'drop it, or move the step into a task, which may set "timeout"',
}
_UNITS_MS: Final[dict[str, int]] = {
    **dict.fromkeys(("d", "day"), 86_400_000),
    **dict.fromkeys(("h", "hour", "hr"), 3_600_000),
    **dict.fromkeys(("m", "min", "minute"), 60_000),
    **dict.fromkeys(("s", "sec", "second"), 1000),
    **dict.fromkeys(("msec", "millisecond"), 1),
}
CLIP: Final = 60
_NEEDED: Final = frozenset({"exec.command", "retry.on", "route.when", "schedule", "steps"})
NAME_HELP: Final = "an ASCII letter or underscore, then letters, digits and underscores; at most 128 characters"
_MORE_ROOM: Final[dict[str, str]] = {
    "steps": "split the workflow in two",
    "route.when": "join branches, or route in two steps",
    "inputs": "attach one artifact that holds the others",
}


def missing_key(record: keys.Record, key: keys.Key) -> str:
    """What to add for a required key that is not there."""
    example = _EXAMPLES.get((record.name, key.name))
    return f'add "{key.name}: ..."' if example is None else f'add it, such as "{example}"'


def misplaced_or_misspelt(record: keys.Record, name: str) -> str:
    """What to do about a key that ``record`` does not have: its spelling, its home, or out with it."""
    if meant := _branch_word(record, name):
        return f'did you mean "{meant}"?'
    homes = _homes(record, name)
    if homes:
        return f'"{name}" is a key of {" and ".join(homes)}: move it there'
    spelling = did_you_mean(name, [key.name for key in record.keys])
    if spelling is not None:
        return spelling
    if record in _YAML:
        if name in _GITHUB:
            return _GITHUB[name]
        markdown = f'only Markdown workflows have "{name}": drop it, or write this workflow in Markdown'
        return markdown if keys.homes_of(name) else "drop it: nothing reads it; notes for people go into a comment"
    spelt = name.lower().replace("-", "_")
    homes = _homes(record, spelt)
    if homes:
        return f'did you mean "{spelt}"? It is a key of {" and ".join(homes)}: move it there'
    return "drop it: nothing reads it; notes for people go into a comment or the body"


def _homes(record: keys.Record, name: str) -> list[str]:
    """The records of the same kind of source that have a key called ``name``, the nearer ones alone."""
    if record in _YAML:
        return sorted(other.name for other in _YAML if other is not record and other.key(name))
    homes = [home for home in keys.homes_of(name) if home != record.name]
    near = [home for home in homes if home in _OF_STEPS]
    return near if near and record.name in _OF_STEPS else homes


def meant_key(record: keys.Record, name: str) -> str | None:
    """The key of ``record`` that an unknown ``name`` is a misspelling of, or ``None``."""
    if meant := _branch_word(record, name):
        return meant
    if _homes(record, name):
        return None
    return nearest(name, [key.name for key in record.keys])


def _branch_word(record: keys.Record, name: str) -> str | None:
    """The key of a branch that a word of another language stands for."""
    return _BRANCH_WORDS.get(name) if record is keys.BRANCH else None


def needed_value(record: keys.Record, key: keys.Key) -> str:
    """What to write for a required key that has no value."""
    example = _EXAMPLES.get((record.name, key.name))
    return "write a value" if example is None else f'write a value, such as "{example}"'


def schema_of(node: Node) -> str | None:
    """The schema that a lone type name stands for."""
    name = node.value if isinstance(node, Scalar) else None
    return f"write {{type: {name}}}" if isinstance(name, str) and name in TYPES else None


def milliseconds(value: Json) -> str:
    """How to write a duration where a count of milliseconds is taken."""
    parsed = parse_duration(value) if isinstance(value, str) else None
    shown = parsed if isinstance(parsed, int) and TIMEOUT_MS.holds(parsed) else 300_000
    return f"this key counts milliseconds: write {shown}"


def refused_text(shape: keys.Text, text: str) -> str | None:
    """What to write for a number or boolean that would be refused as a text too; ``None`` where quotes mend it."""
    import re

    if shape.choices and text not in shape.choices:
        return one_of(text, shape.choices)[1]
    if shape.pattern is not None and not re.fullmatch(shape.pattern, text):
        return not_a_name(shape, text)[1]
    return None


def wrong_kind(expected: str, node: Node, *, is_item: bool = False) -> str:
    """How to write a value of the expected kind; ``is_item`` says that it stands in a list."""
    if isinstance(node, Scalar) and node.value is None:
        return "write a value, or drop the item" if is_item else "write a value, or drop the key"
    if odd := _odd_blank(node):
        return f'the blank behind ":" is U+{ord(odd):04X}, which ends no key: write a plain space'
    if "mapping" in expected and '"id"' in expected and isinstance(node, Scalar):
        return f"write {{id: {node.text}}}"
    if "mapping" in expected:
        return 'write it as "key: value" lines, indented below the key'
    if "list" in expected:
        return f"write it as a list: [{node.text}]" if isinstance(node, Scalar) else 'write it as a list: "- " items'
    if expected.startswith("a reference"):
        return "write the reference itself, as one text"
    if isinstance(node, Sequence) and len(node.items) == 1:
        return "write the one value without the brackets"
    if isinstance(node, Mapping | Sequence):
        return "write one plain value"
    if expected in ("an integer", "a number"):
        number = resolve_plain(node.value) if isinstance(node, Scalar) and isinstance(node.value, str) else None
        fits = isinstance(number, int if expected == "an integer" else (int, float)) and not isinstance(number, bool)
        return f"write {number} without quotes" if fits else "write digits without quotes, such as 10"
    return "write true or false, without quotes" if expected == "true or false" else f"write {expected}"


def duration(text: str) -> str:
    """How to write what looks like a duration in other words (``5 minutes``, ``1h``, ``1.5s``)."""
    import re

    rest = 'digits and one of ms, s, m ("250ms", "90s", "10m"), digits alone for ms, or "none"'
    found = re.fullmatch(r"([0-9]{1,6}(?:\.[0-9]{1,3})?)[ ]*([a-z]+)", text.strip().lower())
    size = _UNITS_MS.get(found[2].removesuffix("s") or "s") if found is not None else None
    if found is None or size is None:
        return f"write {rest}"
    whole = round(float(found[1]) * size)
    for unit, ms in (("m", 60_000), ("s", 1000), ("ms", 1)):
        if whole and whole % ms == 0:
            return f'write "{whole // ms}{unit}": {rest}'
    return f"write {rest}"


def not_a_name(shape: keys.Text, value: str) -> tuple[str, str]:
    """Message (without the quoted value) and help for a text outside its pattern."""
    noun = _NOUNS.get(shape.rule)
    said = f"cannot be {noun}" if noun is not None else "is not allowed here"
    rest = shape.hint or "write it in the allowed characters"
    legal = spelling(shape, value)
    return said, rest if legal is None else f'write "{legal}": {rest}'


def spelling(shape: keys.Text, value: str) -> str | None:
    """A legal name near ``value`` for the rules that have one obvious rewriting, or ``None``."""
    import re

    if shape.rule == "invalid-engine-name":
        found = "-".join(re.findall(r"[a-z0-9]+", value.lower()))
    elif shape.rule == "invalid-step-id":
        found = re.sub(r"[^A-Za-z0-9_-]+", "-", _without_accents(value)).strip("-")
        found = f"step-{found}" if found[:1].isdigit() else found
    else:
        return None
    legal = shape.pattern is not None and re.fullmatch(shape.pattern, found) is not None
    return found if legal and not found.startswith("akm-") and len(found) <= ENGINE_NAME.high else None


def _without_accents(name: str) -> str:
    """The letters below accents; nothing of a name with letters that no ASCII one stands for."""
    if name.isascii():
        return name
    import unicodedata

    found = "".join(mark for mark in unicodedata.normalize("NFKD", name) if not unicodedata.combining(mark))
    return "" if any(mark.isalnum() and not mark.isascii() for mark in found) else found


def named_help(name: str) -> str:
    """What to write instead of a name that cannot be one."""
    import re

    found = re.sub(r"[^A-Za-z0-9_]+", "_", _without_accents(name)).strip("_")
    found = f"_{found}" if found[:1].isdigit() else found
    return f'write "{found}": {NAME_HELP}' if found and len(found) <= PARAM_NAME.high else NAME_HELP


def one_of(value: str, choices: tuple[str, ...]) -> tuple[str, str]:
    """Message and help for a text outside a closed vocabulary."""
    if len(choices) == 1:
        return f'expected "{choices[0]}", found {quoted(value)}', f'write "{choices[0]}", or drop the key'
    message = f"{quoted(value)} is not one of {listed(choices)}"
    return message, did_you_mean(value, choices) or "write one of these values, or drop the key"


def _odd_blank(node: Node) -> str | None:
    """The blank that is no blank for YAML and made a text of what should be ``key: value``."""
    if not isinstance(node, Scalar) or not isinstance(node.value, str) or node.value.isascii():
        return None
    behind = node.value.partition(":")[2][:1]
    return behind if behind.isspace() and not behind.isascii() else None


def within(bound: Bound, found: float) -> str:
    """What to do about a number, length or count outside ``bound``."""
    counted = bound.unit not in ("", "ms")
    if found < bound.low:
        if not counted:
            return f"write {bound.low} or more"
        if bound.unit in ("bytes", "characters"):
            return "write a text"
        return "list at least one" if bound.name in _NEEDED else "list at least one, or drop the key"
    if not counted:
        return f"write {bound.high} or less"
    shorten = _MORE_ROOM.get(bound.name, "shorten it" if bound.unit in ("bytes", "characters") else "leave some out")
    return f"{shorten}: at most {bound.high} {bound.unit}"


def quoted(text: str) -> str:
    """User text in quotes, clipped."""
    return f'"{clipped(text)}"'


def clipped(text: str) -> str:
    """User text, cut where it is long."""
    return text if len(text) <= CLIP else text[: CLIP - 1] + "…"
