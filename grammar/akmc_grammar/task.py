"""The task front end: bytes of ``tasks/x.yml`` (version 4) to a ``TaskDocument``.

Order of work: strict YAML, GitHub expressions, version, checking walk, target, inputs, schedule, keys that do not go
with the target. Source: spec 1, section 4.
"""

from __future__ import annotations

from msgspec import Struct

from akm_schemas.task_keys import TASK, TASK_VERSION
from akmc_grammar.diagnostics import Sink
from akmc_grammar.expressions import refuse_expressions
from akmc_grammar.markdown import LineLocator, readable
from akmc_grammar.places import Place, Span
from akmc_grammar.shape_walk import Walk
from akmc_grammar.source import SourceText
from akmc_grammar.suppression import find_allows
from akmc_grammar.task_ir import TaskDocument, TaskIR
from akmc_grammar.task_reader import TaskReader
from akmc_grammar.yaml_places import written_path
from akmc_grammar.yaml_reader import read_yaml, yaml_comments
from akmc_grammar.yaml_tree import Mapping, Node, Scalar, YamlTree


class TaskLocator(Struct, frozen=True):
    """Places of a task: fields of the dispatch bag under the names that authors write."""

    tree: YamlTree

    def span(self, place: Place) -> Span:
        """See ``document.Locator``."""
        if place.span is None:
            path = written_path(place.path)
            place = Place(place.file, path, place.part, place.occurrence, place.offset, place.length)
        return self.tree.span(place)


def read_task(source: SourceText, *, ref: str, sink: Sink) -> TaskDocument:
    """Read a task.

    Args:
        source: the file as it was read.
        ref: its canonical ref, empty outside a bundle.
        sink: where findings go.
    """
    if not readable(source, sink) or source.text is None:
        return TaskDocument(source, ref, None, frozenset({()}), LineLocator(), ())
    faults = len(sink.found)
    root = read_yaml(source.text, file=source.name, sink=sink, first_line=1, dialect="strict")
    allows = find_allows(yaml_comments(source.text, first_line=1), ())
    if root is None and len(sink.found) > faults:
        return TaskDocument(source, ref, None, frozenset({()}), LineLocator(), allows)
    locator = TaskLocator(YamlTree(root))
    written = refuse_expressions(root or Mapping((), Span(1, 1, 1, 1)), file=source.name, sink=sink)
    walk = Walk(source.name, sink)
    task = read_root(walk, written) if version_holds(walk, written) else None
    poisoned = frozenset(walk.poisoned) if task is not None else frozenset({()})
    return TaskDocument(source, ref, task, poisoned, locator, allows)


def read_root(walk: Walk, root: Node) -> TaskIR | None:
    """The task in a document of the right version; ``None`` when its target could not be told."""
    walked = walk.value(root, TASK, ())
    if not isinstance(root, Mapping) or not isinstance(walked, dict):
        return None
    return TaskReader(walk, root, walked).read()


def version_holds(walk: Walk, root: Node) -> bool:
    """Report a task of another schema version: nothing else of it is judged."""
    version = root.get("version") if isinstance(root, Mapping) else None
    value = version.value if isinstance(version, Scalar) else None
    if not isinstance(value, int | float) or isinstance(value, bool) or value == TASK_VERSION:
        return True
    older = value in (2, 3)
    help = (
        "version 4 says inputs, env and schedule in other words; write the task anew"
        if older
        else "write version: 4, or upgrade akmc"
    )
    message = f"tasks have version {TASK_VERSION}, found {version.text if isinstance(version, Scalar) else value}"
    walk.report("task-schema-version", ("version",), message, help=help)
    return False
