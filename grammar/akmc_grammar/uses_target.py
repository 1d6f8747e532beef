"""What a ``uses`` names: a canonical asset ref or the built-in command, or why it is refused."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from akm_schemas.yaml_keys import BUILTIN
from akmc_grammar.reference_grammar import parse_asset_ref

RUNNABLE: Final = ("commands", "scripts", "tasks", "workflows")


class RefusedTarget(Struct, frozen=True):
    """A refused ``uses``: its rule, what is wrong, what to write instead."""

    rule: str
    message: str
    help: str


_CLIMBING: Final = re.compile(r"(?:[\w.-]+//)?(?:commands|scripts|tasks|workflows)/(?:.*/)?\.\.(?:/.*)?")
_INSTEAD: Final = 'use akm/command, or an asset of this bundle: "commands/…", "scripts/…", "tasks/…" or "workflows/…"'


def refuse_target(text: str) -> RefusedTarget | None:
    """``None`` for a target that can be composed."""
    ref = parse_asset_ref(text)
    if text == BUILTIN or (ref is not None and ref.family in RUNNABLE):
        return None
    shown = f'"{text[:60]}"'
    if text.startswith("docker://"):
        return RefusedTarget(
            "docker-action-unsupported", f"{shown} is a container image; none is ever pulled", _INSTEAD
        )
    if text.startswith(("./", "../", "/", ".\\")):
        help = "put the script under scripts/ and use scripts/<name>"
        return RefusedTarget("local-action-path-unsupported", f"{shown} is a local action", help)
    if _CLIMBING.fullmatch(text):
        return RefusedTarget("ref-escapes-bundle", f"{shown} leaves its bundle through ..", _INSTEAD)
    if ref is not None or re.fullmatch(
        r"(?:[\w.-]+//)?(?:agents|skills|env|knowledge|memories|lessons|wikis?)/[\w./-]+", text
    ):
        return RefusedTarget("non-executable-asset-ref", f"{shown} names an asset that cannot be run", _INSTEAD)
    if re.fullmatch(r"[\w.-]+/[\w.-]+(?:/[\w./-]+)?@[^\s@]+", text):
        return RefusedTarget("remote-action-unsupported", f"{shown} is a remote action; none is ever fetched", _INSTEAD)
    return RefusedTarget("unsupported-uses-target", f"{shown} is no target", _INSTEAD)
