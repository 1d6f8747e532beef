"""The fuzz targets: what is fed, and what has to hold. ``run`` drives them, ``tests/property`` does so in small."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import bundles
import grammar_texts
import reference_model
from hypothesis import strategies as st
from in_process import folder_with, run, survives
from plans import mutated_bytes, mutated_plans, resealed_plans
from programs import Program, programs
from strategies import ANY_BYTES, sound_workflows

SOURCES: Final = ("workflows/x.md", "workflows/x.yml", "tasks/x.yml", "workflows/old.yaml")
_CONFIG: Final = (
    b'{"engines": {"e": {"kind": "agent", "platform": "command", "bin": "cat"}}, "defaults": {"engine": "e"}}'
)


@dataclass(frozen=True)
class Target:
    """``examples`` is how many the short profile tries, ``least`` how many the long one does whatever the time; ``seeds``
    names the folder of seeds for targets of bytes.

    Without ``inputs`` the target is the state machine of ``machine``, and ``check`` is not called.
    """

    check: Callable[[Any], None]
    inputs: st.SearchStrategy[Any] | None
    examples: int
    seeds: str | None = None
    least: int = 0


def commands_take_any_source(data: bytes) -> None:
    """Whatever a source holds, every command of the compiler ends in time, with a documented status and no traceback."""
    with folder_with({**dict.fromkeys(SOURCES, data), "commands/x.md": data, "env/x.env": data}):
        survives("akmc", "check", "--format", "json")
        survives("akmc", "check", "--format", "sarif", "--freeze", *SOURCES)
        survives("akmc", "check", *SOURCES)
        for source in SOURCES[:2]:
            survives("akmc", "compile", source)
            survives("akmc", "show", source)
            survives("akmc", "graph", "--format", "html", source)
            survives("akmc", "diff", source, SOURCES[1], "--format", "html")
        for source in SOURCES:
            survives("akmc", "migrate", source)
        survives("akmc", "check", "--fix", *SOURCES)


def commands_take_any_config(data: bytes) -> None:
    """Whatever the config and ``models.json`` hold, nothing breaks that reads them."""
    source = b"---\nsteps: [{id: a}]\n---\n## a\nDo it.\n"
    with folder_with({".akm/config.json": data, ".akm/models.json": data, "workflows/x.md": source}):
        survives("akmc", "check", "--freeze")
        survives("akmc", "compile", "workflows/x.md")
        survives("akmc", "config", "list")
        survives("akmc", "config", "set", "defaults.engine", "e")


def commands_take_any_plan(data: bytes) -> None:
    """Whatever a plan file holds, both programs refuse it or read it; none is half believed."""
    with folder_with({"x.json": data}):
        verdict = survives("akmc", "verify", "x.json").status
        for words in (["show"], ["show", "--format", "json"], ["surface"], ["graph", "--format", "html"]):
            shown = survives("akmc", *words, "x.json")
            assert verdict == 0 or shown.status != 0, ("a plan that does not verify was shown", shown.words)
        survives("akmc", "diff", "x.json", "x.json")
        survives("akm-run", "x.json", "--help")
        dry = survives("akm-run", "x.json", "--dry-run")
        assert verdict == 0 or dry.status == 2, ("a plan that does not verify was planned", dry.text)


def same_plan_or_refusal(data: bytes) -> None:
    """What decodes prints as it was read: the canonical form of a decoded plan is the same plan, with the same hashes."""
    from akm_schemas.decode import PlanError, decode_plan, encode_plan

    try:
        plan = decode_plan(data)
    except PlanError:
        return
    again = decode_plan(encode_plan(plan))
    assert again == plan
    assert (again.plan_hash, again.content_hash) == (plan.plan_hash, plan.content_hash)


def clean_freezes_decodes_and_starts(source: str) -> None:
    """What checks clean freezes, twice to the same bytes; that decodes, prints, draws and starts."""
    with folder_with({"workflows/x.md": source.encode(), ".akm/config.json": _CONFIG}) as folder:
        if survives("akmc", "check", "--freeze").status != 0:
            return
        starts(folder.joinpath, "workflows/x.md")


def starts(path: Callable[[str], Any], source: str) -> None:
    """Compile ``source`` twice, and take the plan through every command that reads one."""
    for name in ("x.json", "y.json"):
        ended = survives("akmc", "compile", source, "-o", name)
        assert ended.status == 0, ended.text
    assert path("x.json").read_bytes() == path("y.json").read_bytes()
    assert survives("akmc", "compile", source, "-o", "z.json", "--pretty").status == 0
    for words in (["verify", "x.json"], ["verify", "z.json"], ["show", "x.json"], ["diff", "x.json", "z.json"]):
        ended = survives("akmc", *words)
        assert ended.status == 0, ended.text
    plan = json.loads(path("x.json").read_bytes())
    needed = {reference["name"] for reference in params_read(plan)}
    words = [f"--{name}={_word(schema)}" for name, schema in plan["params"].items() if name in needed]
    ended = survives("akm-run", "x.json", "--dry-run", *words)
    assert ended.status == 0, ended.text


def params_read(value: Any) -> list[Any]:
    """Every reference to a param in a plan's JSON."""
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    mine = [value] if isinstance(value, dict) and value.get("root") == "params" else []
    return mine + [found for child in children for found in params_read(child)]


def _word(schema: dict[str, Any]) -> str:
    kinds = {"integer": "1", "array": '["x"]', "object": '{"a": "x"}'}
    return kinds.get(str(schema.get("type")), "a")


def runs_as_the_model_says(program: Program) -> None:
    """A run shows the statuses, reasons, artifacts and exports of the reference model, at any width."""
    with folder_with({"workflows/x.md": program.markdown().encode()}):
        ended = survives("akmc", "compile", "workflows/x.md", "-o", "x.json")
        assert ended.status == 0, ended.text
        ended = survives("akm-run", "x.json", "--json")
        agrees(json.loads(ended.out), reference_model.run(program))


def agrees(document: dict[str, Any], wanted: reference_model.Outcome) -> None:
    """Hold the document of a run against an outcome."""
    shown = {}
    for step in document["steps"]:
        status = step["status"]
        reason = step.get("failureReason") if status == "failed" else None
        shown[step["id"]] = (status, reason, step.get("output") if status == "completed" else None)
    assert shown == wanted.steps
    assert document["status"] == wanted.status
    if wanted.outputs:
        assert document["outputs"] == wanted.outputs


def compositions_freeze_whole(composed: bundles.Composed) -> None:
    """A bundle of sound parts checks clean; its root freezes with every child, twice to the same bytes, and starts."""
    with folder_with(composed.files) as folder:
        ended = survives("akmc", "check", "--freeze")
        assert ended.status == 0, ended.text
        starts(folder.joinpath, composed.root)


def fix_is_stable(data: bytes) -> None:
    """``--fix`` converges in one run, leaves a file without errors without them, and changes no file twice."""
    with folder_with({"workflows/x.md": data}) as folder:
        file = folder / "workflows/x.md"
        before = errors(survives("akmc", "check", "--format", "json", "workflows/x.md").out)
        survives("akmc", "check", "--fix", "workflows/x.md")
        fixed = file.read_bytes()
        after = errors(run("akmc", "check", "--format", "json", "workflows/x.md").out)
        assert before or not after, "a fix made errors"  # one error less may show others that it hid
        survives("akmc", "check", "--fix", "workflows/x.md")
        assert file.read_bytes() == fixed, "a second run of --fix changed the file again"


def errors(report: bytes) -> int:
    """How many errors a JSON report holds."""
    return sum(finding["severity"] == "error" for finding in json.loads(report)["diagnostics"])


def texts_print_as_they_read(text: str) -> None:
    """A reference that reads gives its own text back; the parser and its table never disagree nor raise."""
    from akm_schemas.references import Reference
    from akmc_grammar.reference_grammar import parse_reference

    reference = parse_reference(text)
    if not isinstance(reference, Reference):
        assert 0 <= reference.offset <= len(text) and reference.message
        return
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in reference.path)
    head = f"params.{reference.name}" if reference.root == "params" else f"steps.{reference.name}.output"
    assert head + path == text == reference.text


REFERENCES: Final = grammar_texts.nearly(grammar_texts.references() | grammar_texts.asset_refs())
TARGETS: Final[dict[str, Target]] = {
    "source-bytes": Target(commands_take_any_source, bundles.mutated() | ANY_BYTES, 12, "sources"),
    "config-bytes": Target(commands_take_any_config, st.binary(max_size=80) | mutated_bytes((_CONFIG,)), 15, "configs"),
    "plan-bytes": Target(commands_take_any_plan, resealed_plans() | mutated_plans(), 15, "plans"),
    "plan-round-trip": Target(same_plan_or_refusal, resealed_plans() | mutated_plans(), 100, "plans"),
    "clean-starts": Target(clean_freezes_decodes_and_starts, sound_workflows(), 10),
    "model": Target(runs_as_the_model_says, programs(), 15),
    "compositions": Target(compositions_freeze_whole, bundles.compositions(), 8),
    "fix": Target(fix_is_stable, bundles.mutated() | ANY_BYTES, 20, "sources"),
    "state-machine": Target(print, None, 2, least=100),
    "references": Target(texts_print_as_they_read, REFERENCES, 150),
}
