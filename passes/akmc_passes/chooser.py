"""The runners of one document; see ``engines``, which imports this when there is a config to choose from."""

from __future__ import annotations

from msgspec import UNSET

from akm_schemas.plan_engines import AGENT_OPTIONS
from akmc_grammar.diagnostics import Note
from akmc_grammar.ir import SourceIR, Step
from akmc_grammar.places import Path
from akmc_grammar.suggest import did_you_mean, listed
from akmc_passes.config import Config
from akmc_passes.contract import Choice, Composed, ComposedCommand, Context, Program
from akmc_passes.engine_config import AgentEngineConfig, EngineConfig, LlmEngineConfig
from akmc_passes.ir_walk import marred, unit_of, unit_path
from akmc_passes.models import AliasGap, resolve_model
from akmc_passes.runner import freeze_engine, llm_fallback, width_of
from akmc_passes.tuning import merged_tuning
from akmc_passes.words import quoted


class Chooser:
    """The choices of one document."""

    def __init__(self, program: Program, context: Context, ir: SourceIR) -> None:
        self.program = program
        self.sink = context.sink
        self.ir = ir
        self.config = context.config or Config()
        self.agents: list[tuple[int, str]] = []
        self.reported: set[Path] = set()

    def report(self, rule: str, path: Path, message: str, help: str, notes: list[Note] | None = None) -> None:
        """Report at ``path``, a document-level fault once however many steps share it."""
        if path[0] != "steps" and path in self.reported:
            return
        self.reported.add(path)
        self.sink.report(rule, self.program.place(*path), message, help=help, notes=notes or ())

    # ---- one unit ----

    def choose(self, step: Step, index: int) -> Choice | None:
        """The runner of a step's unit; ``None`` when it needs none, or when it was reported."""
        document, unit, path = self.program.document, unit_of(step), unit_path(step, index)
        composed = self.program.composed.get(("steps", index))
        if step.kind == "route" or unit.exec is not UNSET or marred(document, (*path, "exec")):
            return None
        if document.is_poisoned((*path, "uses")):  # no engine may be asked for what was to be composed
            return None
        if unit.uses is not UNSET and (composed is None or not isinstance(composed.target, ComposedCommand)):
            return None
        engine = self.engine_of(step, index, composed)
        if engine is None:
            return None
        self.check_cargo(index, engine, composed)
        model = self.model_of(index, engine, composed)
        layers = (unit.llm, composed.llm if composed is not None else None, self.ir.defaults.llm)
        authored = [layer for layer in layers if isinstance(layer, dict)]
        return Choice(
            engine=freeze_engine(engine, self.config),
            model=model,
            llm=merged_tuning(*authored, engine.tuning) if isinstance(engine, LlmEngineConfig) else None,
            concurrency=width_of(engine, self.config),
            timeout_ms=engine.timeout_ms,
        )

    def engine_of(self, step: Step, index: int, composed: Composed | None) -> EngineConfig | None:
        """The engine by rank: the unit's, the composed task's, the document's, the config's."""
        unit, path = unit_of(step), unit_path(step, index)
        if self.program.document.is_poisoned((*path, "engine")):
            return None
        if isinstance(unit.engine, str):
            return self.find(unit.engine, (*path, "engine"), index)
        if composed is not None and composed.engine is not None:
            return self.find(composed.engine, (*path, "uses"), index)
        if self.program.document.is_poisoned(("defaults", "engine")):
            return None
        if isinstance(self.ir.defaults.engine, str):
            return self.find(self.ir.defaults.engine, ("defaults", "engine"), index)
        if self.config.default_engine is not None:
            return self.find(self.config.default_engine, ("steps", index, "id"), index, "defaults.engine of the config")
        name = step.id if isinstance(step.id, str) else f"number {index + 1}"
        message = f'the step "{name}" has no engine; configured: {listed(self.config.engines)}'
        help = 'name one in "unit.engine", in "defaults.engine" of the workflow, or in "defaults.engine" of the config'
        self.report("no-engine", ("steps", index, "id"), message, help)
        return None

    def find(self, name: str, path: Path, index: int, source: str | None = None) -> EngineConfig | None:
        """The configured engine called ``name``."""
        engine = self.config.engines.get(name)
        if engine is None:
            said = f"{source} names an engine that is" if source is not None else "the engine is"
            message = f"{said} not configured: {quoted(name)}; configured: {listed(self.config.engines)}"
            help = did_you_mean(name, self.config.engines) or f'add "engines": {{"{name}": {{...}}}} to the config'
            self.report("unknown-engine" if source is None else "unknown-config-engine", path, message, help)
            return None
        if isinstance(engine, AgentEngineConfig) and not self.has_fallback(engine, path):
            return None
        if isinstance(engine, AgentEngineConfig):
            self.agents.append((index, name))
        return engine

    def has_fallback(self, engine: AgentEngineConfig, path: Path) -> bool:
        """Whether the ``llmEngine`` that an engine names is there."""
        if engine.llm_engine is None or llm_fallback(engine, self.config) is not None:
            return True
        names = [name for name, other in self.config.engines.items() if isinstance(other, LlmEngineConfig)]
        message = f'"llmEngine" of the engine "{engine.name}" names no llm engine: {quoted(engine.llm_engine)}'
        help = did_you_mean(engine.llm_engine, names) or f"configured llm engines: {listed(names)}"
        self.report("unknown-config-engine", path, message, help)
        return False

    def model_of(self, index: int, engine: EngineConfig, composed: Composed | None) -> str | None:
        """The exact model by rank: the unit's, the composed task's, the document's, the command's, the engine's."""
        step = self.ir.steps[index]
        path = unit_path(step, index)
        command = composed.target if composed is not None else None
        ranks: list[tuple[object, Path]] = [
            (unit_of(step).model, (*path, "model")),
            (composed.model if composed is not None else None, (*path, "uses")),
            (self.ir.defaults.model, ("defaults", "model")),
            (command.model if isinstance(command, ComposedCommand) else None, (*path, "uses")),
            (engine.model, ("steps", index, "id")),
        ]
        for name, at in ranks:
            if isinstance(name, str):
                return self.exact(name, engine, at)
        return None

    def exact(self, name: str, engine: EngineConfig, path: Path) -> str | None:
        """The exact model behind a name."""
        model = resolve_model(name, engine, self.config.engines, self.config.aliases)
        if isinstance(model, AliasGap):
            self.report("model-alias-gap", path, model.message, model.help)
            return None
        return model

    def check_cargo(self, index: int, engine: EngineConfig, composed: Composed | None) -> None:
        """Report llm tuning on an agent engine and env on an llm engine."""
        step = self.ir.steps[index]
        unit, path = unit_of(step), unit_path(step, index)
        self.check_options(index, engine, composed)
        if isinstance(engine, AgentEngineConfig):
            own = bool(isinstance(unit.llm, dict) and unit.llm)
            if own or (composed is not None and composed.llm):
                message = f'llm tuning goes only to llm engines, and "{engine.name}" is an agent engine'
                help = 'remove "llm", or name an llm engine'
                self.report("llm-on-agent-engine", (*path, "llm" if own else "uses"), message, help)
            return
        literals = bool(unit.env_literals or (composed is not None and (composed.env_literals or composed.redact)))
        if unit.env_refs or literals:
            message = f'env cannot reach an llm engine, and "{engine.name}" is one'
            help = 'remove "env", or name an agent engine'
            self.report(
                "env-on-llm-engine", (*path, "env" if unit.env_refs or unit.env_literals else "uses"), message, help
            )

    def check_options(self, index: int, engine: EngineConfig, composed: Composed | None) -> None:
        """Report what a task or a command asks of an agent engine where the engine does not take it."""
        command = composed.target if composed is not None else None
        asked = (command.options or {}) if isinstance(command, ComposedCommand) else {}
        platform = engine.platform if isinstance(engine, AgentEngineConfig) else "llm"
        for option in sorted(asked):
            takers = sorted(name for name, taken in AGENT_OPTIONS.items() if option in taken)
            if platform not in takers:
                uses = unit_of(self.ir.steps[index]).uses
                ref = uses.ref if uses is not UNSET else ""
                message = f'Workflow step cannot compose {ref}: "{option}" goes to agent engines that take it'
                message += f' ({listed(takers)}), and "{engine.name}" is of {quoted(platform)}'
                help = f'drop "{option}", or name another engine'
                self.report("composition-invalid", ("steps", index, "unit", "uses"), message, help)

    def report_default_llm(self) -> None:
        """Report document-level llm tuning beside steps on agent engines, naming them."""
        llm = self.ir.defaults.llm
        if not isinstance(llm, dict) or not llm or not self.agents:
            return
        steps = [f'"{self.ir.steps[index].id}" on "{name}"' for index, name in self.agents]
        message = f"defaults.llm goes only to llm engines, and agent engines run the steps {', '.join(steps)}"
        notes = [
            Note(f'this step runs on the agent engine "{name}"', self.program.place("steps", index, "id"))
            for index, name in self.agents
        ]
        help = 'write "llm" in the units that run on llm engines'
        self.report("llm-on-agent-engine", ("defaults", "llm"), message, help, notes)

    # ---- gates ----

    def judge(self) -> Choice | None:
        """The runner of the gates; ``None`` without rubrics, or when it was reported."""
        judged = [index for index, step in enumerate(self.ir.steps) if step.rubric]
        name = self.config.workflow.judge_engine
        if not judged:
            return None
        if name is None:
            for index in judged:
                step = self.ir.steps[index]
                message = f'the step "{step.id}" has a rubric, and the config names no judge'
                help = f'set "workflow.judgeEngine" in the config; configured: {listed(self.config.engines)}'
                self.report("no-judge-engine", ("steps", index, "rubric"), message, help)
            return None
        engine = self.config.engines.get(name)
        first: Path = ("steps", judged[0], "rubric")
        if engine is None:
            message = f"workflow.judgeEngine of the config names an engine that is not configured: {quoted(name)}"
            help = did_you_mean(name, self.config.engines) or f"configured: {listed(self.config.engines)}"
            self.report("unknown-config-engine", first, message, help)
            return None
        if isinstance(engine, AgentEngineConfig) and not self.has_fallback(engine, first):
            return None
        model = engine.model if engine.model is None else self.exact(engine.model, engine, first)
        tuning = merged_tuning(engine.tuning) if isinstance(engine, LlmEngineConfig) else None
        frozen = freeze_engine(engine, self.config)
        return Choice(frozen, model, tuning, width_of(engine, self.config), engine.timeout_ms)
