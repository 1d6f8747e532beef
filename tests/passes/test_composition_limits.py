"""The limits of composition: cycles, depth, bytes; and that a bundle freezes each workflow once."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from akm_schemas.bounds import CHILD_BYTES, COMPOSITION_DEPTH
from akm_schemas.decode import decode_plan, encode_plan
from akm_schemas.plan_sizes import embedded_plans, own_size
from akmc_grammar.diagnostics import Sink
from akmc_passes import pipeline
from akmc_passes.bundle import Bundle
from akmc_passes.contract import Context, Program
from akmc_passes.library import Library

Compose = Callable[..., Any]


def embedded(plan: Any) -> int:
    """Bytes of all plans inside ``plan``, each without those inside it."""
    return sum(own_size(child) for _, child in embedded_plans(plan))


def composing(*refs: str) -> str:
    """A YAML workflow whose steps compose ``refs``; the first stands on line 7."""
    lines = "".join(f"      - {{id: s{index}, uses: {ref}}}\n" for index, ref in enumerate(refs))
    return f"name: A\non: {{workflow_dispatch: {{}}}}\njobs:\n  main:\n    runs-on: [self-hosted]\n    steps:\n{lines}"


LEAF = composing().rstrip("\n") + "\n      - {id: own, run: make}\n"


def chain(levels: int) -> dict[str, str]:
    """``workflows/c0`` with ``levels`` levels below it."""
    files = {f"workflows/c{level}.yml": composing(f"workflows/c{level + 1}") for level in range(levels)}
    return {**files, f"workflows/c{levels}.yml": LEAF}


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"workflows/a.yml": composing("workflows/a")}, "a -> a"),
        (
            {"workflows/a.yml": composing("tasks/t"), "tasks/t.yml": "version: 4\nuses: workflows/a\n"},
            "a -> tasks/t -> a",
        ),
        (
            {"workflows/a.yml": composing("workflows/b"), "workflows/b.yml": composing("workflows/a")},
            "a -> b -> a",
        ),
        (
            {
                "workflows/a.yml": composing("tasks/w"),
                "tasks/w.yml": "version: 4\nuses: workflows/b\n",
                "workflows/b.yml": composing("workflows/leaf", "workflows/a"),
                "workflows/leaf.yml": LEAF,
            },
            "a -> tasks/w -> b -> a",
        ),
        (
            {
                "workflows/a.yml": composing("workflows/b"),
                "workflows/b.yml": composing("workflows/c"),
                "workflows/c.yml": composing("workflows/d"),
                "workflows/d.yml": composing("workflows/c", "workflows/b"),
            },
            "a -> b -> c -> d -> b",
        ),
    ],
)
def test_cycles(compose: Compose, files: dict[str, str], path: str) -> None:
    made = compose(files)
    assert made.rules == [("composition-cycle", "workflows/a.yml", 7)]
    (message,) = made.messages
    assert message.startswith("Workflow step cannot compose ")
    assert message.endswith(f"that would create a composition cycle. Path: {path}.")
    assert made.program.plan is None
    notes = made.context.sink.found[0].notes
    assert all(note.place is not None and note.place.file in made.context.documents for note in notes)


def test_only_the_steps_that_lead_into_a_cycle_are_reported(compose: Compose) -> None:
    files = {
        "workflows/a.yml": composing("workflows/leaf", "workflows/b", "workflows/leaf"),
        "workflows/b.yml": composing("workflows/b"),
        "workflows/leaf.yml": LEAF,
    }
    assert compose(files).rules == [("composition-cycle", "workflows/a.yml", 8)]


def test_a_diamond_embeds_twice(compose: Compose) -> None:
    files = {
        "workflows/a.yml": composing("workflows/b", "workflows/c", "workflows/leaf", "workflows/leaf"),
        "workflows/b.yml": composing("workflows/leaf"),
        "workflows/c.yml": composing("workflows/leaf"),
        "workflows/leaf.yml": LEAF,
    }
    made = compose(files, freeze=True)
    assert made.rules == []
    plan = encode_plan(made.program.plan)
    assert plan.count(b'"ref":"workflows/leaf","sourceFormat"') == 4
    assert decode_plan(plan) == made.program.plan
    assert [entry["ref"] for entry in made.plan["provenance"]["sourceReadSet"]] == [
        "workflows/a",
        "workflows/b",
        "workflows/c",
        "workflows/leaf",
    ]


def test_eight_levels_are_legal_and_nine_are_not(compose: Compose) -> None:
    deepest = compose(chain(COMPOSITION_DEPTH.high), "workflows/c0.yml", freeze=True)
    assert deepest.rules == []
    assert decode_plan(encode_plan(deepest.program.plan)) == deepest.program.plan
    over = compose(
        {**chain(COMPOSITION_DEPTH.high), "workflows/top.yml": composing("workflows/c0")}, "workflows/top.yml"
    )
    assert over.rules == [("composition-depth", "workflows/top.yml", 7)]
    expected = "Path: top -> c0 -> c1 -> c2 -> c3 -> c4 -> c5 -> c6 -> c7 -> c8."
    assert over.messages == [
        f"Workflow step cannot compose workflows/c0: workflow composition is limited to 8 levels. {expected}"
    ]


def test_a_very_long_chain_is_no_matter_of_the_stack(compose: Compose) -> None:
    made = compose(chain(400), "workflows/c0.yml")
    assert made.rules == [("composition-depth", "workflows/c0.yml", 7)]
    assert made.messages[0].endswith("c8 -> c9 -> ….")


def test_doubling_children_are_counted_and_not_unfolded(compose: Compose) -> None:
    files = {f"workflows/c{level}.yml": composing(*[f"workflows/c{level + 1}"] * 30) for level in range(8)}
    made = compose({**files, "workflows/c8.yml": LEAF}, "workflows/c0.yml")
    assert made.rules == [("composition-bytes", "workflows/c0.yml", 7)]


def test_embedded_bytes_are_own_bytes_added_up(compose: Compose) -> None:
    files = {
        "workflows/a.yml": composing("workflows/b", "workflows/leaf"),
        "workflows/b.yml": composing("workflows/leaf", "workflows/leaf"),
        "workflows/leaf.yml": LEAF,
    }
    made = compose(files, freeze=True)
    child = made.target(0)["frozenPlan"]
    leaf = made.target(1)["frozenPlan"]
    sizes = made.program.sizes
    assert sizes.embedded == sizes.embedded_open == own_size(child) + 3 * own_size(leaf) == embedded(made.plan)
    assert sizes.own == own_size(made.plan)


def test_open_engines_count_as_frozen_ones_do_without_them(compose: Compose) -> None:
    asking = composing().rstrip("\n") + "\n      - {id: own, uses: akm/command, with: {content: Hi}}\n"
    files = {"workflows/a.yml": composing("workflows/b"), "workflows/b.yml": asking}
    open_sizes = compose(files).program.sizes
    engine = {"kind": "llm", "endpoint": "http://127.0.0.1:9/v1/chat/completions", "model": "tiny"}
    made = compose({}, config={"engines": {"e": engine}, "defaults": {"engine": "e"}})
    frozen = made.program.sizes
    assert open_sizes.embedded_open == frozen.embedded_open
    assert frozen.embedded == embedded(made.plan) > frozen.embedded_open


def test_the_byte_limit_names_the_total_and_the_cap(compose: Compose) -> None:
    script = "#" * 200_000
    files = {
        "workflows/kid.yml": composing("scripts/one.sh", "scripts/one.sh"),
        "scripts/one.sh": script,
        "workflows/once.yml": composing("workflows/kid"),
        "workflows/a.yml": composing("workflows/kid", "workflows/kid", "workflows/kid"),
        "workflows/above.yml": composing("workflows/a"),
    }
    once = compose(files, "workflows/once.yml")
    assert once.rules == []
    total = 2 * once.program.sizes.embedded
    made = compose(files)
    assert made.rules == [("composition-bytes", "workflows/a.yml", 8)]
    assert made.messages == [
        f"Workflow step cannot compose workflows/kid: the embedded child plans would total {total} bytes, "
        f"over the {CHILD_BYTES.high}-byte limit for one workflow run. Path: a -> kid."
    ]
    assert compose({}, "workflows/above.yml").rules == [("composition-bytes", "workflows/above.yml", 7)]


def test_what_the_config_adds_is_the_fault_of_the_config(compose: Compose) -> None:
    asking = composing().rstrip("\n") + "".join(
        f"\n      - {{id: s{index}, uses: akm/command, with: {{content: Hi}}}}" for index in range(10)
    )
    files = {
        "workflows/kid.yml": f"{asking}\n",
        "workflows/a.yml": composing(*["workflows/kid"] * 10),
    }
    assert compose(files).rules == []
    agent = {"kind": "agent", "platform": "command", "bin": "cat", "args": ["x" * 12_000]}
    made = compose({}, config={"engines": {"e": agent}, "defaults": {"engine": "e"}})
    assert [rule for rule, _, _ in made.rules] == ["config-too-large"]


# ---- the bundle ----


def bundle_of(count: int) -> dict[str, str]:
    """Eight layers of workflows; each composes two of the layer below."""
    width = count // 8
    files = {}
    for number in range(count):
        layer = number // width
        refs = (
            [f"workflows/w{(layer + 1) * width + (number * 2 + way) % width}" for way in range(2)] if layer < 7 else []
        )
        files[f"workflows/w{number}.yml"] = composing(*refs, "tasks/own")
    return {**files, "tasks/own.yml": "version: 4\nrun: make all\n"}


def test_a_bundle_reads_and_freezes_each_workflow_once(
    compose: Compose, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frozen: Counter[str] = Counter()
    real = pipeline.run_pipeline

    def counting(program: Program, context: Context, **options: Any) -> Program:
        frozen[program.document.source.name] += 1
        return real(program, context, **options)

    monkeypatch.setattr(pipeline, "run_pipeline", counting)
    files = bundle_of(200)
    first = compose(files, "workflows/w0.yml", freeze=True)
    library = first.context.library
    assert isinstance(library, Library)
    plans = [
        compose({}, f"workflows/w{number}.yml", library=library, freeze=True).plan["contentHash"]
        for number in range(200)
    ]
    assert len(plans) == 200
    assert set(frozen) == {name for name in files if name.startswith("workflows/")}
    assert set(frozen.values()) == {1}
    assert library.store.reads == len(files)  # type: ignore[attr-defined]


def test_a_changed_grandchild_is_noticed(compose: Compose, tmp_path: Path) -> None:
    files = {
        "workflows/a.yml": composing("workflows/b"),
        "workflows/b.yml": composing("workflows/c"),
        "workflows/c.yml": LEAF,
    }
    first = compose(files, freeze=True)
    library = first.context.library
    library.store.texts.clear()
    again = compose({}, library=library, freeze=True)
    assert again.program is first.program
    library.store.texts.clear()
    changed = compose({"workflows/c.yml": LEAF.replace("make", "cmake")}, library=library, freeze=True)
    assert changed.plan["contentHash"] != first.plan["contentHash"]


def test_answers_without_a_plan_change_with_their_files(compose: Compose, tmp_path: Path) -> None:
    files = {"workflows/a.yml": composing("workflows/b"), "workflows/b.yml": composing("workflows/a", "workflows/gone")}
    first = compose(files)
    library = first.context.library
    assert first.rules == [("composition-cycle", "workflows/a.yml", 7)]
    library.store.texts.clear()
    opened = compose({"workflows/b.yml": composing("workflows/gone")}, library=library)
    assert opened.rules == [("composition-invalid", "workflows/a.yml", 7), ("unresolved-ref", "workflows/b.yml", 7)]
    library.store.texts.clear()
    assert compose({"workflows/gone.yml": LEAF}, library=library).rules == []
    library.store.texts.clear()
    shadowed = compose({"workflows/gone.md": "---\nsteps: [{id: a}]\n---\n## a\nGo.\n"}, library=library, freeze=True)
    assert ("composition-invalid", "workflows/a.yml", 7) in shadowed.rules


def test_networkx_is_imported_only_when_a_child_composes() -> None:
    code = (
        "import sys, pathlib, tempfile\n"
        "from akmc.cli import run\n"
        "import os; os.chdir(sys.argv[1])\n"
        "run(['check', 'workflows/' + sys.argv[2]])\n"
        "print('networkx' in sys.modules, file=sys.stderr)\n"
    )
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"a": composing("workflows/b"), "b": composing("workflows/c"), "c": LEAF}.items():
            path = Path(folder, "workflows", f"{name}.yml")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        said = [
            subprocess.run([sys.executable, "-c", code, folder, f"{name}.yml"], capture_output=True, text=True).stderr
            for name in "abc"
        ]
    assert [text.strip().splitlines()[-1] for text in said] == ["True", "False", "False"]


def test_a_context_without_library_gets_one(tmp_path: Path, compose: Compose) -> None:
    made = compose({"workflows/a.yml": composing("workflows/b"), "workflows/b.yml": LEAF})
    context = Context(Sink(), made.context.store, Bundle(tmp_path))
    program = pipeline.run_pipeline(Program(made.program.document), context)
    assert program.plan == made.program.plan
    assert context.library is not None
