"""Environment bindings of two units: what a unit can see of secrets and of the interpreter's own environment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import UNSET

from akm_schemas.canonical import canonical_text
from akm_schemas.plan import Binding, EnvRefBinding, LiteralBinding, PassThroughBinding
from akmc.diff.narrowing import first_item
from akmc.diff.places import Within
from akmc.diff.scope import Narrowed, Scope
from akmc_grammar.suggest import listed

_CLIPPED: Final = 200


def compare_names(scope: Scope, path: str, old: Sequence[str], new: Sequence[str]) -> None:
    """Pass-through names; any change of them is ``security``, narrowing and reordering too."""
    if list(old) == list(new):
        return
    gained, lost = set(new) - set(old), set(old) - set(new)
    parts = [f"can also see {listed(gained)}"] if gained else []
    parts += [f"no longer sees {listed(lost)}"] if lost else []
    message = "; ".join(parts) or "same variables in another order"
    scope.report("security", path, message, old=list(old), new=list(new), narrowed=first_item(old, new))


def compare_env(scope: Scope, path: str, old: Sequence[Binding], new: Sequence[Binding]) -> None:
    """All bindings, all of them ``security``: a variable such as ``PATH`` decides what runs, whoever sets it."""
    _compare_passed(scope, path, _passed(old), _passed(new))
    _compare_refs(scope, path, _refs(old), _refs(new))
    _compare_literals(scope, path, _literals(old), _literals(new))
    if _order(old) != _order(new) and sorted(map(repr, old)) == sorted(map(repr, new)):
        scope.report("security", path, "same bindings in another order: later ones win")


def _compare_passed(scope: Scope, path: str, old: Sequence[str], new: Sequence[str]) -> None:
    """Names that are handed on and whose values are scrubbed from all that is kept; both change together."""
    if list(old) == list(new):
        return
    gained, lost = set(new) - set(old), set(old) - set(new)
    parts = [f"also hands on and scrubs {listed(gained)}"] if gained else []
    if lost:
        what = "its value is" if len(lost) == 1 else "their values are"
        parts.append(f"no longer hands on and scrubs {listed(lost)}: {what} kept where it is printed")
    message = "; ".join(parts) or "hands on and scrubs the same variables in another order"
    scope.report("security", path, message, old=list(old), new=list(new))


def _passed(bindings: Sequence[Binding]) -> list[str]:
    return [binding.name for binding in bindings if isinstance(binding, PassThroughBinding)]


def _refs(bindings: Sequence[Binding]) -> dict[str, EnvRefBinding]:
    return {binding.ref: binding for binding in bindings if isinstance(binding, EnvRefBinding)}


def _literals(bindings: Sequence[Binding]) -> dict[str, str]:
    return {binding.name: binding.value for binding in bindings if isinstance(binding, LiteralBinding)}


def _order(bindings: Sequence[Binding]) -> list[str]:
    return [repr(binding) for binding in bindings if not isinstance(binding, PassThroughBinding)]


def _compare_refs(scope: Scope, path: str, old: dict[str, EnvRefBinding], new: dict[str, EnvRefBinding]) -> None:
    for ref in sorted({*old, *new}):
        before, after = old.get(ref), new.get(ref)
        if before == after:
            continue
        if before is None:
            message = f'can also see env ref "{ref}"'
        elif after is None:
            message = f'no longer sees env ref "{ref}"'
        else:
            message = f'env ref "{ref}": {_ref_change(before, after)}'
        left, right = (UNSET if ref is None else msgspec.to_builtins(ref) for ref in (before, after))
        scope.report("security", path, message, old=left, new=right)


def _ref_change(old: EnvRefBinding, new: EnvRefBinding) -> str:
    parts = [f"path is {new.path}, was {old.path}"] if old.path != new.path else []
    for what, before, after in (("keys", old.keys, new.keys), ("secrets", old.secret_names, new.secret_names)):
        gained, lost = set(after) - set(before), set(before) - set(after)
        parts += [f"more {what}: {listed(gained)}"] if gained else []
        parts += [f"fewer {what}: {listed(lost)}"] if lost else []
    return "; ".join(parts) or "same names in another order"


def _compare_literals(scope: Scope, path: str, old: dict[str, str], new: dict[str, str]) -> None:
    for name in sorted({*old, *new}):
        before, after = old.get(name, UNSET), new.get(name, UNSET)
        if before == after:
            continue
        now = "is no longer set" if after is UNSET else f"is {_said(after)}"
        was = "was not set" if before is UNSET else f"was {_said(before)}"
        narrowed = Narrowed(Within((name,)), Within((name,)))
        scope.report("security", path, f'variable "{name}" {now}, {was}', old=before, new=after, narrowed=narrowed)


def _said(value: str) -> str:
    """A literal for a message: what is frozen is no secret."""
    text = canonical_text(value)
    return text if len(text) <= _CLIPPED else text[: _CLIPPED - 3] + "..."
