"""``python -m akm_run``."""

from akm_run.cli import main

main()
