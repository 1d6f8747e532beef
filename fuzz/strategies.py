"""Strategies for whole workflow sources: sound ones, and sound ones with something broken in them."""

from __future__ import annotations

import string

from hypothesis import strategies as st

STEP_IDS = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,8}", fullmatch=True)
WORDS = st.text(string.ascii_letters + string.digits + " .,:-_", min_size=1, max_size=20).map(str.strip).filter(bool)
SCHEMAS = st.sampled_from(
    [
        "{type: string}",
        "{type: integer, minimum: 0}",
        "{type: array, items: {type: string}}",
        "{type: object, properties: {a: {type: string}}}",
        "{enum: [a, b]}",
    ]
)


@st.composite
def exec_step(draw: st.DrawFn, name: str, earlier: list[str]) -> str:
    """A step of an exec unit, perhaps with inputs, a retry and a schema."""
    lines = [f"  - id: {name}", "    unit:", "      exec: {command: [printf, x]}"]
    if draw(st.booleans()):
        lines.append(f"      timeout: {draw(st.integers(1, 90))}s")
    if draw(st.booleans()):
        lines.append("      retry: {max: 1, on: [timeout]}")
    if len(earlier) > 0 and draw(st.booleans()):
        lines.append(f"    inputs: [steps.{draw(st.sampled_from(earlier))}.output]")
    return "\n".join(lines)


@st.composite
def sound_workflows(draw: st.DrawFn) -> str:
    """A Markdown workflow of exec steps that checks clean."""
    names = draw(st.lists(STEP_IDS, min_size=1, max_size=5, unique=True))
    head = ["---"]
    params = draw(st.lists(st.from_regex(r"p[a-z]{1,6}", fullmatch=True), max_size=3, unique=True))
    if params:
        head.append("params:")
        head += [f"  {name}: {draw(SCHEMAS)}" for name in params]
    head.append("steps:")
    head += [draw(exec_step(name, names[:index])) for index, name in enumerate(names)]
    body = [f"## {name}\n{draw(WORDS)}\n" for name in draw(st.permutations(names))]
    return "\n".join([*head, "---", *body])


@st.composite
def broken_workflows(draw: st.DrawFn) -> bytes:
    """A sound workflow with one cut, insertion or swap somewhere; bytes, perhaps no longer UTF-8."""
    data = draw(sound_workflows()).encode()
    at = draw(st.integers(0, len(data)))
    kind = draw(st.sampled_from(["cut", "insert", "swap"]))
    if kind == "cut":
        return data[:at] + data[at + draw(st.integers(1, 30)) :]
    piece = draw(
        st.binary(min_size=1, max_size=6) | st.sampled_from([b"\n---\n", b"&a ", b"*a", b"!t ", b"{", b"\t", b"```\n"])
    )
    if kind == "insert":
        return data[:at] + piece + data[at:]
    return data[:at] + piece + data[at + len(piece) :]


ANY_BYTES = st.binary(max_size=400) | broken_workflows()
