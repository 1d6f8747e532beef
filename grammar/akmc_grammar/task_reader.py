"""A walked task document to a ``TaskIR``: its target, and the keys that go with that target."""

from __future__ import annotations

from typing import Any, Final

from msgspec import UNSET

from akm_schemas.json_types import JsonObject
from akm_schemas.yaml_keys import BUILTIN
from akmc_grammar.frontmatter_rules import check_llm
from akmc_grammar.ir import Exec, Unit, Uses
from akmc_grammar.places import Path
from akmc_grammar.reference_grammar import parse_asset_ref
from akmc_grammar.shape_hints import quoted
from akmc_grammar.shape_walk import Walk
from akmc_grammar.task_inputs import read_inputs, read_schedule
from akmc_grammar.task_ir import TaskIR, TaskKind
from akmc_grammar.uses_target import refuse_target
from akmc_grammar.yaml_steps import StepReader, text_of
from akmc_grammar.yaml_tree import Mapping

RULE: Final = "task-invalid"
_FAMILY_KINDS: Final[dict[str, TaskKind]] = {"commands": "command", "scripts": "script", "workflows": "workflow"}
_TARGETS: Final[dict[TaskKind, str]] = {
    "run": "runs a command line",
    "prompt": "asks an engine",
    "command": "asks an engine",
    "script": "runs a script",
    "workflow": "composes a workflow",
}
_RUN: Final = frozenset({"run"})
_ASKS: Final = frozenset({"prompt", "command"})
_PROCESS: Final = frozenset({"run", "script"})

# Which targets a key goes with; keys that are not here go with all.
_GOES_WITH: Final[dict[str, tuple[frozenset[str], str]]] = {
    "shell": (_RUN, '"run"'),
    "working-directory": (_RUN, '"run"'),
    "with": (frozenset({"prompt"}), f"uses: {BUILTIN}"),
    "output": (_ASKS, f"uses: {BUILTIN} and commands"),
    "engine": (_ASKS, f"uses: {BUILTIN} and commands"),
    "model": (_ASKS, f"uses: {BUILTIN} and commands"),
    "inference": (_ASKS, f"uses: {BUILTIN} and commands"),
    "agent": (_ASKS, f"uses: {BUILTIN} and commands"),
    "tools": (_ASKS, f"uses: {BUILTIN} and commands"),
    "env": (_ASKS | _PROCESS, "commands, scripts and command lines"),
    "redact": (_ASKS | _PROCESS, "commands, scripts and command lines"),
}


class TaskReader:
    """One task: ``root`` is its mapping, ``walked`` the values of the right shape in it."""

    def __init__(self, walk: Walk, root: Mapping, walked: JsonObject) -> None:
        self.walk = walk
        self.root = root
        self.walked: dict[str, Any] = walked  # the walk vouches for the types
        self.steps = StepReader(walk)

    def read(self) -> TaskIR | None:
        """The task; ``None`` after a report about its target."""
        kind = self.kind()
        inputs = read_inputs(self.walk, self.root.get("inputs"))
        schedule = read_schedule(self.walk, self.root.get("schedule"))
        if kind is None:
            return None
        self.check_company(kind)
        check_llm(self.walk, self.root.get("inference"), ("inference",))
        return TaskIR(
            kind=kind,
            unit=self.unit(kind),
            inputs=inputs,
            schedule=schedule,
            tools=self.texts("tools"),
            redact=self.texts("redact"),
            agent=self.walked.get("agent", UNSET),
            max_steps=self.walked.get("maxSteps", UNSET),
            max_retries=self.walked.get("maxRetries", UNSET),
        )

    def texts(self, key: str) -> list[str]:
        """A list of texts; what could not be read in it was reported."""
        return [text for text in self.walked.get(key, ()) if isinstance(text, str)]

    # ---- target ----

    def kind(self) -> TaskKind | None:
        """What the target is; ``None`` after a report."""
        run, uses = self.root.get("run"), self.root.get("uses")
        if (run is None) == (uses is None):
            found = "both" if run is not None else "neither"
            self.walk.report(RULE, (), f'a task has exactly one of "run" and "uses", found {found}', help="keep one")
            return None
        if run is not None:
            return "run"
        target = text_of(uses)
        if target is None or ("uses",) in self.walk.poisoned:
            return None
        return self.kind_of_target(target)

    def kind_of_target(self, target: str) -> TaskKind | None:
        """What a ``uses`` names."""
        if target == BUILTIN:
            return "prompt"
        refused, ref = refuse_target(target), parse_asset_ref(target)
        if refused is not None and refused.rule != "non-executable-asset-ref":
            self.walk.report(refused.rule, ("uses",), refused.message, help=refused.help)
            return None
        if ref is None or ref.family not in _FAMILY_KINDS:
            nested = ref is not None and ref.family == "tasks"
            message = f"{quoted(target)} is a task, and tasks do not nest" if nested else None
            message = message or (refused.message if refused else f"{quoted(target)} is no target of a task")
            help = "use akm/command, commands/…, scripts/… or workflows/…"
            self.walk.report(RULE, ("uses",), message, help=help)
            return None
        return _FAMILY_KINDS[ref.family]

    def check_company(self, kind: TaskKind) -> None:
        """Report keys that do not go with the target."""
        for key, (kinds, company) in _GOES_WITH.items():
            if kind not in kinds and self.root.get(key) is not None:
                message = f'"{key}" goes with {company}, and this task {_TARGETS[kind]}'
                self.walk.report(RULE, (key,), message, key=True, help=f'drop "{key}"')

    def unit(self, kind: TaskKind) -> Unit:
        """The dispatch bag."""
        goes = {key: kind in kinds for key, (kinds, _) in _GOES_WITH.items()}
        path: Path = ()
        env = self.steps.environment(self.root.get("env"), path) if goes["env"] else UNSET
        run: Exec | None = None
        uses: Uses | None = None
        if kind == "run":
            run = self.exec()
        else:
            node = self.root.get("with") if goes["with"] else None
            uses = Uses(ref=str(self.walked["uses"]), with_=self.steps.bindings(node, path))
            if kind == "prompt":
                self.steps.builtin(node, path)
        return Unit(
            exec=UNSET if run is None else run,
            uses=UNSET if uses is None else uses,
            engine=self.walked.get("engine", UNSET) if goes["engine"] else UNSET,
            model=self.walked.get("model", UNSET) if goes["model"] else UNSET,
            llm=self.walked.get("inference", UNSET) if goes["inference"] else UNSET,
            timeout=self.walked.get("timeout", UNSET),
            output=self.walked.get("output", UNSET) if goes["output"] else UNSET,
            env_literals=env,
        )

    def exec(self) -> Exec | None:
        """The command line of a ``run``; ``None`` after a report."""
        run = self.root.get("run")
        where = self.steps.directory(self.root.get("working-directory"), ())
        words = None if run is None else self.steps.command(run, self.root.get("shell"), ())
        if words is None:
            self.walk.poisoned.add(("unit", "exec"))
            return None
        return Exec(command=words, cwd=where)
