"""``akmc explain``."""

from __future__ import annotations

import pytest

from akmc.cli import run
from akmc.rule_pages import own_words
from akmc_grammar.rules import RULES


@pytest.mark.parametrize("rule", sorted(RULES))
def test_every_rule_explains_itself_by_name_and_code(rule: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", rule]) == 0
    by_name = capfd.readouterr().out
    assert run(["explain", RULES[rule].code]) == 0
    assert capfd.readouterr().out == by_name
    assert rule in by_name and RULES[rule].code in by_name


def test_the_list_has_one_line_per_rule(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["explain"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines] == sorted(
        [rule.code, rule.name, rule.severity] for rule in RULES.values()
    )


def test_an_unknown_rule_names_the_nearest(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "unexpected-headin"]) == 2
    captured = capfd.readouterr()
    assert captured.out == "" and 'did you mean "unexpected-heading"?' in captured.err


def test_a_rule_without_a_page_speaks_from_its_row() -> None:
    assert own_words(RULES["inert-gate"]) == (
        "# inert-gate (AKM0407)\n\nReported for max_loops without a rubric.\n\n"
        "* Severity: warning\n* Reported by: body\n\n"
        "To accept it in one place, write `# akm: allow[inert-gate] reason` on the line or the line above.\n"
    )
    assert "* Usage code: COMPOSITION_INVALID" in own_words(RULES["composition-cycle"])
