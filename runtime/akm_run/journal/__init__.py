"""The journal: everything a run is, in SQLite, one transaction per decision. The only package with SQL.

WAL keeps readers from ever waiting for a driver; ``synchronous=FULL`` makes a committed decision survive the machine.
Writers are one driver per run (``lease``) and short; several runs may share a file. Results above 1 MiB are stored
content-addressed in ``blobs``. The files are private to their owner.
"""

from __future__ import annotations

from akm_run.journal.schema import SCHEMA_VERSION as SCHEMA_VERSION
from akm_run.journal.writer import Journal as Journal
