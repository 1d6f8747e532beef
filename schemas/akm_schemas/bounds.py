"""Every limit of the language, the plan and the interpreter, in one table.

Parser, published schemas, plan decoder and docs read it; no other module spells a limit.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from akm_schemas.counting import counted

KIB: Final = 1024
MIB: Final = 1024 * 1024
SAFE_INTEGER: Final = 2**53


class Bound(Struct, frozen=True):
    """An inclusive range; ``unit`` says what is counted (bytes, items, ms, ...)."""

    name: str
    low: int
    high: int
    unit: str

    def holds(self, value: float) -> bool:
        """Whether ``value`` lies in the range."""
        return self.low <= value <= self.high

    def says(self) -> str:
        """The range as words for a message: ``1 to 64 items``."""
        return f"{self.low} to {self.high} {self.unit}".rstrip()

    def counts(self, found: int) -> str:
        """``found`` as words for a message: ``65 items``, ``1 item``; units of measure have no plural."""
        if self.unit in ("", "ms"):
            return f"{found} {self.unit}".rstrip()
        one = "branch" if self.unit == "branches" else self.unit.removesuffix("s")
        return counted(found, one, self.unit)


SOURCE_BYTES: Final = Bound("source", 0, 1 * MIB, "bytes")
YAML_DEPTH_MARKDOWN: Final = Bound("YAML depth in frontmatter", 0, 64, "levels")
YAML_DEPTH_YAML: Final = Bound("YAML depth", 0, 32, "levels")
YAML_NODES: Final = Bound("YAML nodes", 0, 20_000, "nodes")
BODY_MARKS: Final = Bound("headings in a body", 0, 10_000, "headings")
ALLOWED_NAMES: Final = Bound("rules named by allow comments", 0, 500, "names")
STEPS: Final = Bound("steps", 1, 256, "steps")
PARAMS: Final = Bound("params", 0, 128, "params")
OUTPUTS: Final = Bound("outputs", 0, 64, "outputs")
INPUTS: Final = Bound("inputs", 1, 64, "references")
BRANCHES: Final = Bound("route.when", 1, 256, "branches")
INSTRUCTION_BYTES: Final = Bound("instructions", 1, 256 * KIB, "bytes")
RUBRIC_BYTES: Final = Bound("rubric", 0, 256 * KIB, "bytes")
SCHEMA_BYTES: Final = Bound("schema", 0, 256 * KIB, "bytes")
SCHEMA_DEPTH: Final = Bound("schema nesting", 0, 64, "levels")
SCHEMA_CHECKS: Final = Bound("schema checks", 0, 100_000, "checks")
SCHEMA_ERRORS: Final = Bound("schema errors", 0, 50, "errors")
EXTRA_PARAMS_BYTES: Final = Bound("extra_params", 0, 64 * KIB, "bytes")
MAX_UNITS: Final = Bound("budget.max_units", 1, 10_000, "")
MAX_TOKENS: Final = Bound("budget.max_tokens", 1, SAFE_INTEGER, "")
MAX_LOOPS: Final = Bound("gate.max_loops", 1, 100, "")
RETRY_MAX: Final = Bound("retry.max", 0, 100, "")
CONCURRENCY: Final = Bound("concurrency", 1, 64, "")
MAP_ITEMS: Final = Bound("map expansion", 0, 10_000, "items")
RUN_UNITS: Final = Bound("lifetime units of a run", 0, 10_000, "units")
TIMEOUT_MS: Final = Bound("timeout", 1, 2_147_483_647, "ms")
ENGINE_NAME: Final = Bound("engine name", 1, 63, "characters")
PARAM_NAME: Final = Bound("param name", 1, 128, "characters")
ARGV_WORDS: Final = Bound("exec.command", 1, 64, "words")
ARGV_WORD_BYTES: Final = Bound("exec.command word", 1, 4096, "bytes")
CWD_LENGTH: Final = Bound("exec.cwd", 1, 1024, "characters")
PASS_ENV: Final = Bound("exec.pass_env", 1, 32, "names")
MODEL_LENGTH: Final = Bound("model", 1, 4096, "characters")
ENV_REFS: Final = Bound("env", 1, 64, "refs")
SCRIPT_BYTES: Final = Bound("script", 0, 256 * KIB, "bytes")
ENV_FILE_BYTES: Final = Bound("env file", 0, 1 * MIB, "bytes")
SECRET_BYTES: Final = Bound("secret", 0, 1 * MIB, "bytes")  # no system takes more in a variable
PLAN_BYTES: Final = Bound("plan", 0, 2 * MIB, "bytes")
PLAN_BYTES_UNFROZEN: Final = Bound("plan without engines", 0, 7 * MIB // 4, "bytes")
# pretty twins and embedded children weigh more than a plan's own canonical bytes
READ_BYTES: Final = Bound("a plan file, or standard input of akmc", 0, 8 * MIB, "bytes")
PARAMS_FILE_BYTES: Final = Bound("a file of params", 0, 256 * MIB, "bytes")
CONFIG_FILE_BYTES: Final = Bound("a config file", 0, 16 * MIB, "bytes")
INDEX_BYTES: Final = Bound("the index of state files", 0, 16 * MIB, "bytes")
LOCK_BYTES: Final = Bound("who holds a lock", 0, 4 * KIB, "bytes")
RECORDING_BYTES: Final = Bound("one recording", 0, 64 * MIB, "bytes")
CONFIG_BYTES_FROZEN: Final = Bound("what config adds to a plan", 0, 256 * KIB, "bytes")
CHILD_BYTES: Final = Bound("embedded child plans", 0, 1 * MIB, "bytes")
COMPOSITION_DEPTH: Final = Bound("composition depth", 0, 8, "levels")
SCHEDULES: Final = Bound("schedule", 1, 64, "entries")
DIAGNOSTICS_PER_FILE: Final = Bound("diagnostics per file", 0, 50, "diagnostics")
STDOUT_BYTES: Final = Bound("kept output of a stream", 0, 8 * MIB, "bytes")
STRICT_JSON_DEPTH: Final = Bound("nesting of a JSON answer", 0, 512, "levels")
RESULT_INLINE_BYTES: Final = Bound("result kept in its row", 0, 1 * MIB, "bytes")
DIAGNOSTIC_CHARS: Final = Bound("diagnostic", 0, 2000, "characters")
STDERR_TAIL_CHARS: Final = Bound("stderr kept in a diagnostic", 0, 1500, "characters")
JUDGE_ARTIFACT_CHARS: Final = Bound("artifact shown to a judge", 0, 4000, "characters")
REPORT_RUNS: Final = Bound("runs shown whole in a report", 1, 100, "runs")
REPORT_ATTEMPTS: Final = Bound("attempts in a report", 0, 20_000, "attempts")
REPORT_TEXT_BYTES: Final = Bound("a text of an attempt in a report", 512, 16 * KIB, "bytes")
REPORT_TEXTS_BYTES: Final = Bound("all texts of attempts in a report", 0, 24 * MIB, "bytes")
REPORT_VALUE_BYTES: Final = Bound("any other value in a report", 0, 8 * KIB, "bytes")
CONTEXT_VARIABLE_BYTES: Final = Bound("one context variable (POSIX)", 0, 98_304, "bytes")
CONTEXT_TOTAL_BYTES: Final = Bound("all context variables (POSIX)", 0, 131_072, "bytes")
CONTEXT_VARIABLE_BYTES_WINDOWS: Final = Bound("one context variable (Windows)", 0, 32_767, "characters")
CONTEXT_TOTAL_BYTES_WINDOWS: Final = Bound("all context variables (Windows)", 0, 64_000, "characters")

RETRY_REASONS: Final = (
    "timeout",
    "spawn_failed",
    "non_zero_exit",
    "parse_error",
    "cooldown",
    "llm_rate_limit",
    "llm_content_filter",
    "llm_invalid_json",
    "content_policy_reject",
    "unsupported_type",
    "no_change",
    "aborted",
    "llm_http_error",
    "llm_unreachable",
)
