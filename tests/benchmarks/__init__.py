"""Speed as ratios; see ``docs/benchmarks.md``."""
