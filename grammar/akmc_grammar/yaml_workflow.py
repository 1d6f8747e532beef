"""The YAML front end: bytes of ``workflows/x.yml`` to a ``Document``.

Order of work: strict YAML, GitHub expressions, root and triggers, the one job, its steps, source IR. Step places keep
the path of the source IR, ``("steps", 2, ...)``; the locator knows where the job keeps its steps.
"""

from __future__ import annotations

from msgspec import Struct

from akm_schemas.bounds import SCHEDULES, SOURCE_BYTES, STEPS
from akm_schemas.keys import ListOf
from akm_schemas.yaml_keys import EVENTS, RUNNER, YAML_JOB, YAML_ROOT, YAML_STEP
from akmc_grammar.cron import check_cron
from akmc_grammar.diagnostics import Sink
from akmc_grammar.document import Document
from akmc_grammar.expressions import refuse_expressions
from akmc_grammar.ir import SourceIR, Step
from akmc_grammar.markdown import LineLocator, as_list, readable
from akmc_grammar.places import Path, Place, Span
from akmc_grammar.shape_hints import ONE_JOB
from akmc_grammar.shape_walk import Walk
from akmc_grammar.source import SourceText
from akmc_grammar.suggest import listed
from akmc_grammar.suppression import find_allows
from akmc_grammar.yaml_places import written_path
from akmc_grammar.yaml_reader import read_yaml, yaml_comments
from akmc_grammar.yaml_steps import StepReader
from akmc_grammar.yaml_tree import Bad, Mapping, Node, Scalar, Sequence, YamlTree

PROGRAM_VERSIONS = ("1", "2")


class JobLocator(Struct, frozen=True):
    """Places of a YAML workflow: ``("steps", ...)`` lies in the job, dispatch fields under their YAML names."""

    tree: YamlTree
    job: str

    def span(self, place: Place) -> Span:
        """See ``document.Locator``."""
        if place.span is None and place.path[:1] == ("steps",):
            path = ("jobs", self.job, *self.field(place.path))
            place = Place(place.file, path, place.part, place.occurrence, place.offset, place.length)
        return self.tree.span(place)

    def field(self, path: Path) -> Path:
        """The path inside the job."""
        head, rest = path[:2], path[2:]
        if rest == ("instructions",):
            step = self.tree.root
            for name in ("jobs", self.job, "steps"):
                step = step.get(name) if isinstance(step, Mapping) else None
            index = path[1]
            here = step.items[index] if isinstance(step, Sequence) and isinstance(index, int) else None
            return (*head, "run" if isinstance(here, Mapping) and here.get("run") is not None else "uses")
        return (*head, *written_path(rest))


def read_yaml_workflow(source: SourceText, *, ref: str, sink: Sink) -> Document:
    """Read a GitHub-shaped YAML workflow.

    Args:
        source: the file as it was read.
        ref: its canonical ref, empty outside a bundle.
        sink: where findings go.
    """
    if not readable(source, sink) or source.text is None:
        return Document(source, ref, None, frozenset({()}), LineLocator(), ())
    root = read_yaml(source.text, file=source.name, sink=sink, first_line=1, dialect="strict")
    allows = find_allows(yaml_comments(source.text, first_line=1), ())
    if root is None and sink.has_errors:
        return Document(source, ref, None, frozenset({()}), LineLocator(), allows)
    tree = YamlTree(root)
    if report_program(root, source.name, sink):
        return Document(source, ref, None, frozenset({()}), tree, allows)
    readable_root = refuse_expressions(root or Mapping((), Span(1, 1, 1, 1)), file=source.name, sink=sink)
    reader = WorkflowReader(source, Walk(source.name, sink), readable_root, tree)
    built = reader.read()
    poisoned = frozenset(reader.walk.poisoned) if built is not None else frozenset({()})
    return Document(source, ref, built, poisoned, reader.locator, allows)


def report_program(root: Node | None, file: str, sink: Sink) -> bool:
    """Report a superseded YAML program at its version; whether ``root`` is one."""
    version = superseded(root)
    if version is None:
        return False
    message = f"this is a YAML workflow program, version {version}"
    span = YamlTree(root).span(Place(file, ("version",), "key"))
    sink.report("superseded-format", Place(file, span=span), message, help=f"akmc migrate {file}")
    return True


def report_program_file(source: SourceText, sink: Sink) -> bool:
    """Report a superseded YAML program in a file that is not read otherwise; whether it is one."""
    if source.text is None or not SOURCE_BYTES.holds(len(source.raw)):
        return False
    root = read_yaml(source.text, file=source.name, sink=Sink(), first_line=1, dialect="frontmatter")
    return report_program(root, source.name, sink)


def superseded(root: Node | None) -> str | None:
    """The version of a superseded YAML program, or ``None``. A task has a version too, but no steps."""
    version = root.get("version") if isinstance(root, Mapping) else None
    if isinstance(root, Mapping) and isinstance(version, Scalar) and root.get("steps") is not None:
        return version.text if version.text in PROGRAM_VERSIONS else None
    return None


class WorkflowReader:
    """One YAML workflow."""

    def __init__(self, source: SourceText, walk: Walk, root: Node, tree: YamlTree) -> None:
        self.source = source
        self.walk = walk
        self.root = root
        self.tree = tree
        self.locator: YamlTree | JobLocator = tree

    def read(self) -> SourceIR | None:
        """Everything that could be read; ``None`` when no job could be picked."""
        if not isinstance(self.walk.value(self.root, YAML_ROOT, ()), dict) or not isinstance(self.root, Mapping):
            return None
        schedule = self.triggers(self.root.get("on"))
        job = self.the_job(self.root.get("jobs"))
        name = self.root.get("name")
        title = name.value if isinstance(name, Scalar) and isinstance(name.value, str) else ""
        if job is None:
            return None
        steps = self.steps(*job)
        spans = {
            f"steps.{i}": as_list(self.locator.span(Place(self.walk.file, ("steps", i)))) for i in range(len(steps))
        }
        return SourceIR(source_format="github-yaml", title=title, steps=steps, schedule=schedule, spans=spans)

    # ---- on ----

    def triggers(self, on: Node | None) -> list[str]:
        """Check ``on``; the cron lines."""
        if on is None or ("on",) in self.walk.poisoned:
            return []
        if not isinstance(on, Mapping):
            help = "write on: {workflow_dispatch: {}}"
            self.walk.wrong_type(("on",), f"a mapping with {listed(EVENTS)}", on, help)
            return []
        if not on.entries:
            message = f"on names at least one of {listed(EVENTS)}, found none"
            self.walk.report("bound-exceeded", ("on",), message, help="write on: {workflow_dispatch: {}}")
        lines: list[str] = []
        for entry in on.entries:
            event, path = str(entry.key.value), ("on", str(entry.key.value))
            if isinstance(entry.value, Bad):
                self.walk.poisoned.add(path)
            elif event == "schedule":
                lines = self.schedule(entry.value)
            elif event == "workflow_dispatch":
                self.dispatch(entry.value)
            else:
                message = f'nothing here listens to "{event}"; allowed: {listed(EVENTS)}'
                help = "write on: {workflow_dispatch: {}}, and have the service's own automation start akm-run"
                self.walk.report("unsupported-service-event", path, message, key=True, help=help)
        return lines

    def dispatch(self, node: Node) -> None:
        """``workflow_dispatch`` is null or an empty mapping."""
        path = ("on", "workflow_dispatch")
        if isinstance(node, Scalar) and node.value is None:
            return
        if not isinstance(node, Mapping):
            self.walk.wrong_type(path, "nothing or an empty mapping", node)
            return
        for entry in node.entries:
            if entry.key.value == "inputs":
                help = "write the workflow in Markdown: its params are what inputs would be"
                message = "a YAML workflow takes no inputs"
                at = (*path, "inputs")
                self.walk.report("workflow-dispatch-inputs-unsupported", at, message, key=True, help=help)
            else:
                message = f'unknown key "{entry.key.value}" in workflow_dispatch; allowed: (none)'
                at = (*path, str(entry.key.value))
                self.walk.report("unknown-key", at, message, key=True, help="write workflow_dispatch: {}")

    def schedule(self, node: Node) -> list[str]:
        """A list of exactly ``{cron}`` entries."""
        path: Path = ("on", "schedule")
        if not isinstance(node, Sequence):
            self.walk.wrong_type(path, 'a list of {cron: "…"}', node)
            return []
        if not SCHEDULES.holds(len(node.items)):
            self.walk.out_of_bounds(path, len(node.items), SCHEDULES)
        lines = []
        for index, item in enumerate(node.items):
            at = (*path, index)
            if isinstance(item, Bad):
                self.walk.poisoned.add(at)
                continue
            if not isinstance(item, Mapping):
                self.walk.wrong_type(at, 'a mapping {cron: "…"}', item)
                continue
            for entry in item.entries:
                if entry.key.value != "cron":
                    message = f'unknown key "{entry.key.value}" in schedule; allowed: "cron"'
                    inside = (*at, str(entry.key.value))
                    self.walk.report("unknown-key", inside, message, key=True, help="keep the cron line alone")
            cron = item.get("cron")
            if cron is None:
                help = 'add it, such as cron: "30 6 * * 1-5"'
                self.walk.report("missing-key", at, 'schedule lacks the key "cron"', help=help)
            elif line := check_cron(self.walk, cron, (*at, "cron")):
                lines.append(line)
        return lines

    # ---- jobs ----

    def the_job(self, jobs: Node | None) -> tuple[str, Mapping] | None:
        """The one job, walked; ``None`` after a report."""
        split = "split the workflow and compose the parts with uses: workflows/<ref>"
        if jobs is None or ("jobs",) in self.walk.poisoned:
            return None
        if not isinstance(jobs, Mapping):
            self.walk.wrong_type(("jobs",), "a mapping with one job", jobs)
            return None
        names = list(dict.fromkeys(str(entry.key.value) for entry in jobs.entries))
        if len(names) != 1:
            at, key = (("jobs", names[1]), True) if names else (("jobs",), False)
            message = f"a workflow has exactly one job, found {len(names)}"
            help = split if names else f"add it, such as {ONE_JOB}"
            self.walk.report("multi-job-unsupported", at, message, key=key, help=help)
            return None
        name = names[0]
        job = jobs.get(name)
        self.locator = JobLocator(self.tree, name)
        path: Path = ("jobs", name)
        assert job is not None
        self.walk.value(job, YAML_JOB, path)
        if not isinstance(job, Mapping):
            return None
        needs, runner = job.get("needs"), job.get("runs-on")
        if needs is not None and not (isinstance(needs, Bad) or (isinstance(needs, Sequence) and not needs.items)):
            message = "there is one job, so nothing can be needed; needs stays empty"
            self.walk.report("multi-job-unsupported", (*path, "needs"), message, help=split)
        if runner is not None and not isinstance(runner, Bad) and not is_self_hosted(runner):
            message = f"the runner is always [{RUNNER}]: the machine that akm-run is started on"
            self.walk.report("unsupported-runner", (*path, "runs-on"), message, help=f"runs-on: [{RUNNER}]")
        return name, job

    def steps(self, name: str, job: Mapping) -> list[Step]:
        """The steps of the job, in order; what could not be read stays as an empty unit."""
        node = job.get("steps")
        if node is None or ("jobs", name, "steps") in self.walk.poisoned:
            self.walk.poisoned.add(("steps",))
            return []
        self.walk.value(node, ListOf(YAML_STEP, STEPS), ("steps",))
        if not isinstance(node, Sequence):
            return []
        reader = StepReader(self.walk)
        return [reader.read(index, step) for index, step in enumerate(node.items)]


def is_self_hosted(node: Node) -> bool:
    """Exactly ``[self-hosted]``."""
    return isinstance(node, Sequence) and [getattr(item, "value", None) for item in node.items] == [RUNNER]
