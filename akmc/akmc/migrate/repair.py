"""What today's checks refuse in a draft goes to prose, one round after the other, until it checks clean.

The checks are the authority on what the new format can say, so they decide here too: each error names a path of the
frontmatter, and what stands there is moved. A number beyond its bound is cut to it, a map or route without a usable
reference becomes a unit, a branch or input that leads nowhere goes. Every move is listed with its old place.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final, cast

from akm_schemas import bounds
from akm_schemas.bounds import Bound
from akm_schemas.json_types import Json, JsonObject
from akmc.migrate.check_draft import CheckedText, check_text
from akmc.migrate.emit import emitted
from akmc.migrate.model import Draft, Notes, clipped
from akmc.migrate.steps_to_units import map_to_unit, route_to_unit
from akmc_grammar.diagnostics import Diagnostic
from akmc_grammar.frontmatter_rules import OWNED_ANYWHERE
from akmc_grammar.places import Path
from akmc_grammar.reference_grammar import parse_duration

ROUNDS: Final = 100
NOT_COPIED: Final = "(not copied: it may be a secret)"
_CUT: Final[dict[tuple[str, ...], Bound]] = {
    ("budget", "max_units"): bounds.MAX_UNITS,
    ("map", "concurrency"): bounds.CONCURRENCY,
    ("retry", "max"): bounds.RETRY_MAX,
    ("gate", "max_loops"): bounds.MAX_LOOPS,
}
_EQUAL_KEYWORDS: Final = {"const": "enum", "id": "$id"}


def repaired(draft: Draft, name: str, notes: Notes) -> tuple[str, CheckedText]:
    """The text of the repaired draft, and the errors that no move can mend (none, as a rule)."""
    for _ in range(ROUNDS):
        draft = replace(draft, kept=notes.kept_lines())
        text = emitted(draft)
        checked = check_text(text, name)
        after = _round(draft, checked.errors, notes)
        if after is None:
            break
        draft = after
    return text, checked


def _round(draft: Draft, errors: Iterable[Diagnostic], notes: Notes) -> Draft | None:
    """One round of moves; ``None`` when there is nothing to move."""
    worst: dict[Path, Diagnostic] = {}
    for error in errors:
        path = error.place.path
        if error.place.span is None and _movable(path) and _holds(draft.frontmatter, path):
            worst.setdefault(_target(path), error)
    if not worst:
        return None
    moves = _Moves(replace(draft, frontmatter=copy.deepcopy(draft.frontmatter)), notes)
    for path in sorted(worst, key=_order, reverse=True):
        moves.move(path, worst[path])
    return moves.draft


def _movable(path: Path) -> bool:
    """Whether a workflow is still one without what stands at ``path``."""
    if path[:1] == ("steps",):
        return len(path) > 2 and path[2] not in ("id", "instructions", "rubric")
    return len(path) > (1 if path[:1] == ("params",) else 0)


def _target(path: Path) -> Path:
    """What has to go when ``path`` is at fault: a branch goes whole, a map or route with its reference."""
    if path[2:3] == ("map",) and path[3:4] == ("over",):
        return path[:3]
    if path[2:3] == ("route",):
        return path[:5] if path[3:4] == ("when",) and len(path) > 4 else path if path[3:] == ("default",) else path[:3]
    if path[2:3] == ("inputs",):
        return path[:4]
    return path


def _order(path: Path) -> list[tuple[int, int, str]]:
    """Backwards this lets a place be handled before what is around it, and later items before earlier ones."""
    return [(0, part, "") if isinstance(part, int) else (1, 0, part) for part in path]


def _holds(value: Json, path: Path) -> bool:
    for part in path:
        named = isinstance(value, dict) and isinstance(part, str) and part in value
        listed = isinstance(value, list) and isinstance(part, int) and part < len(value)
        if not named and not listed:
            return False
        value = cast("dict[str | int, Json]", value)[part]
    return True


class _Moves:
    """The moves of one round on a copy of the frontmatter."""

    def __init__(self, draft: Draft, notes: Notes) -> None:
        self.draft = draft
        self.notes = notes

    def move(self, path: Path, error: Diagnostic) -> None:
        """Mend what ``error`` says about ``path``."""
        if not _holds(self.draft.frontmatter, path):
            return
        if len(path) == 3 and path[2] in ("map", "route"):
            self.to_unit(path, error)
        elif not (self.cut(path, error) or self.respell(path)):
            self.remove(path, error)

    def at(self, path: Path) -> Json:
        """The value at ``path``."""
        value: Json = self.draft.frontmatter
        for part in path:
            value = cast("dict[str | int, Json]", value)[part]
        return value

    def cut(self, path: Path, error: Diagnostic) -> bool:
        """Cut a number that is above its bound."""
        if error.rule.name != "bound-exceeded":
            return False
        key, value = str(path[-1]), self.at(path)
        bound = _CUT.get((str(path[-2]), key)) if len(path) > 1 and not _in_schema(path) else None
        new: Json = None
        if bound is not None and isinstance(value, int | float) and value > bound.high:
            new = bound.high
        elif key == "timeout" and not _in_schema(path):
            parsed = parse_duration(str(value))
            if isinstance(parsed, int) and parsed > bounds.TIMEOUT_MS.high:
                new = bounds.TIMEOUT_MS.high
        if new is None:
            return False
        cast(JsonObject, self.at(path[:-1]))[key] = new
        message = f"{self.name(path)} was {clipped(value)} and is now {new}: {error.message}"
        self.notes.warn(self.draft.origins.span(path), message)
        return True

    def respell(self, path: Path) -> bool:
        """Write a keyword of a schema as the one that says the same."""
        key = path[-1]
        new = _EQUAL_KEYWORDS.get(key) if isinstance(key, str) and _in_schema(path) else None
        parent = self.at(path[:-1])
        if new is None or not isinstance(parent, dict) or new in parent:
            return False
        entries = [(new, [value] if new == "enum" else value) if name == key else (name, value)
                   for name, value in parent.items()]  # fmt: skip
        parent.clear()
        parent.update(entries)
        return True

    def remove(self, path: Path, error: Diagnostic) -> None:
        """Take out what stands at ``path``, and what is around it when nothing is left there."""
        secret = re.sub("[^a-z0-9]", "", str(path[-1]).lower()) in OWNED_ANYWHERE
        value = NOT_COPIED if secret else self.at(path)
        self.notes.keep(self.draft.origins.span(path), self.name(path), value, error.message)
        parent = self.at(path[:-1])
        if isinstance(parent, list):
            del parent[cast(int, path[-1])]
        else:
            del cast(JsonObject, parent)[cast(str, path[-1])]
        if parent:
            return
        if path[2:4] == ("route", "when"):
            self.to_unit(path[:3], error)
        elif _movable(path[:-1]) and (
            isinstance(parent, list) or (path[-2] in ("unit", "gate") and not _in_schema(path))
        ):
            grand = cast(JsonObject, self.at(path[:-2]))
            del grand[cast(str, path[-2])]

    def to_unit(self, path: Path, error: Diagnostic) -> None:
        """Make the map or route step at ``path`` a unit step."""
        index = cast(int, path[1])
        steps = cast("list[Json]", self.draft.frontmatter["steps"])
        step = cast(JsonObject, steps[index])
        value, span = step[str(path[2])], self.draft.origins.span(path)
        change = map_to_unit if path[2] == "map" else route_to_unit
        steps[index], section = change(step, self.draft.sections[index])
        sections = list(self.draft.sections)
        sections[index] = section
        self.draft = replace(self.draft, sections=tuple(sections))
        follows = "its unit runs once" if path[2] == "map" else "nothing selects its targets any more, all of them run"
        why = f"{error.message}; the step is a plain unit now: {follows}"
        kept = {key: item for key, item in cast(JsonObject, value).items() if key != "unit"}
        self.notes.keep(span, f'{path[2]} of step "{step["id"]}"', kept, why)

    def name(self, path: Path) -> str:
        """A path as people write it, steps by their id."""
        if path[:1] != ("steps",):
            return ".".join(map(str, path))
        step = cast(JsonObject, self.at(path[:2]))
        if path[2:4] == ("route", "when"):
            return f'branch of step "{step["id"]}"'
        return f'{".".join(map(str, path[2:]))} of step "{step["id"]}"'


def _in_schema(path: Path) -> bool:
    return path[:1] == ("params",) or "output" in path
