"""Params and run-level outputs: what callers of a plan rely on."""

from __future__ import annotations

import msgspec
from msgspec import UNSET, UnsetType

from akm_schemas.canonical import canonical_text
from akm_schemas.json_types import Json, JsonObject
from akm_schemas.plan import Output, Plan
from akm_schemas.plan_references import IMPLICIT_EXPORTS, references_of
from akm_schemas.references import Reference
from akmc.diff.inclusion import Inclusion, within
from akmc.diff.meaning import same_meaning
from akmc.diff.model import ChangeClass
from akmc.diff.narrowing import first_key
from akmc.diff.places import Within
from akmc.diff.scope import Narrowed, Scope
from akmc.diff.yields import exported

_CLIPPED = 60
_DEFAULT = Narrowed(Within(("default",)), Within(("default",)))
_FROM = Narrowed(Within(("from",)), Within(("from",)))


def shown(value: Json) -> str:
    """A JSON value for a message, clipped at 60 characters."""
    text = canonical_text(value)
    return text if len(text) <= _CLIPPED else text[: _CLIPPED - 3] + "..."


def compare_params(scope: Scope) -> None:
    """Every param of both plans, in name order."""
    old_needed, new_needed = _needed(scope.old), _needed(scope.new)
    for name in sorted({*scope.old.params, *scope.new.params}):
        old, new = scope.old.params.get(name, UNSET), scope.new.params.get(name, UNSET)
        if new is UNSET:
            scope.report(
                scope.relied_on(name), f"params.{name}", "param is gone: callers that give it are refused", old=old
            )
        elif old is UNSET:
            if name in new_needed:
                message = "new param without a default, and a reference needs it: every caller must give it"
                scope.report(scope.relied_on(name), f"params.{name}", message, new=new)
            else:
                scope.report("behaviour", f"params.{name}", "new param that callers may leave out", new=new)
        else:
            _compare_param(scope, name, old, new, now_needed=name in new_needed - old_needed)


def _needed(plan: Plan) -> set[str]:
    read = {reference.name for reference in references_of(plan) if reference.root == "params"}
    return {name for name, schema in plan.params.items() if name in read and "default" not in schema}


def _compare_param(scope: Scope, name: str, old: JsonObject, new: JsonObject, *, now_needed: bool) -> None:
    path = f"params.{name}"
    if "default" in old and "default" not in new:
        scope.report(
            scope.relied_on(name),
            path,
            f"lost its default, {shown(old['default'])}",
            old=old["default"],
            narrowed=_DEFAULT,
        )
    elif now_needed:
        message = "a reference needs it now, and it has no default: every caller must give it"
        scope.report(scope.relied_on(name), path, message)
    elif "default" in new and (
        "default" not in old or canonical_text(old["default"]) != canonical_text(new["default"])
    ):
        before = f"was {shown(old['default'])}" if "default" in old else "had none"
        default = old.get("default", UNSET)
        scope.report(
            "behaviour",
            path,
            f"default is {shown(new['default'])}, {before}",
            old=default,
            new=new["default"],
            narrowed=_DEFAULT,
        )
    report_schema(scope, path, old, new, caller="param", param=name)


def report_schema(
    scope: Scope, path: str, old: JsonObject, new: JsonObject, *, caller: str | None, param: str | None = None
) -> None:
    """Compare two schemas by meaning.

    ``caller`` is ``param`` (breaking unless all that was accepted still is), ``output`` (breaking unless nothing new
    can come out) or ``None`` for a schema between two steps, which no caller sees; ``param`` is the param's name.
    """
    if msgspec.json.encode(old) == msgspec.json.encode(new):
        return
    if same_meaning(old, new):
        if _annotations(old) != _annotations(new):
            scope.report(
                "behaviour", path, "same schema, other annotations", old=old, new=new, narrowed=first_key(old, new)
            )
        return
    if caller == "output":
        class_, message = _output_verdict(within(new, old), within(old, new))
    elif caller == "param":
        class_, message = _param_verdict(within(old, new), within(new, old))
    else:
        class_, message = "behaviour", _between_steps(old, new)
    if class_ == "breaking":
        class_ = scope.relied_on(param)
    above = ("schema",) if caller == "output" else ()
    scope.report(class_, path, message, old=old, new=new, narrowed=first_key(old, new, above))


def _annotations(schema: JsonObject) -> str:
    return canonical_text({key: value for key, value in schema.items() if key != "default"})


def _param_verdict(kept: Inclusion, back: Inclusion) -> tuple[ChangeClass, str]:
    if kept.verdict == back.verdict == "proved":
        return "behaviour", "accepts the same, written differently"
    if kept.verdict == "proved":
        return "behaviour", "accepts more than before"
    if kept.verdict == "refuted":
        message = f"accepts less: {_example(kept.witness)} was accepted and is refused now"
        more = f"; and more: {_example(back.witness)} was refused and is accepted now"
        return "breaking", message + (more if back.verdict == "refuted" else "")
    return "breaking", "compatibility not proved: it may accept less than before"


def _output_verdict(kept: Inclusion, back: Inclusion) -> tuple[ChangeClass, str]:
    if kept.verdict == back.verdict == "proved":
        return "behaviour", "yields the same, written differently"
    if kept.verdict == "proved":
        return "behaviour", "yields less than before"
    if kept.verdict == "refuted":
        message = f"may yield more: {_example(kept.witness)} could not come out before"
        less = f"; and less: {_example(back.witness)} cannot come out any more"
        return "breaking", message + (less if back.verdict == "refuted" else "")
    return "breaking", "compatibility not proved: it may yield more than before"


def _between_steps(old: JsonObject, new: JsonObject) -> str:
    narrower, wider = within(new, old).verdict, within(old, new).verdict
    if "proved" not in (narrower, wider):
        return "schema changed"
    if narrower == wider:
        return "same values, said by another schema"
    return "schema accepts less than before" if narrower == "proved" else "schema accepts more than before"


def _example(witness: Json | UnsetType) -> str:
    return "a value" if witness is UNSET else shown(witness)


def compare_outputs(scope: Scope) -> None:
    """Every export of both plans; a plan without outputs exports its run's id and status."""
    for name in sorted({*_exports(scope.old), *_exports(scope.new)}):
        path = f"outputs.{name}"
        old, new = scope.old.outputs.get(name), scope.new.outputs.get(name)
        if name not in _exports(scope.new):
            scope.report(scope.relied_on(), path, "export is gone", old=old.from_.text if old else UNSET)
        elif name not in _exports(scope.old):
            scope.report("behaviour", path, "new export", new=new.from_.text if new else UNSET)
        elif old is not None and new is not None:
            _compare_output(scope, path, old, new)
        elif old is not new:
            message = "compatibility not proved: the run's own export and a declared one differ"
            scope.report(scope.relied_on(), path, message)


def _exports(plan: Plan) -> tuple[str, ...]:
    return tuple(plan.outputs) or IMPLICIT_EXPORTS


def _compare_output(scope: Scope, path: str, old: Output, new: Output) -> None:
    before = renamed(old.from_, scope.renames)
    if before.text != new.from_.text:
        message = f'comes from "{new.from_.text}", came from "{before.text}"'
        scope.report("behaviour", path, message, old=old.from_.text, new=new.from_.text, narrowed=_FROM)
    if (old.schema is UNSET) != (new.schema is UNSET):
        message = "declares a schema now" if old.schema is UNSET else "declares no schema any more"
        scope.report("behaviour", path, message, old=old.schema, new=new.schema)
    earlier, later = exported(scope.old, old), exported(scope.new, new)
    if earlier.known and later.known:
        if old.schema is not UNSET or not same_meaning(earlier.schema, later.schema):
            report_schema(scope, path, earlier.schema, later.schema, caller="output")
    elif earlier.rest != later.rest or not same_meaning(earlier.schema, later.schema):
        scope.report(scope.relied_on(), path, "compatibility not proved: its schema cannot be followed")


def renamed(reference: Reference, renames: dict[str, str]) -> Reference:
    """``reference`` as it would read after its step was renamed."""
    if reference.root != "steps" or reference.name not in renames:
        return reference
    name = renames[reference.name]
    text = f"steps.{name}" + reference.text[len(f"steps.{reference.name}") :]
    return Reference(text=text, root="steps", name=name, path=reference.path)
