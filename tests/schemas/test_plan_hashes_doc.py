"""The worked example of docs/plan-hashes.md, recomputed with json and hashlib, then with our own code."""

from __future__ import annotations

import hashlib
import json
import pathlib
import re
from typing import Any

import pytest

from akm_schemas.decode import decode_plan, encode_plan
from akm_schemas.hashing import content_hash, content_preimage, plan_hash, target_hash, target_preimage

PAGE = (pathlib.Path(__file__).parents[2] / "docs" / "plan-hashes.md").read_text(encoding="utf-8")
BLOCKS = dict(re.findall(r"^```\w+ (\S+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))
NAMES = ("build", "review")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def canonical(value: object) -> bytes:
    """Canonical for the example, which is ASCII with small integers only."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii")


def line(name: str) -> bytes:
    text: str = BLOCKS[name]
    assert text.count("\n") == 1
    return text.encode("ascii").rstrip(b"\n")


def plan(name: str) -> Any:
    return json.loads(line(f"{name}.plan"))


def prefixed(kind: str, data: bytes) -> str:
    return sha256(f"akm.target.{kind}\0v1\0".encode() + data)


def test_the_page_has_every_block() -> None:
    expected = {f"{name}.{part}" for name in NAMES for part in ("md", "plan", "target", "content")}
    assert set(BLOCKS) == {*expected, "review.judge"}


@pytest.mark.parametrize("name", NAMES)
def test_source_and_plan_hashes_without_our_code(name: str) -> None:
    value = plan(name)
    assert canonical(value) == line(f"{name}.plan")
    source = BLOCKS[f"{name}.md"].encode()
    assert value["provenance"]["sourceHash"] == sha256(source)
    assert value["provenance"]["sourceReadSet"][0]["size"] == len(source)
    whole = canonical({key: part for key, part in value.items() if key != "planHash"})
    assert value["planHash"] == sha256(whole)
    assert f"`planHash`: `{sha256(whole)}` ({len(whole)} bytes)" in PAGE


@pytest.mark.parametrize("name", NAMES)
def test_target_and_content_hashes_without_our_code(name: str) -> None:
    value = plan(name)
    step = value["steps"][0]
    target = step["unit"]["target"]
    assert target["contentHash"] == prefixed(target["kind"], line(f"{name}.target"))
    hashed = json.loads(line(f"{name}.target"))
    assert hashed.pop("env") == step["unit"]["env"]
    if target["kind"] == "command":
        assert hashed.pop("prompt") == step["unit"]["instructions"]
    assert hashed == {key: part for key, part in target.items() if key not in ("kind", "contentHash", "concurrency")}

    for key in ("planHash", "contentHash", "provenance"):
        del value[key]
    del step["unit"]["instructions"]
    step["unit"]["target"] = {"kind": target["kind"], "contentHash": target["contentHash"]}
    if "gate" in step:
        judge = step["gate"]["judge"]
        assert judge["contentHash"] == prefixed("command", line(f"{name}.judge"))
        step["gate"]["judge"] = {"kind": "command", "contentHash": judge["contentHash"]}
    assert canonical(value) == line(f"{name}.content")
    assert plan(name)["contentHash"] == sha256(line(f"{name}.content"))
    assert f"of the plan: `{sha256(canonical(value))}` ({len(canonical(value))} bytes)" in PAGE


@pytest.mark.parametrize("name", NAMES)
def test_our_code_agrees(name: str) -> None:
    data = line(f"{name}.plan") + b"\n"
    assert encode_plan(decode_plan(data)) == data
    value = plan(name)
    unit = value["steps"][0]["unit"]
    preimage = target_preimage(unit["target"], env=unit["env"], instructions=unit["instructions"])
    assert canonical(preimage) == line(f"{name}.target")
    assert canonical(content_preimage(value)) == line(f"{name}.content")


def moved(name: str, path: tuple[str, ...], value: object) -> tuple[bool, bool, bool]:
    """Whether the target's hash, contentHash and planHash move when one value of the plan's step or root changes."""
    before, after = plan(name), plan(name)
    place = after if path[0] == "provenance" else after["steps"][0]
    for part in path[:-1]:
        place = place[part]
    assert place[path[-1]] != value
    place[path[-1]] = value
    unit = after["steps"][0]["unit"]
    unit["target"]["contentHash"] = target_hash(unit["target"], env=unit["env"], instructions=unit["instructions"])
    after["contentHash"] = content_hash(after)
    after["planHash"] = plan_hash(after)
    old = before["steps"][0]["unit"]["target"]["contentHash"]
    return (
        unit["target"]["contentHash"] != old,
        after["contentHash"] != before["contentHash"],
        after["planHash"] != before["planHash"],
    )


@pytest.mark.parametrize(
    ("row", "name", "path", "value"),
    [
        ("a word of `make all`", "build", ("unit", "target", "command"), ["make", "some"]),
        ("a word of the rubric", "review", ("gate", "rubric"), "- every risk names a line"),
        ("the timeout", "build", ("unit", "timeoutMs"), 1),
        ("the prose of the exec step", "build", ("unit", "instructions"), "Builds."),
        ("the prose of the llm step (its prompt)", "review", ("unit", "instructions"), "Read it."),
        ("a comment in the frontmatter", "build", ("provenance", "sourceHash"), "0" * 64),
    ],
)
def test_the_table_of_what_moves(row: str, name: str, path: tuple[str, ...], value: object) -> None:
    cells = [cell.strip() for cell in re.findall(rf"^\| {re.escape(row)} \|(.*)\|$", PAGE, re.MULTILINE)[0].split("|")]
    assert tuple(cell == "changes" for cell in cells) == moved(name, path, value)
