"""What a ``uses`` may name."""

from __future__ import annotations

import pytest

from akmc_grammar.uses_target import refuse_target


@pytest.mark.parametrize(
    "text",
    [
        "akm/command",
        "commands/x",
        "scripts/a/b.sh",
        "tasks/t_1",
        "workflows/x.y",
        "team//workflows/x",
        "a.b//scripts/0",
    ],
)
def test_targets(text: str) -> None:
    assert refuse_target(text) is None


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("docker://alpine:3", "docker-action-unsupported"),
        ("./tools/lint", "local-action-path-unsupported"),
        ("../tools", "local-action-path-unsupported"),
        ("/opt/x", "local-action-path-unsupported"),
        (".\\tools", "local-action-path-unsupported"),
        ("acme/setup@v4", "remote-action-unsupported"),
        ("acme/setup/deep/path@main", "remote-action-unsupported"),
        ("scripts/x.sh@v1", "remote-action-unsupported"),
        ("agents/reviewer", "non-executable-asset-ref"),
        ("team//agents/reviewer", "non-executable-asset-ref"),
        ("env/ci", "non-executable-asset-ref"),
        ("skills/x", "non-executable-asset-ref"),
        ("scripts/../x.sh", "ref-escapes-bundle"),
        ("team//workflows/a/../../b", "ref-escapes-bundle"),
        ("scripts/..", "ref-escapes-bundle"),
        ("lint", "unsupported-uses-target"),
        ("", "unsupported-uses-target"),
        ("workflows/", "unsupported-uses-target"),
        ("workflows//x", "unsupported-uses-target"),
        ("Workflows/x", "unsupported-uses-target"),
        ("workflows/x ", "unsupported-uses-target"),
        ("workflows/x\n", "unsupported-uses-target"),
        ("akm/other", "unsupported-uses-target"),
        ("https://example.org/x", "unsupported-uses-target"),
    ],
)
def test_everything_else_is_refused_with_its_own_reason(text: str, rule: str) -> None:
    refused = refuse_target(text)
    assert refused is not None and refused.rule == rule
    assert refused.help
