"""What must hold before a run dispatches anything: the plan can be performed here, and its credentials are there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import UNSET

from akm_run.dispatch import unsupported
from akm_run.dispatch.llm_credential import CredentialFault, credential_of
from akm_run.faults import ConfigFault, UsageFault
from akm_schemas.plan import AgentEngine, ChildTarget, CommandTarget, EnvRefBinding, LlmEngine, Plan, Target


def require_supported(plan: Plan) -> None:
    """Refuse a plan with units that this version cannot perform, all of them named."""
    if reasons := unsupported(plan, children=True):
        raise UsageFault(f"the plan cannot be run here: {'; '.join(reasons)}")


def require_credentials(plan: Plan, environment: Mapping[str, str] = os.environ) -> None:
    """Refuse to start while a variable that an engine takes its key from is not set, or holds no key."""
    faults: set[str] = set()
    for engine in _llm_engines(plan):
        try:
            credential_of(engine, environment)
        except CredentialFault as fault:
            faults.add(str(fault))
    if faults:
        raise ConfigFault("; ".join(sorted(faults)), "set the variable that holds the engine's API key")


def _llm_engines(plan: Plan) -> Iterator[LlmEngine]:
    for target in _targets(plan):
        if isinstance(target, ChildTarget):
            yield from _llm_engines(target.frozen_plan)
        elif isinstance(target, CommandTarget):
            if isinstance(target.engine, LlmEngine):
                yield target.engine
            elif isinstance(target.engine, AgentEngine) and target.engine.llm_engine is not UNSET:
                yield target.engine.llm_engine


def _targets(plan: Plan) -> Iterator[Target]:
    for step in plan.steps:
        if step.unit is not UNSET:
            yield step.unit.target
        if step.gate is not UNSET:
            yield step.gate.judge


def bundle_root(plan: Plan, workspace: Path, scope: Path) -> Path:
    """The directory that env files are relative to: the nearest from ``workspace`` up to ``scope`` that holds them all.

    A plan names them relative to its bundle and knows no absolute path; without one that fits it is the workspace,
    and the unit says which file is missing.
    """
    paths = [
        binding.path
        for step in plan.steps
        if step.unit is not UNSET
        for binding in step.unit.env
        if isinstance(binding, EnvRefBinding)
    ]
    for folder in (workspace, *workspace.parents):
        if paths and all((folder / path).is_file() for path in paths):
            return folder
        if folder == scope:
            break
    return workspace


def isolates(plan: Plan) -> bool:
    """Whether any unit, of a child too, runs in a worktree, so that the commit is recorded at publication."""
    units = [step.unit for step in plan.steps if step.unit is not UNSET]
    return any(
        unit.isolation == "worktree" or (isinstance(unit.target, ChildTarget) and isolates(unit.target.frozen_plan))
        for unit in units
    )
