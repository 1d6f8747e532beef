"""Bundles that compose: YAML parents over Markdown children, directly and through tasks, to a few levels."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from hypothesis import strategies as st
from programs import Program, programs

ROOT: Final = Path(__file__).resolve().parents[1]
_BUNDLED: Final = (ROOT / "docs" / "examples", ROOT / "tests" / "golden" / "err", ROOT / "tests" / "golden" / "migrate")


@dataclass(frozen=True)
class Composed:
    """``files`` by path; ``root`` is the workflow to compile; ``kids`` are the programs at the leaves, by ref."""

    files: dict[str, bytes]
    root: str
    kids: dict[str, Program]


def parent(uses: list[str]) -> str:
    """A YAML workflow with one step for each of the targets."""
    steps = "".join(f"      - {{id: u{index}, uses: {json.dumps(target)}}}\n" for index, target in enumerate(uses))
    head = "name: Parent\non: {workflow_dispatch: null}\njobs:\n  main:\n    runs-on: [self-hosted]\n    steps:\n"
    return head + steps


@st.composite
def compositions(draw: st.DrawFn) -> Composed:
    """Up to three levels of YAML parents; every target exists, so that the bundle checks without errors."""
    kids = {f"workflows/kid{index}": draw(programs(most=3)) for index in range(draw(st.integers(1, 2)))}
    files = {f"{ref}.md": kid.markdown().encode() for ref, kid in kids.items()}
    known = sorted(kids)
    root = known[0]
    for level in range(draw(st.integers(1, 3))):
        targets = draw(st.lists(st.sampled_from(known), min_size=1, max_size=2))
        if draw(st.booleans()):
            task = f"tasks/t{level}"
            files[f"{task}.yml"] = f"version: 4\nuses: {targets[0]}\n".encode()
            targets[0] = task
        root = f"workflows/parent{level}"
        files[f"{root}.yml"] = parent(targets).encode()
        known = [*known, root]
    return Composed(files, f"{root}.yml", kids)


@cache
def documents() -> tuple[bytes, ...]:
    """Whole sources, sound and broken, of every format: what mutation begins with. Sorted, at most 64 KiB each.

    ``AKMC_CORPUS`` names a folder with more of them.
    """
    more = os.environ.get("AKMC_CORPUS")
    found: list[bytes] = []
    for corpus in (*((Path(more),) if more else ()), *_BUNDLED):
        if corpus.is_dir():
            paths = sorted(path for path in corpus.rglob("*") if path.suffix in (".md", ".yml", ".yaml"))
            paths = [path for path in paths if path.is_file()]
            found += [data for path in paths if len(data := path.read_bytes()) <= 65_536]
    return tuple(found)


_PIECES: Final = (
    *(
        b"\n---\n",
        b"&a ",
        b"*a",
        b"<<: *a",
        b"!!python/object:os.system x",
        b"{",
        b"[",
        b"}",
        b"\t",
        b"```\n",
        b"~~~\n",
    ),
    *(
        b"<!--",
        b"-->",
        b"## ",
        b"### gate\n",
        b"\r",
        b"\xe2\x80\xa8",
        b"\xc2\x85",
        b"\xff\xfe",
        b"\x00",
        b"\xed\xa0\x80",
    ),
    *(
        b"9" * 400,
        b"1e999",
        b".inf",
        b"${{ x }}",
        b"? ",
        b": ",
        b"- ",
        b"|\n",
        b">-\n",
        b"# akm: allow[x] y\n",
        b"\x1b[2J",
    ),
    *(
        b'"\\ud800"',
        b"'",
        b'"',
        b"%YAML 1.1\n",
        b"---\n---\n",
        b"...\n",
        b"[" * 200,
        b"- " * 200,
        b"{a: " * 80,
        b"\xef\xbb\xbf",
    ),
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A document of the corpora with up to four cuts, copies, insertions or swaps."""
    data = draw(st.sampled_from(documents()))
    for _ in range(draw(st.integers(1, 4))):
        at, length = draw(st.integers(0, len(data))), draw(st.integers(0, 60))
        change = draw(st.sampled_from(["cut", "copy", "insert", "swap", "flip"]))
        if change == "cut":
            data = data[:at] + data[at + length :]
        elif change == "copy":
            to = draw(st.integers(0, len(data)))
            data = data[:to] + data[at : at + length] + data[to:]
        elif change == "flip" and at < len(data):
            data = data[:at] + bytes([data[at] ^ (1 << draw(st.integers(0, 7)))]) + data[at + 1 :]
        else:
            piece = draw(st.sampled_from(_PIECES) | st.binary(min_size=1, max_size=4))
            data = data[:at] + piece + data[at + (len(piece) if change == "swap" else 0) :]
    return data
