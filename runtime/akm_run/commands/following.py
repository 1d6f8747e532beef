"""What those are told who follow a run that nobody drives."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from akm_run.clock import monotonic
from akm_run.console import say
from akm_run.lease import is_driven

_PATIENCE_S = 1.0  # a driver that has just published the run takes its lease in a moment


class Undriven(Struct):
    """Says once that ``run_id`` of ``state_file`` stands still, what the follower does about it, and what to type."""

    state_file: Path
    run_id: str
    then: str  # what the follower does: "waiting", say
    since: float | None = None
    said: bool = False

    def look(self) -> bool:
        """Look whether somebody drives the run; called at every turn of a follower, while the run is active.

        Returns whether it has been said that nobody does.
        """
        if self.said:
            return True
        if is_driven(self.state_file, self.run_id):
            self.since = None
            return False
        self.since = monotonic() if self.since is None else self.since
        if monotonic() - self.since >= _PATIENCE_S:
            self.said = True
            say(f"nobody drives run {self.run_id}: {self.then}; akm-run {self.run_id} goes on with it")
        return self.said
