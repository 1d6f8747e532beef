"""Near misses: sound JSON documents with a few small mistakes in them, and values that lie about every bound."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Final

from hypothesis import strategies as st

# Values of every type, about every bound, and texts that are nearly right somewhere.
VALUES: Final[tuple[Any, ...]] = (
    *(None, True, False, [], {}, [None], [[]], [{}], {"a": 1}, {"": {}}, {"by": "x"}, [{"by": "x"}], {"by": 1}),
    *(-1, 0, 1, 1.0, 1.5, -0.5, 2, 64, 65, 100, 101, 256, 257, 1000, 10_000, 10_001, 1e300, 2.0**53),
    *(2_147_483_647, 2_147_483_648, 2**53),
    *("", "x", "x\n", " x", "X", "1x", "x y", "ä", "x.y", "x-y", "x--y", "x-", "_x", "fail", "none", "workflow", "\n"),
    *("0", "1", "0s", "1s", "01s", "0001m", "1ms", "1h", "1 s", "-1s", "1.5s", "NONE", "s", "1s\n"),
    *("2147483647", "2147483648", "2147483647ms", "2147483648ms", "2147483s", "2147484s", "35791m", "35792m"),
    *("params.x", "params.x.y", "params.1", "steps.a.output", "steps.a.output\n", "steps.a.output[0].b", "steps.a"),
    *("steps.a.output[01]", "steps.a.output.", "steps.a.output[12345678901]", "item", "${{ steps.a.output }}"),
    *(
        "akm-x",
        "akm",
        "a" * 63,
        "a" * 64,
        "a" * 128,
        "a" * 129,
        "é" * 63,
        "a" * 1024,
        "a" * 1025,
        "a" * 4096,
        "a" * 4097,
    ),
    *("..", "../x", "a/../b", "a/..", "..a", "a..b", "/x", "C:x", "C:", "a\\b", "~", "a~b", "a//b", "a/", ".", "a\0b"),
    *(
        "a\x7fb",
        "a\tb",
        "a\u0085b",
        "a\u2028b",
        "é",
        "AKM_X",
        "AKM",
        "FOO",
        "self-hosted",
        "bash",
        "draft",
        "0 6 * * *",
    ),
    *(["a"], ["a", "a"], ["FOO", "BAR"], ["FOO", "FOO"], [""], [1], ["a", 1], ["x"] * 32, ["x"] * 33, ["x"] * 64),
    *(["x"] * 65, ["timeout"], ["timeout"] * 15, ["steps.a.output"] * 64, ["steps.a.output"] * 65, ["self-hosted"]),
    *([f"V{n}" for n in range(32)], [f"V{n}" for n in range(33)]),
    *({"type": "string"}, {"type": "strig"}, {"type": ["string", "null"]}, {"enum": []}, {"x-note": 1}, {"const": 1}),
    *({"from": "steps.a.output"}, {"from": 1}, {"from": "x", "y": 1}, {f"k{n}": {} for n in range(128)}),
    *(
        "string",
        ["string", "null"],
        ["string", "string"],
        "collect",
        "worktree",
        {"over": "steps.a.output"},
        [{"match": 1, "step": "z"}],
        {"max_loops": 1},
    ),
    {"input": "steps.a.output", "when": [{"match": "x", "step": "z"}]},
    *({f"k{n}": {} for n in range(129)}, {"max": 1, "on": ["timeout"]}, {"command": ["x"]}, {"id": "b"}, [{"id": "b"}]),
)
# One or two values of each type: enough where a shape was held against all of them already.
FEW: Final[tuple[Any, ...]] = (
    None,
    True,
    1,
    1.5,
    "",
    "x",
    "x\n",
    "fail",
    "steps.a.output",
    [],
    ["a"],
    [1],
    {},
    {"a": 1},
    {"type": "string"},
)
NAMES: Final = ("", "x", "1x", "x.y", "x-y", "x\n", "ä", "from", "default", "required", "a" * 128, "a" * 129, "${{x}}")


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key or index) of a JSON value, in document order."""
    found: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        for name, child in value.items():
            found += [(value, name), *places(child)]
    elif isinstance(value, list):
        for index, child in enumerate(value):
            found += [(value, index), *places(child)]
    return found


@st.composite
def near_misses(draw: st.DrawFn, sound: st.SearchStrategy[Any], names: tuple[str, ...], most: int = 3) -> Any:
    """A sound document with up to ``most`` changes; ``names`` are the keys that are known somewhere."""
    document = {"root": deepcopy(draw(sound))}
    every_name = (*NAMES, *names)
    for _ in range(draw(st.integers(0, most))):
        container, key = draw(st.sampled_from(places(document)))
        if container is document:
            continue
        change = draw(st.sampled_from(("replace", "delete", "rename", "add", "repeat")))
        if change == "replace":
            container[key] = draw(st.sampled_from(VALUES))
        elif change == "delete":
            del container[key]
        elif isinstance(container, list):
            container.insert(key, deepcopy(container[key]))
        elif change == "rename":
            container[draw(st.sampled_from(every_name))] = container.pop(key)
        else:
            container[draw(st.sampled_from(every_name))] = draw(st.sampled_from(VALUES))
        document = deepcopy(document)  # values of the pool are shared, and later changes look inside
    return document["root"]
