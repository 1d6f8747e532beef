"""One way to a plan, for every command that takes a plan or a source."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from akm_schemas.bounds import KIB, READ_BYTES
from akm_schemas.plan import Plan
from akm_schemas.plan_error import ADVICE
from akmc.console import read_stdin
from akmc.faults import CONFIG, INTERNAL, OK, USAGE, CommandFault
from akmc.render.finding import Finding
from akmc.session.resolving import in_order
from akmc.session.session import Analysis, Session
from akmc.session.store import FileStore
from akmc.session.targets import Collector, Target, bundle_option
from akmc_passes.contract import PassCrash

if TYPE_CHECKING:
    from akmc.session.ahead import Ahead
    from akmc_passes.pipeline import Timing

SOURCE_SUFFIXES = (".md", ".yml", ".yaml")
STDIN = "-"
# Errors that no edit of the source mends: the config lacks something (spec 2, section 3; spec 1, section 2.5).
CONFIG_RULES = frozenset(
    {"no-engine", "no-judge-engine", "unknown-config-engine", "model-alias-gap", "config-too-large"}
)
CONSEQUENCE = "composition-invalid"
_LARGE_PLAN: Final = 128 * KIB  # takes longer to read than a helper takes to start


class PlanResult(Struct, frozen=True):
    """A plan, or why there is none.

    ``findings`` are those of a source, warnings included; a plan file has none. ``analysis`` is there for a source.
    """

    plan: Plan | None
    findings: tuple[Finding, ...] = ()
    crashes: tuple[PassCrash, ...] = ()
    analysis: Analysis | None = None

    @property
    def status(self) -> int:
        """Exit status of a command that needs the plan: 0, 2 (source), 78 (config) or 70 (a bug of ours)."""
        if self.crashes:
            return INTERNAL
        errors = [finding.rule.name for finding in self.findings if finding.rule.severity == "error"]
        if not errors:
            return OK if self.plan is not None else USAGE
        # A step that cannot compose a child is a consequence: the child's own errors say whose fault it is.
        causes = [name for name in errors if name != CONSEQUENCE] or errors
        return CONFIG if all(name in CONFIG_RULES for name in causes) else USAGE


def plan_of(
    spec: str, *, config: Path | None = None, bundle: Path | None = None, ahead: Ahead | None = None
) -> PlanResult:
    """The plan that ``spec`` names: a plan file (``-``: standard input), or a source, which is compiled.

    ``ahead`` is a helper that ``intact_ahead`` has sent to look at the plan file already.

    Raises:
        CommandFault: 2 for a path that makes no sense or a file that is no intact plan, 78 for a faulty config.
    """
    if is_source(spec):
        return compile_source(spec, config=config, bundle=bundle)
    return PlanResult(read_plan(spec, ahead=ahead))


def is_source(spec: str) -> bool:
    """Whether ``spec`` names a source (by its extension) rather than a plan."""
    return spec != STDIN and Path(spec).suffix.lower() in SOURCE_SUFFIXES


def plan_bytes(spec: str) -> bytes:
    """The bytes of a plan file, or of standard input for ``-``; a pipe such as a shell's ``<(...)`` is read too."""
    if spec == STDIN:
        return read_stdin()
    try:
        with Path(spec).open("rb") as file:
            data = file.read(READ_BYTES.high + 1)
    except FileNotFoundError as error:
        from akmc.session.targets import not_there

        raise CommandFault(
            not_there(spec, "file"), help="name a workflow, or a plan that akmc compile wrote"
        ) from error
    except OSError as error:
        raise CommandFault(f'cannot read "{spec}": {error.strerror or error}') from error
    if not READ_BYTES.holds(len(data)):
        raise CommandFault(f'cannot read "{spec}": it is longer than {READ_BYTES.high} bytes', help="is it a plan?")
    return data


def intact_ahead(spec: str) -> Ahead | None:
    """A helper that reads the plan file ``spec`` meanwhile and says whether it is intact, where that is worth a process."""
    from akm_schemas.decode import is_intact
    from akmc.session.ahead import beside

    def verdict(_: int) -> bytes | None:
        data = plan_bytes(spec)
        return sha256(data).digest() if is_intact(data) else None

    try:
        large = Path(spec).stat().st_size >= _LARGE_PLAN
    except OSError:
        return None
    return beside(verdict) if large else None


def read_plan(spec: str, *, status: int = USAGE, ahead: Ahead | None = None) -> Plan:
    """Decode a plan file; a broken one is a fault with exit ``status`` that names the part."""
    from akm_schemas.decode import PlanError, decode_intact, decode_plan

    try:
        data = plan_bytes(spec)
        if ahead is not None and ahead.clean.get(0) == sha256(data).digest():
            return decode_intact(data)
        return decode_plan(data)
    except PlanError as error:
        if error.kind == "malformed" and is_source(spec):
            help = f"akmc check {shlex.quote(spec)} checks it, akmc compile {shlex.quote(spec)} -o PLAN writes its plan"
            raise CommandFault(f'"{spec}" is a source, expected a plan', status=status, help=help) from error
        where = f"{error.path}: " if error.path else ""
        raise CommandFault(f'"{spec}": {where}{error.message}', status=status, help=ADVICE[error.kind]) from error


def compile_source(
    spec: str,
    *,
    config: Path | None = None,
    bundle: Path | None = None,
    stdin_name: str | None = None,
    form: Literal["source-ir", "resolved", "plan"] = "plan",
    stop_after: str | None = None,
    timings: list[Timing] | None = None,
) -> PlanResult:
    """Freeze the source at ``spec`` (``-`` with ``stdin_name``: standard input under that name).

    ``form`` is how far to go: ``source-ir`` runs the front end alone and ``resolved`` leaves engines open, so that
    both work without a config.
    Nothing is published here: ``changed_sources`` says at the last moment whether what was read still stands.
    """
    session = Session(FileStore(), config_file=config, freeze=form == "plan")
    target = _target(spec, session, bundle, stdin_name)
    if target.family != "workflows":
        noun = target.family.removesuffix("s")
        help = f"name the workflow that composes it with uses: {target.ref}, or check it with akmc check"
        raise CommandFault(f'"{spec}" is a {noun}, and a {noun} is no workflow', help=help)
    front_end_only = form == "source-ir"
    analysis = session.analyse(target, front_end_only=front_end_only, stop_after=stop_after, timings=timings)
    if form != "source-ir" and (errors := session.config_errors()):
        raise CommandFault("; ".join(errors), status=CONFIG, help="mend the config, or name another with --config")
    findings = in_order(session.resolve(analysis))
    failed = any(finding.rule.severity == "error" for finding in findings)
    program = analysis.program
    plan = None if failed or program is None or analysis.context.crashes else program.plan
    return PlanResult(plan, findings, tuple(analysis.context.crashes), analysis)


def _target(spec: str, session: Session, bundle: Path | None, stdin_name: str | None) -> Target:
    collector = Collector(session.store, bundle_option(bundle), ("workflows",))
    if spec == STDIN:
        name = stdin_name or "workflows/stdin.md"
        session.store.put(Path(name), read_stdin())
        target = collector.text(name)
        targets: Sequence[Target] = () if target is None else (target,)
        problems = tuple(collector.problems)
    else:
        if spec and Path(spec).is_dir():
            raise CommandFault(f'"{spec}" is a directory', help="name one workflow")
        found = collector.collect([spec])
        targets, problems = found.targets, found.problems
    if problems:
        raise CommandFault(problems[0].message)
    if not targets:
        raise CommandFault(f'"{spec}" is no workflow')
    return targets[0]


def changed_sources(analysis: Analysis) -> tuple[str, ...]:
    """Files of the read set that no longer hold what was read, as shown, sorted."""
    store = analysis.context.store
    assert isinstance(store, FileStore)
    return store.changed()
