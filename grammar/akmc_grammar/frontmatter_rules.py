"""Rules of the frontmatter that look at more than one key, or inside one text.

Before: the checking walk has reported everything about single shapes. After: the kinds of a step, exec against engine
settings, working directories, extra request members and repeated ids are reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from akm_schemas import keys
from akmc_grammar.diagnostics import Note
from akmc_grammar.places import Path, Place
from akmc_grammar.shape_hints import quoted
from akmc_grammar.shape_walk import Walk
from akmc_grammar.yaml_tree import Mapping, Node, Scalar, Sequence

KINDS = ("unit", "map", "route")
ENGINE_SETTINGS = ("engine", "model", "llm")
OWNED_TOP_LEVEL = frozenset(keys.OWNED_TOP_LEVEL)
OWNED_ANYWHERE = frozenset(keys.OWNED_ANYWHERE)

SECRET_HELP = 'drop it: the engine\'s "apiKey" in the config names the variable that holds a secret'
OWNED_HELP = {
    "enablethinking": 'write "enable_thinking" in "llm" itself',
    "maxtokens": 'write "max_tokens" in "llm" itself',
    "model": 'write "model" beside "llm"',
    "temperature": 'write "temperature" in "llm" itself',
}


def check_steps(walk: Walk, steps: Node | None) -> None:
    """All rules of all steps."""
    if not isinstance(steps, Sequence):
        return
    first: dict[str, int] = {}
    for index, step in enumerate(steps.items):
        if not isinstance(step, Mapping):
            continue
        path: Path = ("steps", index)
        check_kinds(walk, step, path)
        for bag_path, bag in dispatch_bags(step, path):
            check_unit(walk, bag, bag_path)
        identity = step.get("id")
        if isinstance(identity, Scalar) and isinstance(identity.value, str):
            earlier = first.setdefault(identity.value, index)
            if earlier != index:
                duplicate_id(walk, identity.value, index, earlier)


def duplicate_id(walk: Walk, name: str, index: int, earlier: int) -> None:
    """Report the second declaration of a step id."""
    walk.sink.report(
        "duplicate-step-id",
        Place(walk.file, ("steps", index, "id")),
        f"a step called {quoted(name)} is declared already",
        notes=[Note("first declared here", Place(walk.file, ("steps", earlier, "id")))],
        help=f"rename one of the two, its heading too, such as {quoted(f'{name}-{index + 1}')}",
    )
    walk.poisoned.add(("steps", index, "id"))


def check_kinds(walk: Walk, step: Mapping, path: Path) -> None:
    """At most one of unit, map and route; a route has neither inputs nor output."""
    kinds = [str(entry.key.value) for entry in step.entries if entry.key.value in KINDS]
    kinds = list(dict.fromkeys(kinds))
    if len(kinds) > 1:
        help = '"unit" goes inside "map": map.unit' if set(kinds) == {"unit", "map"} else "keep one of them"
        walk.report(
            "step-kind-conflict",
            (*path, kinds[1]),
            f'a step is one of "map", "route" and "unit"; this one has {" and ".join(quoted(kind) for kind in kinds)}',
            key=True,
            help=help,
        )
    elif kinds == ["route"]:
        for name, why in (("inputs", "dispatches nothing that could read them"), ("output", "promotes no artifact")):
            if step.get(name) is not None:
                drop_bounds(walk, (*path, name))
                walk.report(
                    "step-kind-conflict",
                    (*path, name),
                    f'a route step has no "{name}": it {why}',
                    key=True,
                    help=f'drop "{name}", or move it to the step that the route selects',
                )


def drop_bounds(walk: Walk, path: Path) -> None:
    """Forget how long a list is that must not be there at all."""
    found = walk.sink.found
    found[:] = [item for item in found if item.rule.name != "bound-exceeded" or item.place.path != path]


def dispatch_bags(step: Mapping, path: Path) -> Iterator[tuple[Path, Mapping]]:
    """The ``unit`` and ``map.unit`` mappings of a step."""
    unit, fan = step.get("unit"), step.get("map")
    if isinstance(unit, Mapping):
        yield (*path, "unit"), unit
    if isinstance(fan, Mapping) and isinstance(inner := fan.get("unit"), Mapping):
        yield (*path, "map", "unit"), inner


def check_unit(walk: Walk, unit: Mapping, path: Path) -> None:
    """Exec against engine settings, the command's form, the working directory, extra params."""
    run = unit.get("exec")
    if run is not None:
        for name in ENGINE_SETTINGS:
            if unit.get(name) is not None:
                walk.report(
                    "exec-engine-conflict",
                    (*path, name),
                    f'an exec unit has no "{name}": no engine reads it',
                    key=True,
                    help=f'drop "{name}", or drop "exec" so that an engine reads the prose',
                )
    if isinstance(run, Mapping):
        command, cwd = run.get("command"), run.get("cwd")
        if isinstance(command, Sequence):
            check_words(walk, command, (*path, "exec", "command"))
        if isinstance(cwd, Scalar) and isinstance(cwd.value, str) and (why := cwd_fault(cwd.value)):
            walk.report(
                "exec-cwd-escape",
                (*path, "exec", "cwd"),
                f"{quoted(cwd.value)} {why}",
                help='name a directory inside the tree, relative and with forward slashes, such as "src/lib"',
            )
    check_llm(walk, unit.get("llm"), (*path, "llm"))


def check_words(walk: Walk, command: Sequence, path: Path) -> None:
    """No argv word can hold a NUL."""
    for index, word in enumerate(command.items):
        if isinstance(word, Scalar) and isinstance(word.value, str) and "\0" in word.value:
            message = "a word of a command cannot hold a NUL character"
            walk.report("invalid-value", (*path, index), message, help="remove the character")


def cwd_fault(cwd: str) -> str | None:
    """Why a working directory is not relative and contained, or ``None``. Purely lexical."""
    if cwd.startswith("/"):
        return "is absolute"
    if re.match(r"[A-Za-z]:", cwd):
        return "names a drive"
    if "\\" in cwd:
        return "holds a backslash"
    if "~" in cwd:
        return 'holds a "~", which nothing expands'
    if any(ord(character) < 32 or ord(character) == 127 for character in cwd):
        return "holds a control character"
    if ".." in cwd.split("/"):
        return 'climbs out with ".."'
    return None


def check_llm(walk: Walk, llm: Node | None, path: Path) -> None:
    """Names that extra request members may not have."""
    extra = llm.get("extra_params") if isinstance(llm, Mapping) else None
    if isinstance(extra, Mapping):
        for at, name in member_names(extra, (*path, "extra_params")):
            bare = re.sub(r"[^a-z0-9]", "", name.lower())
            top = len(at) == len(path) + 2
            if (top and bare in OWNED_TOP_LEVEL) or bare in OWNED_ANYWHERE:
                secret = bare in OWNED_ANYWHERE
                why = "would carry a secret or a header" if secret else "belongs to the engine"
                help = SECRET_HELP if secret else OWNED_HELP.get(bare, "drop it: the engine writes it itself")
                message = f"extra_params cannot have {quoted(name)}: it {why}"
                walk.report("invalid-value", at, message, key=True, help=help)


def member_names(node: Node, path: Path) -> Iterator[tuple[Path, str]]:
    """Every member name below a node, with its path."""
    stack: list[tuple[Path, Node]] = [(path, node)]
    while stack:
        at, here = stack.pop()
        if isinstance(here, Mapping):
            for entry in here.entries:
                name = str(entry.key.value)
                yield (*at, name), name
                stack.append(((*at, name), entry.value))
        elif isinstance(here, Sequence):
            stack.extend(((*at, index), item) for index, item in enumerate(here.items))
