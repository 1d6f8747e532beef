"""What a process loads: a check of a plain workflow is mostly imports, so each needs a reason."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from akmc import cli
from akmc.checking import CheckOptions

Write = Callable[[Mapping[str, str]], Path]
PLAIN = "---\nparams: {topic: {type: string}}\nsteps:\n  - {id: a, inputs: [params.topic]}\n---\n## a\n\nDo it.\n"
UNNEEDED = {
    *(
        "click",
        "lark",
        "jsonschema",
        "networkx",
        "rich",
        "httpx",
        "logging",
        "pickle",
        "tempfile",
        "importlib.metadata",
    ),
    *("akmc.group", "akmc.session.verdicts", "akmc_grammar.yaml_workflow", "akmc_grammar.command_asset"),
    *("akmc_grammar.yaml_faults", "akmc_grammar._generated.reference_parser", "akmc_grammar._generated.run_parser"),
    *("akmc_passes.config", "akmc_passes.engine_config", "akmc_passes.chooser", "akmc_passes.composer"),
    *("akmc_passes.binder", "akmc_passes.tasks", "akmc_passes.dotenv"),
}


def loaded(folder: Path, *arguments: str) -> set[str]:
    """The modules of a process after it ran a command."""
    code = "import sys; from akmc.cli import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_a_plain_check_loads_what_it_needs(write: Write) -> None:
    folder = write({"workflows/a.md": PLAIN})
    modules = loaded(folder, "check", "workflows/a.md")
    assert {"msgspec", "ruamel.yaml", "akmc_passes.pipeline", "akmc_grammar._generated.body_table"} <= modules
    assert sorted(modules & UNNEEDED) == []


def test_a_known_verdict_needs_no_front_end(write: Write) -> None:
    folder = write({".akm/here": "", **{f"workflows/w{number}.md": PLAIN for number in range(40)}})
    assert "akmc_grammar.markdown" in loaded(folder, "check")
    assert not {"ruamel.yaml", "akmc_grammar.markdown", "akmc_passes.pipeline"} & loaded(folder, "check")


@pytest.mark.parametrize(
    ("words", "plain"),
    [
        (["check"], True),
        (["check", "a.md", "b"], True),
        (["check", ""], True),
        (["check", "-"], False),
        (["check", "--strict"], False),
        (["check", "a.md", "--", "-b.md"], False),
        (["compile", "a.md"], False),
        ([], False),
    ],
)
def test_a_plain_check_has_paths_alone(words: list[str], plain: bool) -> None:
    assert cli.is_plain_check(words, "posix") is plain
    assert not cli.is_plain_check(words, "nt")  # there click expands wildcards


def test_completion_is_for_click(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_AKMC_COMPLETE", "bash_complete")
    assert not cli.is_plain_check(["check"], "posix")


def test_both_ways_to_a_check_mean_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[CheckOptions] = []

    def remember(options: CheckOptions) -> int:
        seen.append(options)
        return 3

    monkeypatch.setattr("akmc.checking.run_check", remember)
    assert cli.run(["check", "b.md", "a.md"]) == 3
    assert cli.run(["check", "--", "b.md", "a.md"]) == 3
    assert seen[0] == seen[1] == CheckOptions(paths=("b.md", "a.md"))


@pytest.mark.parametrize("words", [["check"], ["check", "--color", "auto"]])
def test_an_interruption_ends_both(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(options: CheckOptions) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("akmc.checking.run_check", interrupt)
    assert cli.run(words) == 130
