#!/usr/bin/env python3
"""Coverage-guided fuzzing with atheris of what reads bytes: the YAML reader, the body binder, the plan decoder.

cover.py yaml|body|plan [libFuzzer options]      for example: cover.py yaml -max_total_time=600

atheris is no dependency of the tests (it has no wheels for every Python): ``pip install atheris`` where this is run. What
it finds goes to the current directory as ``crash-*``; put it under ``fuzz/corpus``, where the tests replay it.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Final

HERE: Final = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))


def read_yaml_text(data: bytes) -> None:
    """Both dialects; every finding has a place inside the text."""
    from akmc_grammar.diagnostics import Sink
    from akmc_grammar.yaml_reader import read_yaml, yaml_comments
    from akmc_grammar.yaml_tree import to_json

    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    for dialect in ("frontmatter", "strict"):
        sink = Sink()
        root = read_yaml(text, file="x", sink=sink, first_line=1, dialect=dialect)
        if root is not None and not sink.has_errors:
            to_json(root)
        for finding in sink.found:
            span = finding.place.span
            assert span is None or 1 <= span.line <= text.count("\n") + 2, finding
    yaml_comments(text, first_line=1)


def bind_body(data: bytes) -> None:
    """Sections stand in order, and no line belongs to two of them."""
    from akmc_grammar.body_binder import read_body

    lines = data.decode("utf-8", "replace").split("\n")
    read_body(lines, 1)


def decode(data: bytes) -> None:
    """A plan that prints as it was read, or a PlanError."""
    from akm_schemas.decode import PlanError, decode_plan, encode_plan

    try:
        plan = decode_plan(data)
    except PlanError:
        return
    assert decode_plan(encode_plan(plan)) == plan


TARGETS: Final[dict[str, tuple[Callable[[bytes], None], str]]] = {
    "yaml": (read_yaml_text, "sources"),
    "body": (bind_body, "sources"),
    "plan": (decode, "plans"),
}
PACKAGES: Final = ["akmc_grammar", "akm_schemas"]
MODULES: Final = (
    "akm_schemas.decode",
    "akmc_grammar.body_binder",
    "akmc_grammar.yaml_explain",
    "akmc_grammar.yaml_faults",
    "akmc_grammar.yaml_reader",
)


def beginnings(name: str) -> list[bytes]:
    """What the fuzzer begins with: seeds of the corpus, and whole documents or plans."""
    from bundles import documents
    from plans import pinned

    seeds = [path.read_bytes() for path in sorted((HERE / "corpus" / TARGETS[name][1]).glob("*"))]
    return [*seeds, *(pinned() if name == "plan" else documents())]


def main() -> None:
    """Fuzz until something is found or an option of libFuzzer ends it."""
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        sys.exit(__doc__)
    name = sys.argv.pop(1)
    atheris = import_module("atheris")
    with atheris.instrument_imports(include=PACKAGES):
        for module in MODULES:
            import_module(module)
    with tempfile.TemporaryDirectory(prefix="akm-cover-") as folder:
        for number, data in enumerate(beginnings(name)):
            (Path(folder) / f"{number:04}").write_bytes(data)
        atheris.Setup([sys.argv[0], folder, *sys.argv[1:]], TARGETS[name][0])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
