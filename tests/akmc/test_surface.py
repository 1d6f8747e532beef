"""``akmc surface``: nothing that a plan can touch is left out."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import Any

import pytest

from akm_schemas import config_keys
from akm_schemas.decode import decode_plan
from akm_schemas.plan import AgentEngine
from akmc.cli import run
from akmc.surface import PLATFORM_PROGRAMS, SECTIONS, surface_of

PLANS = pathlib.Path(__file__).resolve().parents[1] / "golden" / "plans"
Capture = pytest.CaptureFixture[str]


def rows(name: str) -> dict[str, list[tuple[str, str, str]]]:
    plan = decode_plan((PLANS / name / "plan.json").read_bytes())
    return {
        section: [(row.name, row.detail, " ".join(row.steps)) for row in found]
        for section, found in surface_of(plan).items()
    }


def test_everything_of_a_composed_plan() -> None:
    found = rows("composed")
    assert list(found) == list(SECTIONS)
    assert [row for row in found["programs"] if "script" not in row[1]] == [
        ("bash", 'exec ["bash","-c","make most"]', "shelled"),
        ("claude", "prompt on engine coder (claude)", "briefed"),
        ("ls", 'exec ["ls","-1"]', "kid/look wrapped/look"),
        ("make", 'exec ["make","-j4","all"]', "plain"),
        ("make", 'exec ["make","docs"]', "built"),
    ]
    (script,) = [row for row in found["programs"] if "script" in row[1]]
    assert script[0] == "sh" and script[1].startswith("script scripts/list.sh (sha256 ") and script[2] == "listing"
    assert found["variables"] == [
        ("LC_ALL", 'set to "C"', "listing"),
        ("LEVEL", "set by env/ci", "kid/look wrapped/look"),
        ("LEVEL", 'set to "3"', "plain"),
        ("MODE", 'set to "fast"', "plain"),
        ("SERVICE_TOKEN", "handed on and scrubbed", "briefed"),
        ("TOKEN", "set by env/ci", "kid/look wrapped/look"),
    ]
    assert found["secretNames"] == [("token", "read for env/ci", "kid/look wrapped/look")]
    assert [(name, steps) for name, detail, steps in found["endpoints"] if "judge" in detail] == [
        ("http://[::1]:8080/v1/chat/completions", "kid/judge wrapped/judge")
    ]
    assert {name for name, _, _ in found["models"]} == {"tiny", "tiny-2"}
    assert found["paths"] == [
        ("docs", "working directory", "built"),
        ("env/ci.env", "env file env/ci", "kid/look wrapped/look"),
        ("src", "working directory", "plain"),
    ]
    assert [(name, steps) for name, _, steps in found["children"]] == [
        ("workflows/parts/kid", "kid"),
        ("workflows/parts/kid", "wrapped"),
    ]


def test_agents_and_judges() -> None:
    found = rows("agents")
    assert [row[0] for row in found["programs"]] == [
        "claude",
        "claude",
        "codex",
        "gemini-cli",
        "git",
        "opencode",
        "opencode",
    ]
    assert ("BACK_KEY", "credential of engine back", "five") in found["variables"]
    endpoint = "https://api.example.com/v1/chat/completions"
    assert found["endpoints"] == [(endpoint, "prompt behind engine sdk on engine back", "five")]
    assert ("sub/dir", "workspace of engine codex", "two") in found["paths"]
    assert (".", "a git worktree of its own", "one") in found["paths"]
    spine = rows("spine")
    assert spine["endpoints"] == spine["models"] == spine["children"] == []
    assert ("ABLE", "handed on to exec", "build") in rows("exec")["variables"]


def texts(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(*(texts(item) for item in inner))


@pytest.mark.parametrize("name", sorted(path.name for path in PLANS.iterdir()))
def test_no_part_that_reaches_outside_is_missing(name: str) -> None:
    """Every text under these members of a plan stands somewhere in what is shown."""
    plan = json.loads((PLANS / name / "plan.json").read_text())
    shown = json.dumps(rows(name), ensure_ascii=False).replace('\\"', '"')
    members = ("command", "cwd", "passEnv", "endpoint", "apiKey", "bin", "args", "workspace", "model", "secretNames")

    def parts(value: Any) -> None:
        if isinstance(value, dict):
            for member in members:
                for text in texts(value.get(member, [])):
                    assert text in shown, (member, text)
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            parts(inner)

    parts(plan)


def test_programs_of_platforms_are_those_that_the_interpreter_starts() -> None:
    from akm_run.dispatch.platforms import platform_of

    assert set(PLATFORM_PROGRAMS) | {"command"} == set(config_keys.PLATFORMS)
    for name, program in PLATFORM_PROGRAMS.items():
        platform = platform_of(AgentEngine(name="x", platform=name))  # type: ignore[arg-type]  # a row of the table
        assert program == platform.PROGRAM


def test_text_and_json(copy_tree: Callable[[pathlib.Path], pathlib.Path], capfd: Capture, monkeypatch: Any) -> None:
    monkeypatch.chdir(copy_tree(PLANS / "exec"))
    assert run(["surface", "plan.json"]) == 0
    text = capfd.readouterr().out
    assert text.startswith("plan workflows/build\ncontentHash: ")
    assert 'programs:\n  make: exec ["make","-j4","all"] [build]\n' in text
    assert "\nendpoints: none\n" in text
    assert run(["surface", "workflows/build.md"]) == 0
    assert capfd.readouterr().out == text
    assert run(["surface", "--format", "json", "plan.json"]) == 0
    shown = json.loads(capfd.readouterr().out)
    assert shown["ref"] == "workflows/build" and set(SECTIONS) < set(shown)
    assert shown["programs"] == [{"name": "make", "detail": 'exec ["make","-j4","all"]', "steps": ["build"]}]
    assert run(["surface", "absent.json"]) == 2
