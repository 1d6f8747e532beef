"""GitHub expressions in YAML sources: each is reported where it stands, and what it stood in counts as unreadable.

Holds before: a tree as read. Holds after: the same tree without a scalar or key that holds ``${{`` (a ``Bad`` stands
for the value), so that nothing else is said about it. Source: spec 1, section 3.
"""

from __future__ import annotations

from akmc_grammar.diagnostics import Sink
from akmc_grammar.places import Place
from akmc_grammar.yaml_tree import Bad, Entry, Mapping, Node, Scalar, Sequence

OPENER = "${{"
_HELP = "write the value itself; values of other steps come in through with: {name: {from: steps.<id>.output}}"


def refuse_expressions(root: Node, *, file: str, sink: Sink) -> Node:
    """``root`` without what holds an expression; each one is reported at its place.

    A mapping with an expression among its keys cannot be read as a whole, the document itself aside.
    """
    if not isinstance(root, Mapping):
        return _readable(root, file, sink)
    kept = [Entry(entry.key, _readable(entry.value, file, sink)) for entry in root.entries]
    return Mapping(tuple(entry for entry in kept if not _is_expression(entry.key, file, sink)), root.span, root.partial)


def _readable(node: Node, file: str, sink: Sink) -> Node:
    match node:
        case Scalar():
            return Bad(node.span) if _is_expression(node, file, sink) else node
        case Sequence():
            return Sequence(tuple(_readable(item, file, sink) for item in node.items), node.span)
        case Mapping():
            entries = tuple(Entry(entry.key, _readable(entry.value, file, sink)) for entry in node.entries)
            refused = [entry for entry in entries if _is_expression(entry.key, file, sink)]
            return Bad(node.span) if refused else Mapping(entries, node.span, node.partial)
    return node


def _is_expression(scalar: Scalar, file: str, sink: Sink) -> bool:
    if OPENER not in scalar.text:
        return False
    message = "no expression is evaluated here"
    sink.report("unsupported-github-expression", Place(file, span=scalar.span), message, help=_HELP)
    return True
