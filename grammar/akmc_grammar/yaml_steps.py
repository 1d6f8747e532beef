"""Steps of a YAML workflow: target, fields that belong to it, environment, source IR."""

from __future__ import annotations

import re
from typing import Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from akm_schemas.bounds import ARGV_WORD_BYTES, ARGV_WORDS, INSTRUCTION_BYTES
from akm_schemas.json_types import JsonObject
from akm_schemas.keys import Key, Record, Text
from akm_schemas.yaml_keys import BUILTIN, ENV_NAME, SHELLS, YAML_STEP
from akmc_grammar.diagnostics import Note
from akmc_grammar.frontmatter_rules import cwd_fault
from akmc_grammar.ir import Exec, Step, Unit, Uses
from akmc_grammar.places import Path, Place
from akmc_grammar.reference_grammar import parse_asset_ref
from akmc_grammar.run_line import UnsafeToken, read_run, shell_argv
from akmc_grammar.shape_hints import meant_key, quoted
from akmc_grammar.shape_walk import Walk
from akmc_grammar.uses_target import refuse_target
from akmc_grammar.yaml_tree import Mapping, Node, Scalar, to_json

_SCRIPT_HELP: Final = 'put the command into a script: "uses: scripts/<name>"'
BUILTIN_WITH = Record(
    "with",
    (
        Key("ref", Text(), "a commands/ ref"),
        Key("content", Text(size=replace(INSTRUCTION_BYTES, name="content"), in_bytes=True), "the prompt itself"),
        Key("arguments", Text(), "what replaces $ARGUMENTS"),
    ),
)


def text_of(node: Node | None) -> str | None:
    """The text of a string scalar."""
    return node.value if isinstance(node, Scalar) and isinstance(node.value, str) else None


def run_text(node: Node | None) -> str | None:
    """The text of a ``run``: the newline that ends a block scalar is not part of it."""
    text = text_of(node)
    block = isinstance(node, Scalar) and node.style in ("literal", "folded")
    return text.removesuffix("\n") if text is not None and block else text


class StepReader:
    """Reads steps in order and remembers their ids."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.first: dict[str, int] = {}

    def read(self, index: int, node: Node) -> Step:
        """One walked step."""
        path: Path = ("steps", index)
        if not isinstance(node, Mapping):
            self.walk.poisoned.add(path)
            return Step(kind="unit", unit=Unit())
        run, uses = node.get("run"), node.get("uses")
        if (run is None) == (uses is None):
            found = "both" if run is not None else "neither"
            names = [str(entry.key.value) for entry in node.entries]
            unknown = [] if run is not None else [name for name in names if YAML_STEP.key(name) is None]
            message = f'a step has exactly one of "run" and "uses", found {found}'
            help = "keep one of the two" if run is not None else 'add "run: <words>" or "uses: <ref>"'
            said = run is None and node.partial
            if not said and not any(meant_key(YAML_STEP, name) in ("run", "uses") for name in unknown):
                self.walk.report("step-target-xor", path, message, help=help)
            self.walk.poisoned.add(path)
            unit, instructions = Unit(), ""
        elif run is not None:
            unit, instructions = self.run_unit(node, run, path)
        else:
            unit, instructions = self.uses_unit(node, path)
        return Step(id=self.identity(node, index), kind="unit", unit=unit, instructions=instructions)

    def identity(self, node: Mapping, index: int) -> str | UnsetType:
        """The id; a repeated one is reported."""
        path = ("steps", index, "id")
        name = text_of(node.get("id"))
        if name is None or path in self.walk.poisoned:
            return UNSET
        earlier = self.first.setdefault(name, index)
        if earlier == index:
            return name
        self.walk.sink.report(
            "duplicate-step-id",
            Place(self.walk.file, path),
            f"a step called {quoted(name)} is declared already",
            notes=[Note("first declared here", Place(self.walk.file, ("steps", earlier, "id")))],
            help=f"rename one of the two, such as {quoted(f'{name}-{index + 1}')}",
        )
        self.walk.poisoned.add(path)
        return UNSET

    # ---- run ----

    def run_unit(self, node: Mapping, run: Node, path: Path) -> tuple[Unit, str]:
        """A command line."""
        if node.get("with") is not None:
            message, help = '"with" binds what "uses" names; a run takes no bindings', 'drop "with"'
            self.walk.report("run-field-conflict", (*path, "with"), message, key=True, help=help)
        env = self.environment(node.get("env"), path)
        where = self.directory(node.get("working-directory"), path)
        line = run_text(run)
        words = self.command(run, node.get("shell"), path)
        if words is None:
            self.walk.poisoned.add((*path, "unit", "exec"))
            return Unit(env_literals=env), line or ""
        return Unit(exec=Exec(command=words, cwd=where), env_literals=env), line or ""

    def command(self, run: Node, shell: Node | None, path: Path) -> list[str] | None:
        """The argv of a run line; ``None`` after a report."""
        at, line = (*path, "run"), run_text(run)
        if line is None or at in self.walk.poisoned:
            return None
        words = read_run(line)
        if isinstance(words, UnsafeToken):
            place = Place(self.walk.file, at, offset=words.offset, length=words.length)
            self.walk.sink.report("unsafe-run-token", place, words.message, help=_SCRIPT_HELP)
            self.walk.poisoned.add(at)
            return None
        if shell is not None:
            name = text_of(shell)
            if name not in SHELLS:  # reported by the walk
                return None
            words = shell_argv(name, line)
        for bound, size in ((ARGV_WORDS, len(words)), (ARGV_WORD_BYTES, max(map(len, words)))):
            if not bound.holds(size):
                message = f"a run has {bound.says()}, found {size}"
                self.walk.report("bound-exceeded", at, message, help=_SCRIPT_HELP)
                return None
        return words

    def directory(self, node: Node | None, path: Path) -> str | UnsetType:
        """A relative, contained working directory."""
        at = (*path, "working-directory")
        text = text_of(node)
        if text is None or at in self.walk.poisoned:
            return UNSET
        why = cwd_fault(text) or ("has an empty segment" if "" in text.split("/") else None)
        if why is None:
            return text
        help = 'name a directory inside the tree, relative and with forward slashes, such as "src/lib"'
        self.walk.report("working-directory-escape", at, f"{quoted(text)} {why}", help=help)
        return UNSET

    def environment(self, node: Node | None, path: Path) -> dict[str, str] | UnsetType:
        """A scalar map; values are taken as written."""
        at = (*path, "env")
        if node is None or at in self.walk.poisoned:
            return UNSET
        if not isinstance(node, Mapping):
            self.walk.wrong_type(at, "a mapping from variable names to values", node)
            return UNSET
        found: dict[str, str] = {}
        for entry in node.entries:
            name, inside = str(entry.key.value), (*at, str(entry.key.value))
            if re.fullmatch(rf"(?!AKM_){ENV_NAME}", name) is None:
                message = f"{quoted(name)} cannot be set here"
                help = "letters, digits and underscores, no digit first; AKM_* belongs to the interpreter"
                self.walk.report("invalid-value", inside, message, key=True, help=help)
                continue
            if not isinstance(entry.value, Scalar):
                self.walk.value(entry.value, Text(), inside)
                continue
            value = "" if entry.value.value is None else entry.value.text
            if "\0" in value:
                message = "an environment variable cannot hold a NUL character"
                self.walk.report("invalid-value", inside, message, help="remove the character")
            found.setdefault(name, value)
        return found

    # ---- uses ----

    def uses_unit(self, node: Mapping, path: Path) -> tuple[Unit, str]:
        """A composed asset."""
        for name in ("shell", "working-directory"):
            if node.get(name) is not None:
                message = f'"{name}" goes with "run"; an asset brings its own'
                self.walk.report("uses-field-conflict", (*path, name), message, key=True, help=f'drop "{name}"')
        env = self.environment(node.get("env"), path)
        at = (*path, "uses")
        target = text_of(node.get("uses"))
        if target is None or at in self.walk.poisoned:
            self.walk.poisoned.add((*path, "unit", "uses"))
            return Unit(env_literals=env), target or ""
        if refused := refuse_target(target):
            self.walk.report(refused.rule, at, refused.message, help=refused.help)
            self.walk.poisoned.add((*path, "unit", "uses"))
            return Unit(env_literals=env), target
        bindings = self.bindings(node.get("with"), path)
        if target == BUILTIN:
            self.builtin(node.get("with"), path)
        return Unit(uses=Uses(ref=target, with_=bindings), env_literals=env), target

    def bindings(self, node: Node | None, path: Path) -> JsonObject | UnsetType:
        """The authored ``with`` as JSON."""
        at = (*path, "with")
        if node is None:
            return UNSET
        if not isinstance(node, Mapping):
            if at not in self.walk.poisoned:
                self.walk.wrong_type(at, "a mapping of bindings", node)
            self.walk.poisoned.add((*path, "unit", "with"))
            return UNSET
        try:
            found = to_json(node)
        except ValueError:  # a value inside was reported by the reader
            self.walk.poisoned |= {at, (*path, "unit", "with")}
            return UNSET
        return found if isinstance(found, dict) else UNSET

    def builtin(self, node: Node | None, path: Path) -> None:
        """``akm/command`` takes exactly one of ref and content, and optional arguments."""
        at = (*path, "with")
        help = "with: {ref: commands/<name>} or with: {content: …}"
        if node is None:
            self.walk.report("missing-key", (*path, "uses"), f'{BUILTIN} needs "with"', help=help)
            self.walk.poisoned |= {(*path, "unit", "with"), (*path, "unit", "uses")}
            return
        if not isinstance(node, Mapping):  # reported as what it is
            return
        faults = len(self.walk.sink.found)
        self.walk.value(node, BUILTIN_WITH, at)
        given = [name for name in ("ref", "content") if node.get(name) is not None]
        if not given:
            self.walk.report("missing-key", at, f'{BUILTIN} needs "ref" or "content"', help=help)
        elif len(given) > 1:
            message = f'{BUILTIN} takes one of "ref" and "content", found both'
            self.walk.report("uses-field-conflict", (*at, "content"), message, key=True, help=help)
        ref = text_of(node.get("ref"))
        parsed = parse_asset_ref(ref) if ref is not None else None
        if (
            ref is not None
            and (parsed is None or parsed.family != "commands")
            and (*at, "ref") not in self.walk.poisoned
        ):
            message = f"{quoted(ref)} is no commands/ ref"
            self.walk.report(
                "invalid-value", (*at, "ref"), message, help="name a file under commands/, without its .md"
            )
        if len(self.walk.sink.found) > faults:
            self.walk.poisoned |= {(*path, "unit", "with"), (*path, "unit", "uses")}
