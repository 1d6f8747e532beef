"""What one file can ask for: bombs, depth, huge numbers, long lines, and bytes that are no text. All end, with a place."""

from __future__ import annotations

import json
import re

import pytest
from in_process import folder_with, run, survives

MIB = 1 << 20
BODY = "\n---\n## a\nDo it.\n"
BOMB = "\n".join(
    ["a0: &a0 [x, x, x, x, x, x, x, x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))]
)
SMALL_BOMB = "\n".join(BOMB.split("\n")[:5])
IDS = [f"step_{number:03}_abc" for number in range(256)]
MANY = {  # as many findings as one source can hold, of every kind that a line or a node is enough for
    "headings without a step": "---\nsteps: [{id: a}]\n---\n" + "## b\n" * 200_000,
    "headings without text": "---\nsteps: [{id: a}]\n---\n" + "##\n" * 340_000,
    "headings without a blank": "---\nsteps: [{id: a}]\n---\n## a\nx\n\n" + "##a\n\n" * 200_000,
    "underlined headings": "---\nsteps: [{id: a}]\n---\n## a\nx\n\n" + "a\n-\n\n" * 200_000,
    "gates": "---\nsteps: [{id: a}]\n---\n## a\nx\n" + "### gate\n" * 110_000,
    "headings that are nearly ids": "---\nsteps: ["
    + ", ".join(f"{{id: {name}}}" for name in IDS)
    + "]\n---\n"
    + "".join(f"## step_{number:04}_abd\nx\n" for number in range(9_900)),
    "unknown keys": "---\nsteps: [{id: a}]\n" + "".join(f"k{number:05}: 1\n" for number in range(9_990)) + BODY[1:],
    "misspelt keys": "---\n" + "".join(f"steps{chr(0x4E00 + number)}: 1\n" for number in range(9_900)) + BODY[1:],
    "misspelt words of schemas": "---\nsteps: [{id: a}]\nparams:\n"
    + "".join(
        f"  p{number}:\n    properties:\n" + "".join(f"      q{k}: {{descriptiom: 1, itens: 2}}\n" for k in range(45))
        for number in range(70)
    )
    + BODY[1:],
    "unknown steps": "---\nsteps:\n"
    + "".join(
        f"  - id: {name}\n    inputs: [{', '.join(f'steps.step_{k:03}_abd.output' for k in range(60))}]\n"
        for name in IDS
    )
    + "---\n"
    + "".join(f"## {name}\nx\n" for name in IDS),
    "comments that allow": "---\nsteps: [{id: a}]\n" + "# akm: allow[x]\n" * 60_000 + BODY[1:],
    "names that are allowed": "---\nsteps: [{id: a}]\n---\n## a\nx\n<!-- akm: allow["
    + "near,gate," * 100_000
    + "] -->\n",
    "empty items": "---\nsteps: [{id: a}]\n---\n## a\nx\n\n" + "- \n" * 345_000,
}
SOURCES = {
    **MANY,
    "small alias bomb": f"---\n{SMALL_BOMB}\nsteps: [{{id: a}}]{BODY}",
    "alias bomb": f"---\n{BOMB}\nsteps: [{{id: a}}]{BODY}",
    "alias to itself": f"---\nparams: &a {{x: *a}}\nsteps: [{{id: a}}]{BODY}",
    "deep flow lists": f"---\nparams: {'[' * 100_000}{BODY}",
    "deep flow mappings": f"---\nparams: {'{a: ' * 50_000}{BODY}",
    "deep block lists": f"---\nparams:\n  {'- ' * 50_000}x{BODY}",
    "deep block mappings": "---\n" + "".join(" " * n + f"k{n}:\n" for n in range(1200)) + BODY,
    "deep schema": f"---\nparams: {{p: {'{items: ' * 70}{{}}{'}' * 70}}}\nsteps: [{{id: a}}]{BODY}",
    "huge integer": f"---\nbudget: {{max_units: {'9' * 400_000}}}\nsteps: [{{id: a}}]{BODY}",
    "huge hexadecimal": f"---\nbudget: {{max_units: 0x{'f' * 400_000}}}\nsteps: [{{id: a}}]{BODY}",
    "huge float": f"---\nbudget: {{max_units: 1e{'9' * 1000}}}\nsteps: [{{id: a}}]{BODY}",
    "huge index": f"---\nsteps: [{{id: a}}, {{id: b, inputs: ['steps.a.output[{'9' * 5000}]']}}]{BODY}## b\nx\n",
    "huge timeout": f"---\nsteps: [{{id: a, unit: {{timeout: {'9' * 5000}s}}}}]{BODY}",
    "line of a mebibyte": f"---\nsteps: [{{id: a}}]\n---\n## a\n{'x' * (MIB - 100)}\n",
    "key of a mebibyte": f"---\n{'k' * (MIB - 100)}: 1{BODY}",
    "line of brackets": f"---\nsteps: [{{id: a}}]\n---\n## a\n{'[' * 500_000}\n",
    "line of backticks": f"---\nsteps: [{{id: a}}]\n---\n## a\n{'`' * 500_000}\n",
    "lines of quotes": f"---\nsteps: [{{id: a}}]\n---\n## a\n{'> ' * 250_000}x\n",
    "open comments": f"---\nsteps: [{{id: a}}]\n---\n## a\n{'<!-- ' * 100_000}\n",
    "many headings": "---\nsteps: [{id: a}]\n---\n## a\nx\n" + "## b\n" * 20_000,
    "too large": "---\nsteps: [{id: a}]\n---\n## a\n" + "x" * MIB,
    "null character": f"---\ndescription: a\0b\nsteps: [{{id: a}}]{BODY}",
    "lone surrogate": f'---\ndescription: "\\ud800"\nsteps: [{{id: a}}]{BODY}',
    "raw surrogate": f"---\ndescription: \ud800\nsteps: [{{id: a}}]{BODY}",
    "no UTF-8": f"---\ndescription: \udcff\nsteps: [{{id: a}}]{BODY}",
    "merge keys": f"---\nx: &x {{a: 1}}\n<<: [*x, *x]\nsteps: [{{id: a}}]{BODY}",
    "object tags": f"---\ndescription: !!python/object/apply:os.system [echo owned]\nsteps: [{{id: a}}]{BODY}",
}


RULES = {  # what stops them, in Markdown
    **dict.fromkeys(
        ("alias bomb", "small alias bomb", "alias to itself", "deep flow lists", "deep flow mappings"), "bound-exceeded"
    ),
    **dict.fromkeys(("deep block lists", "deep block mappings", "too large", "line of brackets"), "bound-exceeded"),
    **dict.fromkeys(("huge integer", "huge hexadecimal", "huge float", "lone surrogate"), "non-json-value"),
    **dict.fromkeys(("headings without a step", "headings without text", "headings without a blank"), "bound-exceeded"),
    **dict.fromkeys(("underlined headings", "gates", "many headings"), "bound-exceeded"),
    **dict.fromkeys(("comments that allow", "names that are allowed"), "bound-exceeded"),
    "headings that are nearly ids": "unexpected-heading",
    **dict.fromkeys(("unknown keys", "misspelt keys"), "unknown-key"),
    "misspelt words of schemas": "schema-unknown-keyword",
    "unknown steps": "unknown-step-reference",
    "object tags": "yaml-custom-tag",
    "huge timeout": "bound-exceeded",
    "huge index": "invalid-reference",
}


def encoded(text: str) -> bytes:
    """UTF-8; surrogates U+DC80 to U+DCFF stand for bytes, others are written as such."""
    return b"".join(
        part.encode("utf-8", "surrogateescape" if "\udc80" <= part <= "\udcff" else "surrogatepass")
        for part in re.split("([\udc80-\udcff])", text)
    )


@pytest.mark.parametrize("name", sorted(SOURCES))
@pytest.mark.parametrize("path", ["workflows/x.md", "workflows/x.yml", "tasks/x.yml"])
def test_a_source_that_asks_for_too_much_is_refused_at_its_place(path: str, name: str) -> None:
    text = SOURCES[name]
    if not path.endswith(".md"):
        text = text.removeprefix("---\n").partition("\n---\n")[0]
    with folder_with({path: encoded(text)}):
        ended = survives("akmc", "check", "--format", "json", path)
        found = json.loads(ended.out)["diagnostics"]
        assert found or name == "empty items", "nothing was said about it"
        if path.endswith(".md") and name in RULES:
            assert RULES[name] in {finding["rule"] for finding in found}
        assert all(finding["line"] >= 1 and finding["column"] >= 1 for finding in found)
        shown = survives("akmc", "check", path)
        assert len(shown.out) < 200_000, "a finding quotes whole files"
        survives("akmc", "compile", path)
        survives("akmc", "migrate", path)
        survives("akmc", "check", "--fix", path)


@pytest.mark.parametrize("format", ["text", "concise", "json", "jsonl", "sarif", "github", "junit"])
def test_as_many_findings_as_a_source_can_hold_are_written_in_time(format: str) -> None:
    name = "unknown steps"  # the most findings that any of these sources gives, each with its list of alternatives
    with folder_with({"workflows/x.md": MANY[name].encode()}):
        ended = survives("akmc", "check", "--format", format, "workflows/x.md")
        assert ended.status == 1 and b"unknown-step-reference" in ended.out


ONE_STEP = "---\nsteps: [{id: a, unit: {exec: {command: [a]}"
FAULTS = {  # a small file each, of which one of many faults is looked at beside all others in no step
    "steps that are numbers": f"---\nsteps: [{','.join('1' * 17_990)}]\n---\n",
    "steps that are nothing": "---\nsteps:\n" + "-\n" * 17_990 + "---\n",
    "steps of one id": "---\nsteps:\n" + "- {id: a}\n" * 6_000 + "---\n",
    "ids that are none": "---\nsteps:\n" + "".join(f'- {{id: "{n}"}}\n' for n in range(6_000)) + "---\n",
    "references that are none": f"{ONE_STEP}}}, inputs: [{','.join(f'item{n}' for n in range(8_000))}]}}]{BODY}",
    "env refs that are none": f"{ONE_STEP}, env: [{','.join(f'enc/a{n}' for n in range(17_980))}]}}}}]{BODY}",
}


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_thousands_of_faults_are_found_in_time(name: str) -> None:
    with folder_with({"workflows/x.md": FAULTS[name].encode()}):
        ended = survives("akmc", "check", "workflows/x.md")
        assert ended.status == 1 and b" errors" in ended.err


def test_a_command_in_one_string_is_not_written_out_whole() -> None:
    text = "---\nsteps: [{id: a, unit: {exec: {command: '" + "a b " * 180_000 + f"'}}}}}}]{BODY}"
    with folder_with({"workflows/x.md": text.encode()}):
        shown = survives("akmc", "check", "workflows/x.md")
        assert b"exec-shell-string" in shown.out and len(shown.out) < 5_000
        survives("akmc", "check", "--fix", "workflows/x.md")


PLANS = {
    "deep lists": b'{"irVersion":5,"params":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    "deep objects": b'{"irVersion":5,"params":' + b'{"a":' * 100_000 + b"0" + b"}" * 100_001,
    "deep by a little": b'{"irVersion":5,"params":' + b"[" * 193 + b"]" * 193 + b"}",
    "huge number": b'{"irVersion":' + b"9" * 1_000_000 + b"}",
    "huge exponent": b'{"irVersion":1e999999999}',
    "null characters": b"\0" * MIB,
    "blanks": b" " * (8 * MIB),
    "long string": b'{"irVersion":5,"a":"' + b"x" * (40 * MIB) + b'"}',
    "surrogates": b'{"irVersion":5,"params":{"\\ud800":{}}}',
    "twice": b'{"irVersion":5,"irVersion":5}',
    "no UTF-8": b'{"irVersion":5,"title":"\xff"}',
}


@pytest.mark.parametrize("name", sorted(PLANS))
def test_a_plan_that_asks_for_too_much_is_refused(name: str) -> None:
    with folder_with({"x.json": PLANS[name]}):
        for words in (["verify", "x.json"], ["show", "x.json"], ["surface", "x.json"], ["graph", "x.json"]):
            assert survives("akmc", *words).status in (1, 2), words
        if name.startswith("deep"):
            assert b"nested deeper than 192 levels" in run("akmc", "verify", "x.json").err
        assert survives("akm-run", "x.json").status == 2
        assert survives("akm-run", "x.json", "--dry-run").status == 2
        assert survives("akm-run", "-", stdin=PLANS[name]).status == 2


CONFIGS = {
    "deep": b'{"engines":' + b'{"a":' * 100_000,
    "huge number": b'{"workflow":{"maxConcurrency":' + b"9" * 500_000 + b"}}",
    "twice": b'{"engines":{},"engines":{}}',
    "long": b'{"engines":{"' + b"e" * (4 * MIB) + b'":{}}}',
    "no UTF-8": b'{"\xff":1}',
}


@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_a_config_that_asks_for_too_much_is_a_fault_of_the_config(name: str) -> None:
    source = b'---\nsteps: [{id: a, unit: {exec: {command: ["true"]}}}]\n---\n## a\nx\n'
    with folder_with({".akm/config.json": CONFIGS[name], "workflows/x.md": source}):
        assert survives("akmc", "compile", "workflows/x.md").status == 78
        ended = survives("akmc", "check", "--freeze", "workflows/x.md")
        assert ended.status == 78 and len(ended.err) < 10_000
