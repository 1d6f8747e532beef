"""The limits of composition: no cycle, eight levels, 1 MiB of embedded plans per root (spec 1, section 5)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path as FilePath

from akm_schemas.bounds import CHILD_BYTES, COMPOSITION_DEPTH
from akmc_grammar.diagnostics import Note
from akmc_passes.composed_targets import Refusal
from akmc_passes.composition_graph import Compositions, Hop, printed_path, shown_ref
from akmc_passes.contract import Context, Sizes
from akmc_passes.library import Library
from akmc_passes.read_set import read_asset


class OverLimit(Refusal, frozen=True):
    """A refusal with the rest of the path as notes."""

    notes: tuple[Note, ...] = ()


class Limits:
    """The limits below one root, whose ``hops`` are given; ``open_bytes`` and ``bytes`` grow as children enter."""

    def __init__(self, ref: str, root: FilePath, hops: tuple[Hop, ...], context: Context, library: Library) -> None:
        self.ref = ref
        self._context, self._library = context, library
        self.hops = {hop.index: hop for hop in hops}
        self.graph = Compositions(root, hops, context, library)
        self.found = {} if self.graph.is_flat else {hop.index: self._judged(hop) for hop in hops}
        self.open_bytes = 0
        self.bytes = 0
        self._said = False

    def _judged(self, hop: Hop) -> OverLimit | None:
        if cycle := self.graph.cycle_through(hop):
            message = f"that would create a composition cycle. Path: {printed_path(self.ref, cycle)}."
            return OverLimit(message, "let one of them do without the other", "composition-cycle", _notes(cycle))
        chain = self.graph.longest_below(hop)
        if COMPOSITION_DEPTH.holds(len(chain)):
            return None
        shown = chain[: COMPOSITION_DEPTH.high + 1]
        more = " -> …" if len(chain) > len(shown) else ""
        message = (
            f"workflow composition is limited to {COMPOSITION_DEPTH.high} levels. "
            f"Path: {printed_path(self.ref, shown)}{more}."
        )
        return OverLimit(message, "compose the deeper ones further up", "composition-depth", _notes(shown))

    def refusal(self, index: int) -> OverLimit | None:
        """Why the step at ``index`` cannot compose, before anything is frozen."""
        return self.found.get(index)

    def enter_read_set(self) -> None:
        """Enter every file that led to a refusal: there is no plan, but the answer stands only while they do."""
        for hops in self.graph.hops.values():
            for hop in hops:
                for asset in (hop.child, hop.task):
                    if asset is not None and self._library.read(asset).unreadable is None:
                        read_asset(self._context, asset)

    def add(self, index: int, sizes: Sizes) -> OverLimit | None:
        """Count what a step embeds; a refusal at the first step that passes the limit.

        Plans are counted with their engines open, so that what checks without a config freezes with one. What the
        config adds on top belongs to the config.
        """
        self.open_bytes += sizes.own_open + sizes.embedded_open
        self.bytes += sizes.own + sizes.embedded
        if self._said or CHILD_BYTES.holds(max(self.open_bytes, self.bytes)):
            return None
        self._said = True
        path = printed_path(self.ref, [self.hops[index]])
        if not CHILD_BYTES.holds(self.open_bytes):
            message = f"{_total(self.open_bytes)}. Path: {path}."
            return OverLimit(message, "embed fewer or smaller children", "composition-bytes")
        message = f"with the config's engines {_total(self.bytes)}. Path: {path}."
        return OverLimit(message, "shorten the engines' args and llm defaults", "config-too-large")


def _total(size: int) -> str:
    return (
        f"the embedded child plans would total {size} bytes, "
        f"over the {CHILD_BYTES.high}-byte limit for one workflow run"
    )


def _notes(hops: Iterable[Hop]) -> tuple[Note, ...]:
    """The path behind its first hop, each hop at the ``uses`` that makes it."""
    rest = list(hops)[1:]
    return tuple(Note(f"{shown_ref(hop.child.ref)} is composed here", hop.place) for hop in rest)
