"""A thousand llm units against a local server, beside a loop that does nothing but ask it."""

from __future__ import annotations

import contextlib
import json
import pathlib
import subprocess
from collections.abc import Callable, Iterator
from importlib.util import find_spec

from .harness import Figure, Missing, Row, Scale, at_most, program, script, spend

CALLS = 1000
WIDTH = 64
OF_A_BARE_LOOP = 0.6  # at least this share of its calls per second


@contextlib.contextmanager
def _stub() -> Iterator[str]:
    """The URL of a chat-completions server in a process of its own."""
    process = subprocess.Popen(script("chat_stub.py"), stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _prepared(scratch: pathlib.Path, url: str, calls: int) -> None:
    (scratch / "workflows").mkdir(exist_ok=True)
    (scratch / "workflows" / "m.md").write_text(
        "---\nparams: {rows: {type: array}}\nsteps:\n  - id: m\n    map:\n      over: params.rows\n"
        f"      concurrency: {WIDTH}\n---\n## m\nSay something about the item.\n"
    )
    engine = {"kind": "llm", "endpoint": url, "model": "stub", "concurrency": WIDTH}
    config = {"engines": {"a": engine}, "defaults": {"engine": "a"}, "workflow": {"maxConcurrency": WIDTH}}
    (scratch / "llm.json").write_text(json.dumps(config))
    spend([*program("akmc"), "compile", "--config", "llm.json", "workflows/m.md", "-o", "plan.json"], scratch)
    for count in (1, calls):
        (scratch / f"p{count}.json").write_text(json.dumps({"rows": list(range(count))}))


def _run(scratch: pathlib.Path, calls: int, name: str) -> float:
    words = [*program("akm-run"), "plan.json", "--params-file", f"p{calls}.json", "--host-concurrency", str(WIDTH)]
    return spend([*words, "--db", f"{name}.db"], scratch).wall


def _against(kind: str) -> Callable[[pathlib.Path, Scale], Figure]:
    """Seconds of one call, the program's start left out on both sides. ``kind`` of loop: ``tasks`` or ``threads``."""

    def row(scratch: pathlib.Path, scale: Scale) -> Figure:
        if find_spec("httpx") is None:
            raise Missing("httpx is not installed")
        calls = scale.of(CALLS, 200)
        pairs = []
        with _stub() as url:
            _prepared(scratch, url, calls)
            for turn in range(min(scale.rounds, 3)):
                ours = (_run(scratch, calls, f"many{turn}") - _run(scratch, 1, f"one{turn}")) / (calls - 1)
                loop = spend(script("httpx_loop.py", kind, url, str(calls), str(WIDTH)), scratch, keep=True).out
                pairs.append((max(ours, 1e-9), float(loop) / calls))
        return Figure(min(pair[0] for pair in pairs), min(pair[1] for pair in pairs))

    return row


GOAL = at_most(1 / OF_A_BARE_LOOP)
ROWS = (
    Row("llm call to a local server, width 64 / bare httpx loop of tasks", GOAL, _against("tasks")),
    Row("llm call to a local server, width 64 / bare httpx loop of threads", GOAL, _against("threads")),
)
