"""Which front end reads which file."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from akmc.session.targets import Target
from akmc_grammar.diagnostics import Sink
from akmc_grammar.document import Document
from akmc_grammar.source import SourceText

FrontEnd: TypeAlias = Callable[[SourceText, str, Sink], Document]


class Unsupported(Exception):
    """A file that this version cannot read, although its family admits it."""


def front_end_of(target: Target) -> FrontEnd:
    """The reader for the target's family and extension; raises ``Unsupported``."""
    if target.family == "tasks":
        raise Unsupported("tasks are not supported yet by this version")
    return _markdown if target.path.suffix == ".md" else _yaml


def _markdown(source: SourceText, ref: str, sink: Sink) -> Document:
    from akmc_grammar.markdown import read_markdown

    return read_markdown(source, ref=ref, sink=sink)


def _yaml(source: SourceText, ref: str, sink: Sink) -> Document:
    from akmc_grammar.yaml_workflow import read_yaml_workflow

    return read_yaml_workflow(source, ref=ref, sink=sink)
