"""The span of a key of a source document, when its author wrote it."""

from __future__ import annotations

from functools import lru_cache

from akmc_grammar.diagnostics import Sink
from akmc_grammar.document import Document
from akmc_grammar.markdown import MarkdownLocator
from akmc_grammar.places import Path, Place, Span
from akmc_grammar.source import SourceText
from akmc_grammar.task import TaskLocator, read_task
from akmc_grammar.task_ir import TaskDocument
from akmc_grammar.yaml_tree import Mapping, Sequence, YamlTree
from akmc_grammar.yaml_workflow import JobLocator


def key_span(document: Document, path: Path) -> Span | None:
    """Where the key (or the list item, heading or step) at ``path`` of the source IR stands, ``None`` when nowhere."""
    locator = document.locator
    place = Place(document.source.name, path)
    if isinstance(locator, MarkdownLocator):
        if path[-1] in ("instructions", "rubric") and len(path) == 3:
            section = locator.sections.get(path[1]) if isinstance(path[1], int) else None
            there = section is not None and (path[-1] == "instructions" or section.gate is not None)
            return locator.span(place) if there else None
        return _in_tree(locator.tree, path)
    if isinstance(locator, JobLocator):
        inside = ("jobs", locator.job, *locator.field(path)) if path[0] == "steps" else path
        return _in_tree(locator.tree, inside)
    return None


def task_span(name: str, raw: bytes, path: Path) -> Span | None:
    """Where the key at ``path`` of a task stands, ``None`` when nowhere; the keys are those that authors write."""
    document = _task(name, raw)
    return _in_tree(document.locator.tree, path) if isinstance(document.locator, TaskLocator) else None


@lru_cache(maxsize=8)  # the changes of one task ask one after the other
def _task(name: str, raw: bytes) -> TaskDocument:
    return read_task(SourceText.of(name, raw), ref="", sink=Sink())


def _in_tree(tree: YamlTree, path: Path) -> Span | None:
    node = tree.root
    for part in path:
        match node:
            case Mapping() if isinstance(part, str):
                node = node.get(part)
            case Sequence() if isinstance(part, int) and part < len(node.items):
                node = node.items[part]
            case _:
                return None
    if node is None:
        return None
    return tree.span(Place("", path, "key" if isinstance(path[-1], str) else "value"))
