"""The key table of GitHub-shaped YAML workflows (``workflows/x.yml``)."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from akm_schemas import bounds
from akm_schemas.keys import STEP, Anything, Key, Record, Text

SHELLS: Final = ("bash", "sh", "zsh", "pwsh", "powershell", "cmd")
RUNNER: Final = "self-hosted"
ENV_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
BUILTIN: Final = "akm/command"
DIRECTORY_LENGTH: Final = replace(bounds.CWD_LENGTH, name="working-directory")
EVENTS: Final = ("schedule", "workflow_dispatch")

_ID = STEP.key("id")
assert _ID is not None

YAML_STEP = Record(
    "step",
    (
        _ID,
        Key("name", Text(), "a name for people"),
        Key("uses", Text(), "an asset ref, or akm/command"),
        Key("run", Text(), "one line of plain command words"),
        Key("with", Anything(), "bindings of what uses names"),
        Key("env", Anything(), "environment variables"),
        Key("shell", Text(choices=SHELLS, rule="unsupported-shell"), "the host shell that reads run"),
        Key("working-directory", Text(size=DIRECTORY_LENGTH), "where run starts, relative and contained"),
    ),
)
YAML_JOB = Record(
    "job",
    (
        Key("name", Text(), "a name for people"),
        Key("needs", Anything(), "always empty: there is one job"),
        Key("runs-on", Anything(), "always [self-hosted]", required=True),
        Key("steps", Anything(), "the ordered spine", required=True),
    ),
)
YAML_ROOT = Record(
    "workflow",
    (
        Key("name", Text(), "a name for people", required=True),
        Key("on", Anything(), "when it runs: schedule, workflow_dispatch", required=True),
        Key("jobs", Anything(), "the one job", required=True),
    ),
)
