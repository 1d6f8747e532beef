"""Which endpoints are this machine (spec 2, section 3, "Engine width").

Purely syntactic: no name is looked up, so that a plan comes out the same on every machine. Numbers are read as the URL
standard reads them (``127.1`` and ``0x7f000001`` are addresses).
"""

from __future__ import annotations

import ipaddress
import re
from typing import Final
from urllib.parse import urlsplit

LOCAL_NAMES: Final = re.compile(r"(?:[^.]+\.)*localhost", re.IGNORECASE)
LOCAL_V4: Final = (ipaddress.IPv4Network("127.0.0.0/8"), ipaddress.IPv4Network("0.0.0.0/32"))
LOCAL_V6: Final = (ipaddress.IPv6Network("::1/128"), ipaddress.IPv6Network("::/128"))
MAPPED_V4: Final = (ipaddress.IPv4Network("127.0.0.0/8"),)

_NUMBER: Final = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")


def is_loopback(endpoint: str) -> bool:
    """Whether a URL's host is the loopback; a URL that cannot be parsed counts as one."""
    try:
        host = urlsplit(endpoint).hostname
    except ValueError:
        return True
    if not host:
        return True
    if ":" in host:
        return _is_loopback_v6(host)
    name = host.removesuffix(".")
    if LOCAL_NAMES.fullmatch(name):
        return True
    parts = name.split(".")
    if not _NUMBER.fullmatch(parts[-1]):
        return False
    address = _ipv4(parts)
    return address is None or any(address in network for network in LOCAL_V4)


def _is_loopback_v6(host: str) -> bool:
    try:
        address = ipaddress.IPv6Address(host.partition("%")[0])
    except ValueError:
        return True
    mapped = address.ipv4_mapped
    if mapped is not None:
        return any(mapped in network for network in MAPPED_V4)
    return any(address in network for network in LOCAL_V6)


def _ipv4(parts: list[str]) -> ipaddress.IPv4Address | None:
    """One to four numbers, decimal, octal (0...) or hexadecimal (0x...), the last one filling the rest of the address;
    ``None`` when they are no address."""
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    try:
        numbers = [_number(part) for part in parts]
    except ValueError:
        return None
    *heads, last = numbers
    if any(number > 255 for number in heads) or last >= 256 ** (5 - len(numbers)):
        return None
    return ipaddress.IPv4Address(last + sum(number << (24 - 8 * place) for place, number in enumerate(heads)))


def _number(text: str) -> int:
    if text[:2] in ("0x", "0X"):
        return int(text[2:] or "0", 16)
    return int(text, 8) if len(text) > 1 and text[0] == "0" else int(text)
