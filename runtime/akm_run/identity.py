"""Content-derived unit ids and input hashes (spec 3, section 2)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from msgspec import Struct

from akm_schemas.canonical import canonical_bytes
from akm_schemas.hashing import json_hash, sha256_hex
from akm_schemas.json_types import Json, JsonObject

HASH_VERSION = 1


def solo_key(step_id: str) -> str:
    """The key of a unit step's only unit."""
    return f"{step_id}:solo"


def item_keys(step_id: str, items: Sequence[bytes]) -> list[str]:
    """One key per item, given as canonical JSON, in order: its hash, with ``#2``, ``#3`` ... for repeated items."""
    seen: dict[str, int] = {}
    keys = []
    for item in items:
        digest = sha256_hex(item)[:16]
        count = seen[digest] = seen.get(digest, 0) + 1
        keys.append(f"{step_id}:{digest}" + (f"#{count}" if count > 1 else ""))
    return keys


def judge_key(step_id: str, loop: int) -> str:
    """The key of the judge call of round ``loop`` (from 1)."""
    return f"{step_id}:gate~l{loop}"


def judge_hash(target_hash: str, rubric: str, artifact: Json) -> str:
    """The input hash of a judge call: who is asked, what, and about what."""
    asked: JsonObject = {
        "hashVersion": HASH_VERSION,
        "targetContentHash": target_hash,
        "rubric": rubric,
        "artifact": json_hash(artifact),
    }
    return json_hash(asked)


def in_loop(key: str, loop: int) -> str:
    """``key`` in round ``loop``; the first round has no suffix."""
    return key if loop == 1 else f"{key}~l{loop}"


def attempt_id(key: str, attempt: int) -> str:
    """The id of attempt ``attempt`` (from 1); the first has no suffix."""
    return key if attempt == 1 else f"{key}~r{attempt - 1}"


class StepInputs(Struct, frozen=True):
    """Everything of an input hash that all units of a step share.

    ``inputs`` are reference texts with the values they resolved to, ``bindings`` names with values.
    """

    target_hash: str
    inputs: tuple[tuple[str, Json], ...]
    bindings: JsonObject
    params_hash: str
    schema: JsonObject | None
    isolation: str
    feedback: str | None


class InputHasher:
    """Input hashes of a step's units.

    The canonical text is assembled around the item, which stands between keys that every unit shares: what comes
    before it is hashed once, so that the cost of a step is linear in its items whatever its inputs weigh.
    """

    def __init__(self, shared: StepInputs) -> None:
        whole: JsonObject = {
            "hashVersion": HASH_VERSION,
            "targetContentHash": shared.target_hash,
            "inputs": [{"text": text, "sha256": json_hash(value)} for text, value in shared.inputs],
            "bindings": shared.bindings,
            "paramsHash": shared.params_hash,
        }
        if shared.schema is not None:
            whole["schema"] = shared.schema
        if shared.isolation != "none":
            whole["isolation"] = shared.isolation
        if shared.feedback is not None:
            whole["gateFeedback"] = shared.feedback
        before = canonical_bytes({key: value for key, value in whole.items() if key < "item"})
        after = canonical_bytes({key: value for key, value in whole.items() if key > "item"})
        self._before = hashlib.sha256(before[:-1] + b",")
        self._after = after[1:]

    def solo(self) -> str:
        """The input hash of a unit without an item."""
        digest = self._before.copy()
        digest.update(self._after)
        return digest.hexdigest()

    def item(self, item: bytes) -> str:
        """The input hash of a map unit, whose item is given as canonical JSON."""
        digest = self._before.copy()
        digest.update(b'"item":' + item + b"," + self._after)
        return digest.hexdigest()
