"""Seconds that asking a chat-completions server takes with nothing around it: httpx_loop.py KIND URL CALLS WIDTH.

One client with kept connections, as the documentation of httpx advises. KIND: as many ``tasks`` as the width on an
asynchronous client, or as many ``threads`` on the other one, which takes less for each call.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import sys
import time

import httpx

kind, url, calls, width = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
messages = [{"role": "system", "content": "s" * 600}, {"role": "user", "content": "Say something about the item."}]
body = json.dumps({"model": "stub", "messages": messages}).encode()
HEADERS = {"Content-Type": "application/json"}


async def ask(client: httpx.AsyncClient, numbers: list[int]) -> None:
    """One task of the width."""
    while numbers:
        numbers.pop()
        response = await client.post(url, content=body, headers=HEADERS)
        assert response.json()["choices"][0]["message"]["content"]


async def tasks() -> float:
    """Seconds of all calls, by tasks."""
    numbers = list(range(calls))
    async with httpx.AsyncClient(timeout=None, trust_env=False) as client:
        start = time.perf_counter()
        await asyncio.gather(*(ask(client, numbers) for _ in range(width)))
        return time.perf_counter() - start


def threads() -> float:
    """Seconds of all calls, by threads."""

    def one(_: int) -> None:
        response = client.post(url, content=body, headers=HEADERS)
        assert response.json()["choices"][0]["message"]["content"]

    limits = httpx.Limits(max_connections=width, max_keepalive_connections=width)
    pool = concurrent.futures.ThreadPoolExecutor(width)
    with httpx.Client(timeout=None, trust_env=False, limits=limits) as client, pool:
        start = time.perf_counter()
        list(pool.map(one, range(calls)))
        return time.perf_counter() - start


print(asyncio.run(tasks()) if kind == "tasks" else threads())
