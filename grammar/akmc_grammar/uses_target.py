"""What a ``uses`` names: a canonical asset ref or the built-in command, or why it is refused."""

from __future__ import annotations

import re
from posixpath import normpath
from typing import Final

from msgspec import Struct

from akm_schemas.yaml_keys import BUILTIN
from akmc_grammar.reference_grammar import parse_asset_ref
from akmc_grammar.shape_fixes import misspelt

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
        return RefusedTarget(
            "ref-escapes-bundle", f"{shown} leaves its bundle through ..", _without_dots(text) or _INSTEAD
        )
    if ref is not None or re.fullmatch(
        r"(?:[\w.-]+//)?(?:agents|skills|env|knowledge|memories|lessons|wikis?)/[\w./-]+", text
    ):
        return RefusedTarget("non-executable-asset-ref", f"{shown} names an asset that cannot be run", _INSTEAD)
    if re.fullmatch(r"[\w.-]+/[\w.-]+(?:/[\w./-]+)?@[^\s@]+", text):
        return RefusedTarget("remote-action-unsupported", f"{shown} is a remote action; none is ever fetched", _INSTEAD)
    return RefusedTarget("unsupported-uses-target", f"{shown} is no target", _meant(text) or _INSTEAD)


def _without_dots(text: str) -> str | None:
    """The ref that a path with ``..`` comes to, where it does not climb out at all."""
    bundle, slashes, path = text.rpartition("//")
    ref = f"{bundle}{slashes}{normpath(path)}"
    found = parse_asset_ref(ref)
    return f'write "{ref}": a ref has no ".."' if found is not None and found.family in RUNNABLE else None


def _meant(text: str) -> str | None:
    """The target that a misspelt one stands for."""
    bundle, slashes, path = text.rpartition("//")
    family, slash, name = path.partition("/")
    meant = misspelt(text, (BUILTIN,))
    if meant is None and slash and (close := misspelt(family, RUNNABLE)) is not None:
        ref = parse_asset_ref(f"{bundle}{slashes}{close}/{name}")
        meant = None if ref is None else ref.text
    return None if meant is None else f'did you mean "{meant}"?'
