"""What the journal says that a core and its requests must know of a published run."""

from __future__ import annotations

from pathlib import Path

from akm_run.ambient import Ambient
from akm_run.core import Core, replay
from akm_run.journal import Journal
from akm_run.journal.trouble import DamagedFault
from akm_run.opening import Reusable, RunFacts
from akm_run.policy import Limits
from akm_run.requests import Surroundings
from akm_run.rows import RunRow
from akm_run.run_log import RunLog, log_file
from akm_run.transitions import IllegalTransition
from akm_schemas.plan import Plan


def facts_of(journal: Journal, run: RunRow) -> RunFacts:
    """The facts that a run was published with, and what it may take over."""
    reusable = None if run.reuses is None else Reusable(run.reuses, journal.completed_units(run.reuses))
    return RunFacts(journal.params(run.run_id), run.width, run.base_commit, reusable)


def core_of(journal: Journal, run: RunRow, plan: Plan, limits: Limits | None = None) -> Core:
    """The core of a run after everything that its journal tells; raises DamagedFault for a tale that cannot be true."""
    try:
        return replay(plan, facts_of(journal, run), journal.entries(run.run_id), limits)
    except (IllegalTransition, LookupError) as error:
        raise DamagedFault(journal.path, f"the events of run {run.run_id} contradict each other ({error})") from error


def require_agreement(journal: Journal, run_id: str, core: Core) -> None:
    """Raises DamagedFault when the events, which ``core`` has folded, lead to another status than the run's row has."""
    run = journal.run(run_id)
    if run is not None and run.status != core.status:
        what = f"run {run_id} is {run.status}, and its events lead to {core.status}"
        raise DamagedFault(journal.path, what)


def surroundings_of(journal: Journal, run: RunRow, core: Core, workspace: Path, bundle: Path) -> Surroundings:
    """What the requests of a run share."""
    log = RunLog(log_file(journal.path, run.run_id))
    return Surroundings(run.run_id, core.facts.params, workspace, bundle, run.base_commit, log, Ambient.now())
