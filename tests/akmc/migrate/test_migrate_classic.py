"""The classic Markdown workflow: ids, params, prose and criteria."""

from __future__ import annotations

import pytest

from akmc.migrate.ids import new_param_names, new_step_ids
from akmc.migrate.prose import code_ranges
from akmc.migrate.recognise import NotSuperseded
from akmc.migrate.run import Migrated, migrate_source
from akmc.migrate.surroundings import Surroundings
from akmc_grammar.diagnostics import Sink
from akmc_grammar.ir import SourceIR
from akmc_grammar.markdown import read_markdown
from akmc_grammar.source import SourceText

STEP = "## Step: One\nStep ID: one\n\n### Instructions\n"


def migrated(text: str) -> Migrated:
    return migrate_source(SourceText.of("old.md", text.encode()), Surroundings())


def document(result: Migrated) -> SourceIR:
    assert result.text is not None, result.errors
    sink = Sink()
    found = read_markdown(SourceText.of("new.md", result.text.encode()), ref="", sink=sink).ir
    assert found is not None
    assert not sink.has_errors
    return found


def test_prose_is_kept_byte_for_byte() -> None:
    prose = "A *b*  \n\ttab\n\n```md\n## Step: in a fence\n### Completion Criteria\n```\n\n#### Sub\n> q\n$HOME ${{ x }} <b>"
    criteria = "Free words.\n\n- one\n  two"
    ir = document(migrated(f"# Workflow: T\n\n{STEP}\n{prose}\n\n\n### Completion Criteria\n\n{criteria}\n"))
    assert ir.steps[0].instructions == prose
    assert ir.steps[0].rubric == criteria
    assert ir.title == "T"
    assert ir.description == "T"


def test_a_workflow_without_steps_is_told_in_the_old_file() -> None:
    result = migrated("---\ndescription: d\n---\n\n# Workflow: T\n\nText.\n")
    assert result.text is None and result.fault == "mend the old file first"
    assert [(item.path, item.span.line, item.rule.name) for item in result.errors] == [("old.md", 5, "bound-exceeded")]


def test_an_empty_part_is_none_and_a_second_one_is_told() -> None:
    text = "\n### Completion Criteria\n- c\n\n### Instructions\nreal\n\n### Completion Criteria\nmore\n"
    result = migrated(f"# Workflow: T\n\n{STEP}{text}")
    ir = document(result)
    assert (ir.steps[0].instructions, ir.steps[0].rubric) == ("real\n\n### Completion Criteria\nmore", "- c")
    told = 'a second "### Completion Criteria" of step "one" is text of the part that it stands in'
    assert (14, told) in [(remark.span.line, remark.message) for remark in result.remarks]


def test_crlf_and_bom() -> None:
    text = f"\ufeff---\ndescription: d\n---\n# Workflow: T\n\n{STEP}x\ny\n".replace("\n", "\r\n")
    ir = document(migrated(text))
    assert ir.steps[0].instructions == "x\ny"
    assert ir.description == "d"


@pytest.mark.parametrize(
    ("wanted", "titles", "new"),
    [
        (["a", "b-c", "_d"], [], ["a", "b-c", "_d"]),
        (["1.scan", "a.b", "a b"], [], ["step-1-scan", "a-b", "a-b-2"]),
        (["a.b", "a-b"], [], ["a-b-2", "a-b"]),
        (["a", "a", "a-2", "a"], [], ["a", "a-3", "a-2", "a-4"]),
        (["", "x"], ["x", "y"], ["x-2", "x"]),
        (["é", "..."], [], ["step", "step-2"]),
    ],
)
def test_new_ids_are_legal_and_unique(wanted: list[str], titles: list[str], new: list[str]) -> None:
    assert new_step_ids(wanted, titles) == new


def test_new_param_names() -> None:
    assert new_param_names(["a", "a-b", "a_b", "1", "n" * 200]) == ["a", "a_b_2", "a_b", "p_1", "n" * 120]


def test_renamed_ids_list_every_mention() -> None:
    result = migrated(
        "# Workflow: T\n\nAfter 1.a, see 1.ab.\n\n## Step: One\nStep ID: 1.a\n\n### Instructions\nx `1.a`.\n\n"
        "### Completion Criteria\n- 1.a is done\n"
    )
    assert document(result).steps[0].id == "step-1-a"
    lines = [(remark.span.line, remark.span.column) for remark in result.remarks if '"1.a"' in remark.message]
    assert lines == [(3, 7), (6, 10), (9, 4), (12, 3)]


def test_moustaches_of_params_become_words() -> None:
    front = '---\nparams:\n  repo: The repo\n  my-dir: "In {{ repo }}"\n---\n'
    result = migrated(
        f"{front}# Workflow: {{{{ repo }}}}\n\n{STEP}In {{{{my-dir}}}} of the {{{{ repo }}}}, `{{{{ repo }}}}`.\n{{{{ x }}}}\n"
    )
    ir = document(result)
    assert ir.steps[0].instructions == "In the `my_dir` parameter of the `repo` parameter, `<repo parameter>`.\n{{ x }}"
    assert ir.params == {"repo": {"description": "The repo"}, "my_dir": {"description": "In the `repo` parameter"}}
    assert ir.steps[0].inputs == []
    assert ir.title == "the `repo` parameter"
    assert [remark.span.line for remark in result.remarks] == [4, 13]


@pytest.mark.parametrize(
    ("front", "kept", "line"),
    [
        ("owner: me", 'frontmatter key "owner": `me`', 2),
        ("type: note", "type: `note`", 2),
        ("tags: 3", "tags: `3`", 2),
        ("status: odd", "status: `odd`", 2),
        ("params: [a]", 'params: `["a"]`', 2),
        ("params:\n  a: [x]", 'description of param "a": `["x"]`', 3),
    ],
)
def test_other_frontmatter_is_kept_as_prose(front: str, kept: str, line: int) -> None:
    result = migrated(f"---\n{front}\n---\n# Workflow: T\n\n{STEP}x\n")
    assert f"- {kept}" in document(result).preamble.split("\n")
    assert [remark.span.line for remark in result.remarks] == [line]


def test_criteria_may_come_first() -> None:
    ir = document(
        migrated("# Workflow: T\n## Step: A\nStep ID: a\n### Completion Criteria\n- c\n### Instructions\ni\n")
    )
    assert (ir.steps[0].instructions, ir.steps[0].rubric) == ("i", "- c")


def test_what_is_of_todays_format_is_refused() -> None:
    for text in ("# Title\n", f"---\nsteps:\n  - id: one\n---\n# Workflow: T\n\n{STEP}x\n"):
        with pytest.raises(NotSuperseded) as raised:
            migrated(text)
        assert raised.value.help


def test_without_steps_it_does_not_check_clean() -> None:
    result = migrated("# Workflow: T\n")
    assert result.text is None
    assert [finding.rule.name for finding in result.errors] == ["bound-exceeded"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a `b` c", ["b"]),
        ("``a ` b`` `c", ["a ` b"]),
        ("`a\nb` c\n\n`d", ["a\nb"]),
        ("x\n```sh\ny\n```\nz `q`", ["```sh\ny\n", "q"]),
        ("- ~~~\n  y\n  ~~~\n", ["- ~~~\n  y\n"]),
        ("```\nopen", ["```\nopen"]),
    ],
)
def test_code_is_found(text: str, code: list[str]) -> None:
    assert [text[start:end] for start, end in code_ranges(text)] == code


def test_frontmatter_that_never_ends() -> None:
    result = migrated(f"---\ndescription: d\n# Workflow: T\n\n{STEP}x\n")
    assert result.text is None
    assert [finding.rule.name for finding in result.errors] == ["missing-frontmatter"]


def test_odd_keys_stay_on_their_line() -> None:
    result = migrated(f'---\n"a\\nb <!-- akm: allow[x] -->": 1\n---\n# Workflow: T\n\n{STEP}x\n')
    assert [line for line in document(result).preamble.split("\n") if line.startswith("- frontmatter")] == [
        '- frontmatter key \\"a\\nb &lt;!-- akm: allow[x] -->\\": `1`'
    ]
