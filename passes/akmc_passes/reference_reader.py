"""One reference text: its grammar, and whether what it names is declared and can be read there.

Shared by the passes ``references`` (what steps read) and ``outputs`` (what a run exports).
"""

from __future__ import annotations

from collections.abc import Iterable

from akm_schemas.references import Reference
from akmc_grammar.diagnostics import Note
from akmc_grammar.places import Path, Place
from akmc_grammar.reference_grammar import ReferenceFault, parse_reference
from akmc_grammar.suggest import did_you_mean, listed
from akmc_passes.contract import Context, Program
from akmc_passes.ir_walk import ReferenceAt
from akmc_passes.spine import Spine
from akmc_passes.words import quoted


class ReferenceReader:
    """Reads the reference texts of one document and reports those that cannot be."""

    def __init__(self, program: Program, context: Context, spine: Spine) -> None:
        self.program = program
        self.sink = context.sink
        self.spine = spine

    def read_all(self, places: Iterable[ReferenceAt]) -> dict[Path, Reference]:
        """The references at ``places`` by path; what was reported, now or by the front end, is left out."""
        read = ((at.path, self.read(at)) for at in places if not self.program.document.is_poisoned(at.path))
        return {path: reference for path, reference in read if reference is not None}

    def read(self, at: ReferenceAt) -> Reference | None:
        """The reference at a place, ``None`` when it was reported or names what could not be read."""
        parsed = parse_reference(at.text)
        if isinstance(parsed, ReferenceFault):
            place = Place(self.program.document.source.name, at.path, offset=parsed.offset)
            self.sink.report("invalid-reference", place, parsed.message, help=parsed.help)
            return None
        if parsed.root == "params":
            return parsed if self.check_param(at, parsed) else None
        return parsed if self.check_step(at, parsed) else None

    def check_param(self, at: ReferenceAt, reference: Reference) -> bool:
        """Whether a param root may stand here and names a declared param."""
        place = self.program.place(*at.path)
        if at.step is None:
            message = f"an output is what a step made, found the param reference {quoted(at.text)}"
            help = "write steps.<id>.output: the caller of a run knows its params already"
            self.sink.report("invalid-reference", place, message, help=help)
            return False
        ir = self.program.document.ir
        assert ir is not None
        if reference.name in ir.params:
            return True
        if not self.program.document.is_poisoned(("params", reference.name)):
            message = f"no param is called {quoted(reference.name)}; declared params: {listed(ir.params)}"
            help = did_you_mean(reference.name, ir.params) or f'declare it: params: {{"{reference.name}": {{...}}}}'
            self.sink.report("unknown-param-reference", place, message, help=help)
        return False

    def check_step(self, at: ReferenceAt, reference: Reference) -> bool:
        """Whether a step root names a step that is done when the reference is read."""
        producer = self.spine.index_of.get(reference.name)
        if producer is None:
            self.report_unknown(at, reference)
            return False
        ir, place = self.spine.ir, self.program.place(*at.path)
        declared = Note("declared here", self.program.place("steps", producer, "id"))
        if at.step is not None and ir.steps[at.step].id == reference.name:
            message = f"the step {quoted(reference.name)} reads its own output"
            help = "name an earlier step: a step has no output before it is done"
            self.sink.report("self-reference", place, message, help=help)
            return False
        if at.step is not None and producer > at.step:
            message = f"{quoted(reference.name)} comes later: a step reads only earlier ones"
            help = f'move "{reference.name}" before this step'
            self.sink.report("forward-reference", place, message, notes=[declared], help=help)
            return False
        if ir.steps[producer].kind == "route":
            message = f"{quoted(reference.name)} is a route step, which has no output"
            help = "refer to what the route itself reads"
            self.sink.report("invalid-reference", place, message, notes=[declared], help=help)
            return False
        self.warn_skipped(at, producer)
        return True

    def report_unknown(self, at: ReferenceAt, reference: Reference) -> None:
        """Report a step root that names nothing, unless a step without a readable id may be what it names."""
        if self.spine.has_unnamed or self.program.document.is_poisoned(("steps",)):
            return
        declared = list(self.spine.index_of)
        known = declared if at.step is None else declared[: at.step]
        message = f"no step is called {quoted(reference.name)}; declared steps: {listed(declared)}"
        help = did_you_mean(reference.name, known or declared) or "name one of the declared steps"
        self.sink.report("unknown-step-reference", self.program.place(*at.path), message, help=help)

    def warn_skipped(self, at: ReferenceAt, producer: int) -> None:
        """Warn when a run can reach the reference without having run the producer."""
        spine = self.spine
        if producer in spine.always or (at.step is not None and producer in spine.surely_run[at.step]):
            return
        routers = spine.routers_of[producer]
        name = spine.ir.steps[producer].id
        notes = [Note("this route may skip it", self.program.place("steps", router, "id")) for router in routers]
        when = "the export fails" if at.step is None else "there is no output to read"
        message = f'"{name}" can be skipped, and then {when}'
        help = "read a step that always runs, or let every branch of the route lead here"
        self.sink.report("maybe-skipped-reference", self.program.place(*at.path), message, notes=notes, help=help)
