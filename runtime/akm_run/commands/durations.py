"""Durations on the command line: ``<n>`` (ms), ``<n>ms``, ``<n>s``, ``<n>m``, or ``none`` (spec 1, section 2.5)."""

from __future__ import annotations

import re

from akm_run.faults import UsageFault
from akm_schemas.bounds import TIMEOUT_MS

_FACTORS = {"": 1, "ms": 1, "s": 1000, "m": 60_000}


_AGES = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def age_seconds(text: str, option: str) -> float:
    """An age such as ``30d`` in seconds (``s``, ``m``, ``h``, ``d``, ``w``); raises UsageFault naming ``option``."""
    match = re.fullmatch(r"([0-9]{1,9})([smhdw])", text, re.ASCII)
    if match is None:
        raise UsageFault(f'{option}: "{text}" is no age', "write <n>s, <n>m, <n>h, <n>d or <n>w, for example 30d")
    return float(int(match[1]) * _AGES[match[2]])


def seconds(text: str, option: str) -> float | None:
    """``text`` in seconds, ``None`` for ``none``; raises UsageFault naming ``option``."""
    if text == "none":
        return None
    match = re.fullmatch(r"([0-9]{1,10})(ms|s|m|)", text, re.ASCII)
    millis = int(match[1]) * _FACTORS[match[2]] if match else 0
    if not TIMEOUT_MS.holds(millis):
        raise UsageFault(
            f'{option}: "{text}" is no duration of {TIMEOUT_MS.says()}', "write <n>ms, <n>s or <n>m, for example 30s"
        )
    return millis / 1000
