"""Plan files in, decoded plans out; every refusal says what to do."""

from __future__ import annotations

import errno
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from akm_run.console import read_input
from akm_run.faults import UsageFault
from akm_run.rows import RunRow
from akm_schemas.bounds import READ_BYTES
from akm_schemas.plan import Plan
from akm_schemas.plan_error import ADVICE, PlanErrorKind

_SOURCES = (".md", ".yml", ".yaml")
_CHANGED = "the state file was changed by something else: run the plan again"
_OF_A_RUN: Mapping[PlanErrorKind, str] = dict.fromkeys(ADVICE, _CHANGED) | {"version": ADVICE["version"]}


class LoadedPlan(Struct, frozen=True):
    """A decoded plan with the bytes of its file, which a run keeps."""

    data: bytes
    plan: Plan


def is_there(name: str) -> bool:
    """Whether there is anything at ``name``; raises UsageFault where that cannot be told."""
    try:
        Path(name).stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # no file has such a name
            return False
        raise UsageFault(f'cannot read the plan "{name}": {error.strerror or error}') from error
    return True


def looks_like_file(name: str) -> bool:
    """Whether a person who typed ``name`` meant a file: a run id has neither a folder nor an extension."""
    return os.sep in name or "." in name


def read_plan(name: str) -> LoadedPlan:
    """The plan in the file ``name``, ``-`` for stdin. Raises UsageFault: unreadable, too large, or no valid plan."""
    try:
        data = read_input(name, READ_BYTES.high + 1)
    except OSError as error:
        raise UsageFault(f'cannot read the plan "{name}": {error.strerror or error}') from error
    if not READ_BYTES.holds(len(data)):
        raise UsageFault(
            f'"{name}" is no plan: it is larger than {READ_BYTES.high} bytes',
            "name a file that akmc compile has written",
        )
    if _is_source(name, data):
        typed = shlex.quote(name if not name.startswith("-") else f"./{name}")
        plan = shlex.quote(f"{Path(name).stem.lstrip('-') or 'plan'}.json")
        message = f'"{name}" is a workflow source, and akm-run runs the plan that is compiled from it'
        raise UsageFault(message, f"akmc compile {typed} -o {plan}, then akm-run {plan}")
    return LoadedPlan(data, decode(data, f'"{name}"', ADVICE))


def _is_source(name: str, data: bytes) -> bool:
    """Whether a file has the extension of a source, and its text is not even the beginning of a plan's."""
    return Path(name).suffix.lower() in _SOURCES and not data.lstrip().startswith(b"{")


def decode(data: bytes, what: str, advice: Mapping[PlanErrorKind, str] = _OF_A_RUN) -> Plan:
    """The plan in ``data``, that of a run unless ``advice`` says otherwise; raises UsageFault that begins with ``what``."""
    from akm_schemas.decode import PlanError, decode_plan

    try:
        return decode_plan(data)
    except PlanError as error:
        raise UsageFault(f"{what} cannot be run: {error}", advice[error.kind]) from error


def plan_of(run: RunRow, data: bytes) -> Plan:
    """The plan in ``data``, which is that of ``run``; raises UsageFault: no plan, or not the one that was published."""
    plan = decode(data, f"run {run.run_id}")
    for name, found, expected in (
        ("planHash", plan.plan_hash, run.plan_hash),
        ("contentHash", plan.content_hash, run.content_hash),
    ):
        if found != expected:
            raise UsageFault(
                f'run {run.run_id} cannot be run: the {name} of its plan is {found}, and it was published with "{expected}"',
                _CHANGED,
            )
    return plan


def fault_of(run: RunRow, data: bytes) -> UsageFault | None:
    """Why the plan in ``data``, that of ``run``, cannot be run; ``None`` when it can."""
    try:
        plan_of(run, data)
    except UsageFault as fault:
        return fault
    return None


def require_hash(plan: Plan | RunRow, expected: str | None) -> None:
    """Refuse a plan, or the plan of a run, that has neither the contentHash nor the planHash that was expected."""
    if expected is not None and expected not in (plan.content_hash, plan.plan_hash):
        raise UsageFault(
            f'the plan is not the expected one: "{expected}" is neither its contentHash {plan.content_hash}'
            f" nor its planHash {plan.plan_hash}"
        )
