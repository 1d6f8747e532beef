"""What the journal says that a core and its requests must know of a published run."""

from __future__ import annotations

from pathlib import Path

from akm_run.core import Core
from akm_run.journal import Journal
from akm_run.opening import Reusable, RunFacts
from akm_run.requests import Surroundings
from akm_run.rows import RunRow
from akm_run.run_log import RunLog, log_file


def facts_of(journal: Journal, run: RunRow) -> RunFacts:
    """The facts that a run was published with, and what it may take over."""
    reusable = None if run.reuses is None else Reusable(run.reuses, journal.completed_units(run.reuses))
    return RunFacts(journal.params(run.run_id), run.width, run.base_commit, reusable)


def surroundings_of(journal: Journal, run: RunRow, core: Core, workspace: Path, bundle: Path) -> Surroundings:
    """What the requests of a run share."""
    log = RunLog(log_file(journal.path, run.run_id))
    return Surroundings(run.run_id, core.facts.params, workspace, bundle, run.base_commit, log)
