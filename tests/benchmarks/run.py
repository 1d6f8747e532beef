#!/usr/bin/env python3
"""Run the benchmarks: ``python tests/benchmarks/run.py --help``."""

import pathlib
import runpy
import sys

if __name__ == "__main__":
    sys.path[0] = str(pathlib.Path(__file__).resolve().parents[1])  # the folder that holds this package
    runpy.run_module("benchmarks.main", run_name="__main__")
