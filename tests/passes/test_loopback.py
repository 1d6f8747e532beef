"""Which endpoints are this machine."""

from __future__ import annotations

import pytest

from akmc_passes.loopback import is_loopback


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "lmstudio.localhost",
        "a.b.localhost",
        "127.0.0.1",
        "127.0.0.2",
        "127.255.255.255",
        "127.1",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "0.0.0.0",
        "0",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::FFFF:127.9.9.9]",
    ],
)
def test_loopback(host: str) -> None:
    assert is_loopback(f"http://{host}:1234/v1/chat/completions")
    assert is_loopback(f"https://{host}/chat/completions")


@pytest.mark.parametrize(
    "host",
    [
        "example.com",
        "localhost.example.com",
        "notlocalhost",
        "host.docker.internal",
        "128.0.0.1",
        "126.255.255.255",
        "10.0.0.1",
        "0.0.0.1",
        "[::2]",
        "[::127.0.0.1]",
        "[::ffff:8.8.8.8]",
        "[::ffff:0.0.0.0]",
        "[fe80::1]",
        "127.0.0.1.example.com",
    ],
)
def test_remote(host: str) -> None:
    assert not is_loopback(f"http://{host}:1234/v1/chat/completions")


@pytest.mark.parametrize(
    "endpoint", ["", "nonsense", "http://", "http://[::1", "http://1.2.3.4.5/", "http://256.0.0.1/"]
)
def test_what_does_not_parse_counts_as_loopback(endpoint: str) -> None:
    assert is_loopback(endpoint)
