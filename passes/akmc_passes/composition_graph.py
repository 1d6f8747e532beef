"""Who composes whom: the graph below one workflow, its cycles and its depth.

Nothing is frozen and nothing reported here. A node is the file of a workflow; an edge is a step whose ``uses`` names
the other workflow, directly or through a task. networkx is imported only when a composed workflow composes too.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Final

from msgspec import UNSET, Struct

from akmc_grammar.document import Document
from akmc_grammar.places import Place
from akmc_grammar.task_ir import TaskDocument
from akmc_passes.contract import Asset, Context
from akmc_passes.ir_walk import unit_of
from akmc_passes.library import Library
from akmc_passes.resolve import resolve_ref

if TYPE_CHECKING:
    import networkx as nx

_WORKFLOWS: Final = "workflows/"


class Hop(Struct, frozen=True):
    """A step that composes ``child``: ``place`` is its ``uses``, ``task`` the task in between."""

    index: int
    place: Place
    child: Asset
    task: Asset | None = None


def shown_ref(ref: str) -> str:
    """A ref in a printed path: workflows of one's own bundle without their family, all others whole."""
    return ref.removeprefix(_WORKFLOWS)


def hops_of(document: Document, quiet: Context, library: Library) -> tuple[Hop, ...]:
    """The steps of a workflow that compose another one, in order. Refs that name nothing are left out.

    ``quiet`` is a context whose findings nobody sees (``Library.context_for_refs``).
    """
    ir, file = document.ir, document.source.name
    assert ir is not None
    found: list[Hop] = []
    for index, step in enumerate(ir.steps):
        uses = unit_of(step).uses
        if uses is UNSET:
            continue
        place = Place(file, ("steps", index, "unit", "uses"))
        hop = hop_to(uses.ref, index, place, quiet, library)
        if hop is not None:
            found.append(hop)
    return tuple(found)


def hop_to(ref: str, index: int, place: Place, quiet: Context, library: Library) -> Hop | None:
    """The hop that ``ref`` makes; ``None`` when it leads to no workflow."""
    if not ref.rpartition("//")[2].startswith((_WORKFLOWS, "tasks/")):
        return None
    asset = resolve_ref(quiet, place, ref)
    if asset is None:
        return None
    if asset.family == "workflows":
        return Hop(index, place, asset)
    task = library.read(asset).document
    if not isinstance(task, TaskDocument) or task.ir is None or task.ir.kind != "workflow":
        return None
    uses = task.ir.unit.uses
    assert uses is not UNSET
    within = library.context_for_refs(quiet, asset.bundle)
    child = resolve_ref(within, Place(task.source.name, ("uses",)), uses.ref)
    return None if child is None else Hop(index, place, child, asset)


class Compositions:
    """The graph below one workflow (or task), whose hops are given."""

    def __init__(self, root: FilePath, hops: tuple[Hop, ...], context: Context, library: Library) -> None:
        self.root = root
        self.context = context
        self.library = library
        self.hops: dict[FilePath, tuple[Hop, ...]] = {root: hops}
        waiting = [hop.child for hop in reversed(hops)]
        while waiting:
            asset = waiting.pop()
            if asset.file not in self.hops:
                self.hops[asset.file] = self._hops(asset)
                waiting.extend(hop.child for hop in reversed(self.hops[asset.file]))

    def _hops(self, asset: Asset) -> tuple[Hop, ...]:
        if asset.file.suffix == ".md":  # a Markdown workflow composes nothing
            return ()
        document = self.library.read(asset).document
        if not isinstance(document, Document) or document.ir is None:
            return ()
        self.context.documents.setdefault(document.source.name, document)
        within = self.library.context_for_refs(self.context, asset.bundle)
        return self.library.hops(document, within)

    @property
    def is_flat(self) -> bool:
        """Whether no composed workflow composes another one: no cycle, one level."""
        return all(not hops for file, hops in self.hops.items() if file != self.root) and not any(
            hop.child.file == self.root for hop in self.hops[self.root]
        )

    @cached_property
    def graph(self) -> nx.DiGraph[FilePath]:
        """The graph in the order in which it was walked."""
        import networkx as nx

        graph: nx.DiGraph[FilePath] = nx.DiGraph()
        graph.add_nodes_from(self.hops)
        graph.add_edges_from((file, hop.child.file) for file, hops in self.hops.items() for hop in hops)
        return graph

    @cached_property
    def circular(self) -> frozenset[FilePath]:
        """The workflows that reach themselves."""
        import networkx as nx

        components = nx.strongly_connected_components(self.graph)
        return frozenset(
            node
            for component in components
            for node in component
            if len(component) > 1 or self.graph.has_edge(node, node)
        )

    def cycle_through(self, hop: Hop) -> list[Hop] | None:
        """The shortest way from a hop of the root into a cycle and once around it; ``None`` when there is none."""
        import networkx as nx

        if not self.circular:
            return None
        ways = nx.single_source_shortest_path(self.graph, hop.child.file)
        if self.root in ways:
            return self._walked(hop, ways[self.root])
        entries = [node for node in ways if node in self.circular]
        if not entries:
            return None
        entry = min(entries, key=lambda node: (len(ways[node]), node.as_posix()))
        backs = [after for after in self.graph[entry] if nx.has_path(self.graph, after, entry)]
        around = min((nx.shortest_path(self.graph, after, entry) for after in backs), key=len)
        return self._walked(hop, [*ways[entry], *around])

    @cached_property
    def nexts(self) -> dict[FilePath, tuple[int, FilePath | None]]:
        """Per workflow that reaches no cycle: how many levels lie below it, and the first step of the longest way."""
        import networkx as nx

        lost = set(self.circular).union(*(nx.ancestors(self.graph, node) for node in self.circular))
        sound = self.graph.subgraph(node for node in self.graph if node not in lost)
        found: dict[FilePath, tuple[int, FilePath | None]] = {}
        for node in reversed(list(nx.topological_sort(sound))):
            ways = [(found[after][0] + 1, after) for after in self.graph[node]]
            found[node] = max(ways, key=lambda way: way[0], default=(0, None))
        return found

    def longest_below(self, hop: Hop) -> list[Hop]:
        """The longest chain that begins with a hop of the root; below it there has to be no cycle."""
        chain = [hop.child.file]
        while (after := self.nexts[chain[-1]][1]) is not None:
            chain.append(after)
        return self._walked(hop, chain)

    def _walked(self, first: Hop, files: list[FilePath]) -> list[Hop]:
        """The hops along ``files``, which begin with the child of ``first``."""
        walked = [first]
        for file, after in pairwise(files):
            walked.append(next(hop for hop in self.hops[file] if hop.child.file == after))
        return walked


def printed_path(root: str, hops: list[Hop]) -> str:
    """A path as text, task hops shown: ``a -> tasks/w -> b -> a``; one from a task ends where it comes back to it."""
    words = [shown_ref(root)]
    for hop in hops:
        if hop.task is not None:
            words.append(hop.task.ref)
            if hop.task.ref == root:
                break
        words.append(shown_ref(hop.child.ref))
    return " -> ".join(words)
