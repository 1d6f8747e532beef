"""The new document against the checks of its format: front end and passes, as ``akmc check`` runs them.

Bundle and config stay out of it: what they add (is there such an env file, such an engine) is said by ``akmc check``
where the document lies, and differs from machine to machine.
"""

from __future__ import annotations

from dataclasses import dataclass

from akmc.render.finding import Finding
from akmc.session.resolving import Resolver, in_order
from akmc.session.store import FileStore
from akmc_grammar.diagnostics import Diagnostic, Sink
from akmc_grammar.document import Document
from akmc_grammar.markdown import read_markdown
from akmc_grammar.source import SourceText
from akmc_passes.contract import Context, Program
from akmc_passes.pipeline import run_pipeline


@dataclass(frozen=True)
class CheckedText:
    """The errors of a new document, with what shows them."""

    source: SourceText
    document: Document
    errors: tuple[Diagnostic, ...]

    def findings(self) -> tuple[Finding, ...]:
        """The errors with their places in the new document, in order."""
        name = self.source.name
        resolver = Resolver({name: self.document}, {name: self.source})
        return in_order(resolver.finding(error) for error in self.errors)


def check_text(text: str, name: str) -> CheckedText:
    """Check ``text`` as the workflow ``name``. Raises ``RuntimeError`` when a pass has a bug."""
    source, sink = SourceText.of(name, text.encode("utf-8", "surrogatepass")), Sink()
    document = read_markdown(source, ref="", sink=sink)
    if document.ir is not None:
        context = Context(sink=sink, store=FileStore(), bundle=None)
        run_pipeline(Program(document), context)
        if context.crashes:
            raise RuntimeError(f"{context.crashes[0].name}: {context.crashes[0].summary}")
    return CheckedText(source, document, tuple(item for item in sink.found if item.severity == "error"))
