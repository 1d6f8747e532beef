"""Reading the JSON that agents wrap their answers in.

Programs add fields with every release, so only what is needed is looked at, and what is not there is empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from akm_run.dispatch.foreign_json import parsed
from akm_run.dispatch.platforms.contract import UnreadableOutput

Fields: TypeAlias = dict[str, object]

NETWORK: Final = (
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"),
)
"""Settings of every agent: how it reaches its endpoint is the machine's business, not the plan's."""

FOLDERS: Final = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME")


def one_object(stdout: str) -> Fields:
    """The one JSON object that stdout is; raises UnreadableOutput."""
    value = _parsed(stdout)
    if not isinstance(value, dict):
        raise UnreadableOutput("stdout is not one JSON object")
    return value


def json_lines(stdout: str) -> Iterator[Fields]:
    """The objects of stdout, one a line; lines that are none are skipped, for programs and their plug-ins print there
    too. Raises UnreadableOutput at the end when there was none."""
    found = False
    for line in stdout.split("\n"):
        if line.startswith("{"):
            try:
                value = _parsed(line)
            except UnreadableOutput:
                continue
            if isinstance(value, dict):
                found = True
                yield value
    if not found:
        raise UnreadableOutput("stdout holds no event, one JSON object a line")


def fields(value: object, *path: str) -> Fields:
    """The object at ``path`` inside ``value``; empty where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def text(value: object) -> str:
    """A string, lone surrogates replaced; anything else is empty."""
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(value, str) else ""


def total(counts: Fields, *names: str) -> int | None:
    """The sum of the named counts, ``None`` where none of them is there."""
    found = [count for name in names if isinstance(count := counts.get(name), int) and not isinstance(count, bool)]
    return sum(max(0, count) for count in found) if found else None


def added(first: int | None, second: int | None) -> int | None:
    """Counts added up, where an unreported one counts nothing."""
    return second if first is None else first + (second or 0)


def _parsed(source: str) -> object:
    try:
        return parsed(source)
    except ValueError:
        raise UnreadableOutput("stdout is not JSON") from None
    except RecursionError:
        raise UnreadableOutput("stdout is nested too deeply") from None
