"""Plans by hand, and a simulated world that answers the pure core."""

from __future__ import annotations

import importlib.util
import json
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from akm_run.core import Core
from akm_run.events import Event, UnitFinished, UnitStarted
from akm_schemas.canonical import canonical_bytes
from akm_schemas.decode import decode_plan
from akm_schemas.hashing import content_hash, plan_hash, target_hash
from akm_schemas.plan import Plan

JsonDict = dict[str, Any]
Answer = Callable[[UnitStarted], UnitFinished]


class PlanMaker:
    """Builds plans as JSON values, with their hashes, and decodes them."""

    def reference(self, text: str) -> JsonDict:
        """The plan's form of a reference text."""
        root, name, rest = re.fullmatch(r"(params|steps)\.([\w-]+)(.*)", text).groups()  # type: ignore[union-attr]
        path = [int(part) if part.isdigit() else part for part in re.findall(r"[\w-]+", rest.removeprefix(".output"))]
        return {"text": text, "root": root, "name": name, "path": path}

    def unit(self, *command: str, retry: JsonDict | None = None, on_error: str = "fail", **more: Any) -> JsonDict:
        """An exec unit."""
        bindings = more.pop("bindings", [])
        target = {"kind": "exec", "command": list(command or ["true"]), "passEnv": [], "inputBindings": bindings}
        return self._unit(target, retry, on_error, more)

    def ask(self, retry: JsonDict | None = None, on_error: str = "fail", llm: bool = False, **more: Any) -> JsonDict:
        """A unit of a command agent that echoes its prompt, or of an llm engine."""
        width, key = more.pop("width", None), more.pop("api_key", None)
        target = self._command(llm)
        if width is not None:
            target |= {"concurrency": width}
            if not llm:  # of agents only this platform has a width, that of the llm engine behind it
                behind = self._command(llm=True)["engine"]
                target["engine"] |= {"platform": "opencode-sdk", "llmEngine": behind}
        if key is not None:
            target["engine"]["apiKey"] = key
        return self._unit(target, retry, on_error, more)

    def _command(self, llm: bool = False) -> JsonDict:
        engine: JsonDict = {"kind": "agent", "name": "tool", "platform": "command", "bin": "cat"}
        if llm:
            engine = {"kind": "llm", "name": "model", "endpoint": "http://127.0.0.1:9/v1/chat/completions"}
        target = {"kind": "command", "template": "none", "engine": engine, "inputBindings": []}
        return target | ({"model": "m", "concurrency": 1} if llm else {})

    def child(self, data: bytes, bindings: Iterable[JsonDict] = (), **more: Any) -> JsonDict:
        """A unit that composes the plan in ``data``."""
        plan = json.loads(data)
        target = {"kind": "child-workflow", "ref": "workflows/kid", "via": "direct", "inputBindings": list(bindings)}
        target |= {"planHash": plan["planHash"], "frozenPlan": plan}
        return self._unit(target, None, "fail", more)

    def binding(self, name: str, read: str, schema: JsonDict | None = None) -> JsonDict:
        """An input binding to a reference."""
        return {"kind": "reference", "name": name, "from": self.reference(read), "schema": schema or {}}

    def _unit(self, target: JsonDict, retry: JsonDict | None, on_error: str, more: JsonDict) -> JsonDict:
        unit = {
            "instructions": "Do it.",
            "env": [],
            "retry": retry or {"max": 0, "on": []},
            "onError": on_error,
            "isolation": "none",
            "timeoutMs": None,
            **more,
        }
        hashed = target | {"contentHash": target_hash(target, env=unit["env"], instructions=unit["instructions"])}
        return unit | {"target": hashed}

    def step(self, step_id: str, unit: JsonDict | None = None, inputs: Iterable[str] = (), **more: Any) -> JsonDict:
        """A unit step; with ``over`` a map step. ``rubric`` and ``loops`` make a gate."""
        step: JsonDict = {"id": step_id, "kind": "unit", "inputs": [self.reference(text) for text in inputs]}
        step["unit"] = self.unit() if unit is None else unit
        over, rubric, loops = more.pop("over", None), more.pop("rubric", None), more.pop("loops", 1)
        width, reducer = more.pop("concurrency", 4), more.pop("reducer", "collect")
        if over is not None:
            step |= {"kind": "map", "map": {"over": self.reference(over), "concurrency": width, "reducer": reducer}}
        if rubric is not None:
            judge = self._command()
            judge["contentHash"] = target_hash(judge)
            step["gate"] = {"rubric": rubric, "maxLoops": loops, "judge": judge}
        return step | more

    def route(self, step_id: str, read: str, when: list[tuple[Any, str]], default: str | None = None) -> JsonDict:
        """A route step; ``when`` pairs matches with step ids."""
        branches = [{"match": match, "step": target} for match, target in when]
        route = {"input": self.reference(read), "when": branches} | ({} if default is None else {"default": default})
        return {"id": step_id, "kind": "route", "inputs": [], "route": route}

    def data(self, *steps: JsonDict, **more: Any) -> bytes:
        """The bytes of a plan file."""
        outputs = {
            name: {"from": self.reference(value)} if isinstance(value, str) else value
            for name, value in more.pop("outputs", {}).items()
        }
        plan: JsonDict = {
            "irVersion": 5,
            "params": {name: {} for name in re.findall(r'"params\.(\w+)"', _own_text(steps))} | more.pop("params", {}),
            "budget": more.pop("budget", {}),
            "execution": {"maxConcurrency": more.pop("width", 8)},
            "steps": [{**step, "index": index} for index, step in enumerate(steps)],
            "outputs": outputs,
            "provenance": {
                "title": "Case",
                "ref": "workflows/case",
                "sourceFormat": "markdown",
                "sourceHash": "0" * 64,
                "sourceReadSet": [],
                "toolchain": {"name": "tests", "lowering": 1},
                "spans": {},
            },
        }
        assert not more, f"unknown parts of a plan: {more}"
        plan["contentHash"] = content_hash(plan)
        plan["planHash"] = plan_hash(plan)
        return canonical_bytes(plan) + b"\n"

    def plan(self, *steps: JsonDict, **more: Any) -> Plan:
        """A decoded plan."""
        return decode_plan(self.data(*steps, **more))


def _own_text(steps: Iterable[JsonDict]) -> str:
    """The steps as JSON without the plans that are embedded in them."""
    return json.dumps([_without_child(step) for step in steps])


def _without_child(step: JsonDict) -> JsonDict:
    if "unit" not in step or "frozenPlan" not in step["unit"]["target"]:
        return step
    target = {key: value for key, value in step["unit"]["target"].items() if key != "frozenPlan"}
    return step | {"unit": step["unit"] | {"target": target}}


def finish(started: UnitStarted, value: Any = None, reason: str | None = None, **more: Any) -> UnitFinished:
    """The end of a started attempt."""
    return UnitFinished(started.step, started.key, started.unit_id, value, reason, **more)


@dataclass
class World:
    """Drives a core with answers in any order; ``log`` is every event, ``most`` the most units at once."""

    answer: Answer
    seed: int = 0
    room: int = 4
    log: list[Event] = field(default_factory=list)
    most: int = 0

    def decide(self, core: Core, running: list[UnitStarted]) -> None:
        """Take all decisions that are due."""
        while events := core.next(self.room - len(running)):
            for event in events:
                core.apply(event)
                self.log.append(event)
                if isinstance(event, UnitStarted):
                    running.append(event)
        assert len(running) <= self.room
        self.most = max(self.most, len(running))

    def run(self, core: Core, finishes: int | None = None) -> Core:
        """Go on until nothing moves, or ``finishes`` attempts have ended."""
        chance = random.Random(self.seed)
        running: list[UnitStarted] = []
        self.decide(core, running)
        while running or (core.frame and core.frame.cooling):
            if not running:
                assert core.frame is not None
                for position in list(core.frame.cooling):
                    core.warm(core.frame.units[position].key)
                self.decide(core, running)
                continue
            if finishes is not None:
                if finishes == 0:
                    return core
                finishes -= 1
            event = self.answer(running.pop(chance.randrange(len(running))))
            core.apply(event)
            self.log.append(event)
            self.decide(core, running)
        return core

    def started(self) -> list[str]:
        """The ids of all attempts, in the order of their start."""
        return [event.unit_id for event in self.log if isinstance(event, UnitStarted)]


@pytest.fixture(scope="session")
def plans() -> PlanMaker:
    """Makes plans."""
    return PlanMaker()


@pytest.fixture(scope="session")
def world() -> type[World]:
    """The class of simulated worlds."""
    return World


@pytest.fixture(scope="session")
def end() -> Callable[..., UnitFinished]:
    """``end(started, value, reason)``: the end of an attempt."""
    return finish


@pytest.fixture(scope="session")
def stub_llm() -> Any:
    """The scripted model server of the acceptance cases, which is a program and in no package."""
    file = Path(__file__).parents[1] / "acceptance" / "tools" / "stub_llm.py"
    spec = importlib.util.spec_from_file_location("akm_stub_llm", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Stub


@pytest.fixture
def by_key() -> Callable[..., Answer]:
    """Answers by attempt, by unit (``<key>*``) or by step; an exception's text is a failure reason."""

    def answers(end: Callable[..., UnitFinished], table: dict[str, Any]) -> Callable[[UnitStarted], UnitFinished]:
        def answer(started: UnitStarted) -> UnitFinished:
            given = table.get(
                started.unit_id, table.get(started.key + "*", table.get(started.key.partition(":")[0], "ok"))
            )
            if isinstance(given, Exception):
                return end(started, None, str(given), diagnostic=f"diagnostic of {started.unit_id}")
            return end(started, given)

        return answer

    return answers
