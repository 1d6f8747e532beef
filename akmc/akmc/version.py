"""The distribution's version."""

from __future__ import annotations

UNKNOWN = "0+unknown"


def version() -> str:
    """The installed version, ``0+unknown`` in a checkout that was never installed."""
    from importlib import metadata

    try:
        return metadata.version("akmc")
    except metadata.PackageNotFoundError:
        return UNKNOWN
