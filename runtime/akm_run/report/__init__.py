"""A run as one HTML page that people show each other. ``page`` gives it piece by piece.

``tree`` chooses the runs, ``part`` reads one, ``texts`` makes every text safe; the other modules are the sections, in
the order in which they stand. ``page.js`` lists the units, ``page.css`` holds the looks.
"""

from __future__ import annotations

from akm_run.report.page import page as page
