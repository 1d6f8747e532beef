"""The checking walk: a YAML node against a shape of the key table.

Before: the YAML was read, duplicate keys and non-JSON values are reported. After: every value of the wrong shape is
reported once, at its place, and its path is poisoned; what is returned holds only values of the right shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from msgspec import Struct, field

from akm_schemas import keys
from akm_schemas.bounds import PARAM_NAME, TIMEOUT_MS, Bound
from akm_schemas.canonical import CanonicalError, canonical_bytes
from akm_schemas.json_types import Json
from akmc_grammar import shape_fixes as fixes
from akmc_grammar import shape_hints as hints
from akmc_grammar.diagnostics import Fix, Note, Sink
from akmc_grammar.places import Path, Place
from akmc_grammar.reference_grammar import parse_duration
from akmc_grammar.shape_hints import clipped, quoted
from akmc_grammar.suggest import listed
from akmc_grammar.yaml_tree import Bad, Entry, Mapping, Node, Scalar, Sequence, to_json


class _Poison:
    """The result of a value that was reported."""


POISON: Final = _Poison()
Walked = Json | _Poison
_compiled = cache(re.compile)  # the key table names few patterns, and each is asked for with every file


def described(node: Node) -> str:
    """What was found, for messages."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    if isinstance(node, Bad):
        return "an unreadable value"
    value = node.value
    if value is None:
        return "null" if node.text else "nothing"
    if isinstance(value, bool):
        return f"the boolean {node.text}"
    if isinstance(value, int | float):
        return f"the number {quoted(node.text)[1:-1]}"
    return f"the string {quoted(value)}"


class Walk(Struct):
    """One walk over one document."""

    file: str
    sink: Sink
    poisoned: set[Path] = field(default_factory=set)
    needed: dict[Path, str] = field(default_factory=dict)  # empty values of required keys, and what to do about them

    # ---- reporting ----

    def report(
        self,
        rule: str,
        path: Path,
        message: str,
        *,
        key: bool = False,
        help: str | None = None,
        fix: Fix | None = None,
    ) -> _Poison:
        """Report at ``path`` and poison it (a finding at a key poisons the entry)."""
        self.sink.report(rule, Place(self.file, path, "key" if key else "value"), message, help=help, fix=fix)
        self.poisoned.add(path)
        return POISON

    def wrong_type(
        self, path: Path, expected: str, node: Node, help: str | None = None, fix: Fix | None = None
    ) -> _Poison:
        """Report a value of the wrong kind."""
        message = f"expected {expected}, found {described(node)}"
        is_item = bool(path) and isinstance(path[-1], int)
        help = help or self.needed.get(path) or hints.wrong_kind(expected, node, is_item=is_item)
        return self.report("wrong-type", path, message, help=help, fix=fix)

    # ---- shapes ----

    def value(self, node: Node, shape: keys.Shape, path: Path) -> Walked:
        """Walk ``node``; ``POISON`` when it was reported."""
        if type(node) is Bad:
            self.poisoned.add(path)
            return POISON
        return _WALKS[type(shape)](self, node, shape, path)

    def anything(self, node: Node, shape: keys.Anything, path: Path) -> Walked:
        """What nobody reads."""

    def record(self, node: Node, shape: keys.Record, path: Path) -> Walked:
        """A closed mapping."""
        if not isinstance(node, Mapping):
            return self.wrong_type(path, f"a mapping with {listed(key.name for key in shape.keys)}", node)
        found: dict[str, Json] = {}
        seen: set[str] = set()
        meant: set[str | None] = set()
        for entry in node.entries:
            name = str(entry.key.value)
            if name in seen:
                continue  # a duplicate key is reported by the reader; the first one stands
            seen.add(name)
            known = shape.key(name)
            if known is None:
                meant.add(hints.meant_key(shape, name))
                self.unknown_key(node, entry, shape, path)
                continue
            if known.required and type(entry.value) is Scalar and entry.value.value is None:
                self.needed[(*path, name)] = hints.needed_value(shape, known)
            value = self.value(entry.value, known.shape, (*path, name))
            if not isinstance(value, _Poison):
                found[name] = value
        for key in shape.required:
            if key.name not in seen:
                self.poisoned.add((*path, key.name))
                if key.name not in meant and not node.partial:  # else the misspelt key says it, or the refused one
                    message = f'{shape.name} lacks the key "{key.name}" ({key.doc})'
                    self.report("missing-key", path, message, help=hints.missing_key(shape, key))
                    self.poisoned.discard(path)
        return found

    def unknown_key(self, node: Mapping, entry: Entry, shape: keys.Record, path: Path) -> None:
        """Report a key that nothing reads: removed, forbidden, misplaced or misspelt."""
        name = str(entry.key.value)
        at = (*path, name)
        if went := dict(shape.removed).get(name):
            self.report("removed-key", at, f"{quoted(name)} is no longer a key of {shape.name}", key=True, help=went)
            return
        if shape in (keys.EXEC, keys.UNIT) and name == "inherit_env":
            self.report(
                "inherit-env-forbidden",
                at,
                "the whole environment is never handed on",
                key=True,
                help='name single variables in "pass_env", or files of variables in "env"',
            )
            return
        allowed = [key.name for key in shape.keys]
        message = f"unknown key {quoted(name)} in {shape.name}; allowed: {listed(allowed)}"
        fix, intended = None, hints.meant_key(shape, name)
        if intended is not None:
            if node.get(intended) is None:  # nothing may be concluded from its absence
                self.poisoned.add((*path, intended))
            fix = fixes.key_fix(name, node, allowed, Place(self.file, at, "key"))
        self.report("unknown-key", at, message, key=True, help=hints.misplaced_or_misspelt(shape, name), fix=fix)

    def list_of(self, node: Node, shape: keys.ListOf, path: Path) -> Walked:
        """A list; unreadable items stay in place as ``None`` so that indexes keep their meaning."""
        if not isinstance(node, Sequence):
            if shape.single and isinstance(node, Mapping):
                single = self.value(node, shape.item, path)
                return POISON if isinstance(single, _Poison) else [single]
            return self.no_list(node, shape, path)
        if shape.bound is not None and not shape.bound.holds(len(node.items)):
            self.out_of_bounds(path, len(node.items), shape.bound)
            self.poisoned.discard(path)
        found: list[Json] = []
        first: dict[str, int] = {}
        for index, item in enumerate(node.items):
            value = self.value(item, shape.item, (*path, index))
            if shape.unique and isinstance(value, str) and first.setdefault(value, index) != index:
                place = Place(self.file, (*path, first[value]))
                self.sink.report(
                    "invalid-value",
                    Place(self.file, (*path, index)),
                    f"{quoted(value)} is listed twice",
                    notes=[Note("first listed here", place)],
                    help="drop one of the two",
                )
            found.append(None if isinstance(value, _Poison) else value)
        return found

    def no_list(self, node: Node, shape: keys.ListOf, path: Path) -> _Poison:
        """Report a lone value where a list belongs, and how to write it as one."""
        texts = isinstance(shape.item, keys.Text | keys.ReferenceText)
        if not isinstance(node, Scalar) or not isinstance(node.value, str) or not texts:
            return self.wrong_type(path, "a list", node)
        if shape.text_rule == "wrong-type":
            help = f"write it as a list: [{fixes.flow_word(node.value)}]"
            return self.wrong_type(path, "a list", node, help, fixes.list_fix(node, Place(self.file, path)))
        shell = f"[sh, -c, {fixes.flow_word(clipped(node.value))}]"
        words = fixes.argv_text(node.value) if fixes.plain_words(node.value) else shell
        return self.report(
            shape.text_rule,
            path,
            f"a command is a list of words, found {described(node)}",
            help=f"no shell splits it; write {words}",
            fix=fixes.words_fix(node, Place(self.file, path)),
        )

    def named(self, node: Node, shape: keys.Named, path: Path) -> Walked:
        """A mapping with author-chosen names."""
        if not isinstance(node, Mapping):
            return self.wrong_type(path, "a mapping from names to values", node)
        names = {str(entry.key.value) for entry in node.entries}
        if not shape.bound.holds(len(names)):
            self.out_of_bounds(path, len(names), shape.bound)
            self.poisoned.discard(path)
        found: dict[str, Json] = {}
        for entry in node.entries:
            name = str(entry.key.value)
            if name in found:
                continue
            legal = _compiled(shape.pattern).fullmatch(name) is not None and len(name) <= PARAM_NAME.high
            if not legal:
                self.report(
                    shape.rule,
                    (*path, name),
                    f"{quoted(name)} cannot be a name",
                    key=True,
                    help=hints.named_help(name),
                )
            value = self.value(entry.value, shape.value, (*path, name))
            if legal and not isinstance(value, _Poison):
                found[name] = value
        return found

    def mapping(self, node: Node, shape: keys.Schema | keys.AnyMapping, path: Path) -> Walked:
        """A mapping whose inside is somebody else's business."""
        if not isinstance(node, Mapping):
            expected = "a JSON Schema (a mapping)" if isinstance(shape, keys.Schema) else "a mapping"
            help = hints.schema_of(node) if isinstance(shape, keys.Schema) else None
            return self.wrong_type(path, expected, node, help)
        try:
            value = to_json(node)
        except ValueError:  # something inside was reported by the reader
            self.poisoned.add(path)
            return POISON
        size = shape.size if isinstance(shape, keys.AnyMapping) else None
        if size is not None:
            try:
                written = len(canonical_bytes(value))
            except CanonicalError:  # lone surrogates and the like: reported where they stand
                written = 0
            if not size.holds(written):
                return self.out_of_bounds(path, written, size)
        return value

    # ---- scalars ----

    def out_of_bounds(self, path: Path, found: int, bound: Bound) -> _Poison:
        """Report a number, length or size outside its bound."""
        message = f"{bound.name} takes {bound.says()}, found {bound.counts(found)}"
        return self.report("bound-exceeded", path, message, help=hints.within(bound, found))

    def scalar(self, node: Node, shape: keys.Shape, path: Path) -> Walked:
        """A scalar shape."""
        value = node.value if isinstance(node, Scalar) else None
        match shape:
            case keys.ReferenceText():
                if isinstance(value, str):
                    return value
                return self.wrong_type(path, 'a reference such as "steps.<id>.output" or "params.<name>"', node)
            case keys.Integer():
                if isinstance(value, float) and value.is_integer():
                    value = int(value)
                if not isinstance(value, int) or isinstance(value, bool):
                    help = hints.milliseconds(value) if shape.bound == TIMEOUT_MS else None
                    return self.wrong_type(path, "an integer", node, help)
                if shape.bound is not None and not shape.bound.holds(value):
                    return self.out_of_bounds(path, value, shape.bound)
                return value
            case keys.Number():
                if not isinstance(value, int | float) or isinstance(value, bool):
                    return self.wrong_type(path, "a number", node)
                return value
            case keys.Boolean():
                return value if isinstance(value, bool) else self.wrong_type(path, "true or false", node)
            case keys.MatchValue():
                if not isinstance(value, str | int | float):
                    return self.wrong_type(path, "a string, a number or a boolean", node)
                return value
            case _:
                return self.timeout(node, path)

    def text(self, node: Node, shape: keys.Text, path: Path) -> Walked:
        """A string within its vocabulary, pattern and size."""
        value = node.value if isinstance(node, Scalar) else None
        if not isinstance(value, str):
            if not isinstance(node, Scalar) or node.value is None:
                return self.wrong_type(path, "a string", node)
            refused = hints.refused_text(shape, node.text)  # quotes around it would only be the next mistake
            quotes = None if refused else fixes.quotes_fix(node, Place(self.file, path))
            return self.wrong_type(path, "a string", node, refused or "put it in quotes", quotes)
        if shape.choices and value not in shape.choices:
            message, help = hints.one_of(value, shape.choices)
            known = shape.rule != "unsupported-shell"  # which shell was meant is more than spelling
            fix = fixes.choice_fix(value, shape.choices, Place(self.file, path)) if known else None
            return self.report(shape.rule, path, message, help=help, fix=fix)
        if shape.pattern is not None and not _compiled(shape.pattern).fullmatch(value):
            said, help = hints.not_a_name(shape, value)
            return self.report(shape.rule, path, f"{quoted(value)} {said}", help=help)
        if shape.rule == "invalid-engine-name" and value.startswith("akm-"):
            message = f'{quoted(value)}: names that start with "akm-" are reserved'
            return self.report(shape.rule, path, message, help="give the engine another name, in the config too")
        if shape.size is not None:
            size = len(value.encode("utf-8", "surrogatepass")) if shape.in_bytes else len(value)
            if not shape.size.holds(size):
                if shape.rule != "invalid-value":
                    message = f"{quoted(value)} has {shape.size.counts(size)}"
                    return self.report(shape.rule, path, message, help=hints.within(shape.size, size))
                return self.out_of_bounds(path, size, shape.size)
        return value

    def timeout(self, node: Node, path: Path) -> Walked:
        """A duration in milliseconds, or ``none``."""
        value = node.value if isinstance(node, Scalar) else None
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            return self.wrong_type(path, 'a duration such as 90s, a count of milliseconds, or "none"', node)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        parsed = parse_duration(str(value)) if not isinstance(value, int | float) else None
        if isinstance(value, int):
            parsed = value
        if parsed is None:
            shown = node.text if isinstance(node, Scalar) else ""
            return self.report(
                "invalid-timeout",
                path,
                f"{quoted(shown)} is no duration",
                help=hints.duration(shown),
            )
        if isinstance(parsed, int) and not TIMEOUT_MS.holds(parsed):
            return self.out_of_bounds(path, parsed, TIMEOUT_MS)
        return parsed


# One look-up for each value of a document, instead of a question for each kind of shape.
_WALKS: Final[dict[type, Callable[..., Walked]]] = {
    keys.Record: Walk.record,
    keys.ListOf: Walk.list_of,
    keys.Named: Walk.named,
    keys.Schema: Walk.mapping,
    keys.AnyMapping: Walk.mapping,
    keys.Anything: Walk.anything,
    keys.Text: Walk.text,
    **dict.fromkeys(
        (keys.ReferenceText, keys.Integer, keys.Number, keys.Boolean, keys.MatchValue, keys.Timeout), Walk.scalar
    ),
}
