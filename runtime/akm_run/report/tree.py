"""Which runs a page shows: the run itself whole, its children as far as the page's bounds allow."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct, field

from akm_run.faults import UsageFault
from akm_run.journal import Journal
from akm_run.journal.excerpts import attempt_count
from akm_run.lease import is_driven
from akm_run.plans import decode
from akm_run.report.texts import Texts, secrets_of
from akm_run.rows import RunRow
from akm_schemas.bounds import REPORT_ATTEMPTS, REPORT_RUNS, REPORT_TEXT_BYTES, REPORT_TEXTS_BYTES
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import Plan


class Shown(Struct, frozen=True):
    """A run on the page.

    ``number`` is its position (0: the run itself); ``path`` the composing units down to it; ``plan`` is ``None`` where
    this version cannot decode it, ``why_not`` says why. ``driven``: some process carries it on. ``whole``: it has a
    part of its own; one that has not is named only. ``attempts``: how many it has.
    """

    number: int
    run: RunRow
    path: tuple[str, ...]
    plan: Plan | None
    why_not: str | None
    params: JsonObject
    driven: bool
    whole: bool
    attempts: int
    children: tuple[Shown, ...] = ()

    def all(self) -> Iterator[Shown]:
        """This run and every one below it, depth first."""
        yield self
        for child in self.children:
            yield from child.all()


class _Room(Struct):
    """What is left of the page, and the next number."""

    runs: int
    attempts: int
    number: int = 0
    taken: dict[str, int] = field(default_factory=dict)


def read_tree(journal: Journal, run: RunRow) -> Shown:
    """The run with its children. Those that hold it up get their part first, then the oldest."""
    room = _Room(runs=REPORT_RUNS.high, attempts=REPORT_ATTEMPTS.high)
    _choose(journal, run, room)
    return _shown(journal, run, (), room, driven=is_driven(journal.path, run.run_id))


def texts_for(root: Shown) -> Texts:
    """What scrubs every param of the tree that looks like a secret."""
    return Texts(
        text for shown in root.all() for name, value in shown.params.items() for text in secrets_of(name, value)
    )


def text_room(root: Shown) -> int:
    """How many bytes of the page each text of an attempt may take: less the more attempts there are."""
    count = max(1, sum(shown.attempts for shown in root.all() if shown.whole))
    return max(REPORT_TEXT_BYTES.low, min(REPORT_TEXT_BYTES.high, REPORT_TEXTS_BYTES.high // (3 * count)))


def _choose(journal: Journal, run: RunRow, room: _Room) -> None:
    """Note which runs get a part, the root always."""
    waiting = [run]
    while waiting:
        here = waiting.pop(0)
        count = attempt_count(journal, here.run_id)
        if room.taken and (room.runs < 1 or count > room.attempts):
            continue
        room.taken[here.run_id] = count
        room.runs, room.attempts = room.runs - 1, room.attempts - count
        below = journal.children(here.run_id)
        waiting += sorted(below, key=lambda child: child.status == "completed")


def _shown(journal: Journal, run: RunRow, path: tuple[str, ...], room: _Room, *, driven: bool) -> Shown:
    number, room.number = room.number, room.number + 1
    whole = run.run_id in room.taken
    plan, why_not = _plan(journal, run) if whole else (None, None)
    children = tuple(
        _shown(journal, child, (*path, child.parent_unit or ""), room, driven=driven)
        for child in (journal.children(run.run_id) if whole else ())
    )
    return Shown(
        number=number,
        run=run,
        path=path,
        plan=plan,
        why_not=why_not,
        params=journal.params(run.run_id),
        driven=(driven or is_driven(journal.path, run.run_id)) and run.status == "active",
        whole=whole,
        attempts=room.taken.get(run.run_id, 0),
        children=children,
    )


def _plan(journal: Journal, run: RunRow) -> tuple[Plan | None, str | None]:
    try:
        return decode(journal.plan_bytes(run.run_id), "The plan"), None
    except UsageFault as fault:
        return None, str(fault)
