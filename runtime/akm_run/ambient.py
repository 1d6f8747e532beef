"""The interpreter's own environment, from which units are given a part.

Names and values are decoded as UTF-8 whatever the locale, undecodable bytes as surrogates. Reading ``os.environ`` costs
several calls for each variable, and units begin by thousands: a driver takes one picture of it for a run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping

from akm_run.dispatch.spawn import Programs, decoded


class Ambient(Mapping[str, str]):
    """An unchanging environment. Safe to use from any thread."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = dict(variables)
        self._parts: dict[tuple[str, ...], dict[str, str]] = {}
        self._programs: dict[tuple[str, str], Programs] = {}

    @classmethod
    def now(cls) -> Ambient:
        """``os.environ`` as it is."""
        return cls({decoded(name): decoded(value) for name, value in os.environb.items()})

    def __getitem__(self, name: str) -> str:
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    def part(self, names: tuple[str, ...]) -> dict[str, str]:
        """Those of the variables ``names`` that there are, in that order; a dict of the caller's own."""
        found = self._parts.get(names)
        if found is None:
            known = self._variables
            found = self._parts[names] = {name: known[name] for name in names if name in known}
        return dict(found)

    def programs(self, run_id: str, step_id: str) -> Programs:
        """What the units of a step share of where programs were found."""
        return self._programs.setdefault((run_id, step_id), {})
