"""The rule registry: one row per rule.

Codes are stable and never reused; the page of a rule is ``docs/rules/<name>.md``; ``owner`` is the front end part or
pass that reports it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal

from msgspec import Struct


class Rule(Struct, frozen=True):
    """A kind of finding. ``usage_code`` is the code that machine formats carry beside some rules."""

    code: str
    name: str
    severity: Literal["error", "warning", "note"]
    owner: str
    summary: str
    usage_code: str | None = None


_COMPOSITION = "COMPOSITION_INVALID"
_BINDING = "INPUT_BINDING_INVALID"
_TASK_VERSION = "TASK_SCHEMA_VERSION_UNSUPPORTED"

_ROWS = (
    # files and YAML
    Rule("AKM0101", "missing-frontmatter", "error", "frontmatter", 'the file does not begin with a closed "---" block'),
    Rule("AKM0102", "invalid-yaml", "error", "yaml", "the text is not YAML"),
    Rule("AKM0103", "duplicate-key", "error", "yaml", "a mapping says the same key twice"),
    Rule("AKM0104", "yaml-alias", "error", "yaml_workflow", "an alias where YAML sources allow none"),
    Rule("AKM0105", "yaml-anchor", "error", "yaml_workflow", "an anchor where YAML sources allow none"),
    Rule("AKM0106", "yaml-merge-key", "error", "yaml_workflow", "a merge key where YAML sources allow none"),
    Rule("AKM0107", "yaml-custom-tag", "error", "yaml", "a tag on a value"),
    Rule("AKM0108", "non-json-value", "error", "yaml", "a value that JSON cannot carry"),
    Rule("AKM0109", "unrecognised-extension", "error", "session", "a file whose extension no family admits"),
    Rule("AKM0110", "superseded-format", "error", "frontmatter", "an older workflow format that needs migrating"),
    Rule("AKM0111", "source-not-utf8", "error", "yaml", "the file is not UTF-8 text"),
    Rule("AKM0112", "unreadable-source", "error", "session", "the file cannot be read"),
    Rule("AKM0113", "unnameable-file", "warning", "session", "a file whose name no ref can say"),
    # keys, shapes, values
    Rule("AKM0201", "unknown-key", "error", "frontmatter", "a key that nothing reads"),
    Rule("AKM0202", "removed-key", "error", "frontmatter", "a key of an older format"),
    Rule("AKM0203", "missing-key", "error", "frontmatter", "a required key is absent"),
    Rule("AKM0204", "wrong-type", "error", "frontmatter", "a value of the wrong kind"),
    Rule("AKM0205", "invalid-value", "error", "frontmatter", "a value outside its vocabulary"),
    Rule("AKM0206", "bound-exceeded", "error", "bounds", "a number, length or size outside its bounds"),
    Rule("AKM0207", "invalid-param-name", "error", "frontmatter", "a param or output name that cannot be a name"),
    Rule("AKM0208", "invalid-timeout", "error", "frontmatter", "a timeout that is no duration"),
    Rule("AKM0209", "invalid-engine-name", "error", "frontmatter", "an engine name outside the grammar"),
    Rule("AKM0210", "unknown-retry-reason", "error", "frontmatter", "a retry reason that no unit reports"),
    Rule(
        "AKM0211",
        "param-shadows-option",
        "warning",
        "references",
        "a param that shares its name with an option of akm-run",
    ),
    # steps
    Rule("AKM0301", "invalid-step-id", "error", "frontmatter", "a step id outside the grammar"),
    Rule("AKM0302", "duplicate-step-id", "error", "frontmatter", "two steps with one id"),
    Rule("AKM0303", "step-kind-conflict", "error", "frontmatter", "a step of two kinds"),
    Rule("AKM0304", "exec-engine-conflict", "error", "frontmatter", "an exec unit with engine settings"),
    Rule("AKM0305", "exec-shell-string", "error", "frontmatter", "a command written as one string"),
    Rule("AKM0306", "exec-cwd-escape", "error", "directories", "a working directory outside the tree"),
    Rule(
        "AKM0307", "inherit-env-forbidden", "error", "frontmatter", "an exec unit that asks for the whole environment"
    ),
    # body
    Rule("AKM0401", "unexpected-heading", "error", "body", "a level-2 heading that names no step"),
    Rule("AKM0402", "duplicate-section", "error", "body", "two sections for one step"),
    Rule("AKM0403", "missing-section", "error", "body", "a step without its section"),
    Rule("AKM0404", "empty-section", "error", "body", "a section without instructions"),
    Rule("AKM0405", "duplicate-gate", "error", "body", "two gate headings in one section"),
    Rule("AKM0406", "near-miss-gate", "warning", "body", "a heading that is almost the gate marker"),
    Rule("AKM0407", "inert-gate", "warning", "body", "max_loops without a rubric"),
    Rule("AKM0408", "legacy-marker", "error", "body", "a marker of the classic format"),
    Rule("AKM0409", "setext-heading", "warning", "body", "an underlined heading, which is text here"),
    Rule("AKM0410", "unclosed-fence", "error", "body", "a code fence that never closes and hides sections"),
    Rule("AKM0411", "heading-without-space", "warning", "body", "a heading without a blank after its hashes"),
    Rule("AKM0412", "exec-gate-loops", "warning", "lower", "loops on the gate of a step that never loops"),
    Rule("AKM0413", "merge-conflict", "warning", "body", "a merge that nobody resolved, in the body"),
    # references and routes
    Rule(
        "AKM0501",
        "invalid-reference",
        "error",
        "references",
        "text that is no reference, or a root that is not allowed there",
    ),
    Rule("AKM0502", "unknown-step-reference", "error", "references", "a reference to a step that is not declared"),
    Rule("AKM0503", "forward-reference", "error", "references", "a reference to a later step"),
    Rule("AKM0504", "self-reference", "error", "references", "a reference of a step to itself"),
    Rule("AKM0505", "unknown-param-reference", "error", "references", "a reference to a param that is not declared"),
    Rule("AKM0506", "reference-type-mismatch", "error", "types", "a path that the producer's schema cannot carry"),
    Rule("AKM0507", "route-unknown-target", "error", "route_forward", "a route to a step that is not declared"),
    Rule("AKM0508", "route-backward", "error", "route_forward", "a route to an earlier step"),
    Rule("AKM0509", "route-self", "error", "route_forward", "a route to itself"),
    Rule("AKM0510", "duplicate-route-match", "error", "route_forward", "two branches with one match"),
    Rule("AKM0511", "unreachable-branch", "warning", "types", "a branch that the routed schema never yields"),
    Rule("AKM0512", "non-exhaustive-route", "warning", "types", "a routed value that no branch takes"),
    Rule("AKM0513", "maybe-skipped-reference", "warning", "references", "a reference to a step that a route can skip"),
    Rule("AKM0514", "unreachable-step", "warning", "route_forward", "a step that no route can reach"),
    Rule("AKM0515", "map-output-mismatch", "warning", "types", "an output schema that no collected list satisfies"),
    # schemas
    Rule(
        "AKM0601",
        "schema-unsupported-keyword",
        "error",
        "schema_subset",
        "a JSON Schema keyword outside the enforced subset",
    ),
    Rule("AKM0602", "schema-malformed", "error", "schema_subset", "a schema keyword with a value of the wrong form"),
    Rule(
        "AKM0603",
        "schema-bad-default",
        "error",
        "schema_subset",
        "a default or enum member that its own schema refuses",
    ),
    Rule("AKM0604", "schema-unknown-keyword", "error", "schema_subset", "a word that is no JSON Schema keyword"),
    # GitHub-shaped YAML
    Rule("AKM0701", "multi-job-unsupported", "error", "yaml_workflow", "more or fewer than one job", _COMPOSITION),
    Rule("AKM0702", "unsupported-service-event", "error", "yaml_workflow", "an event that nothing here listens to"),
    Rule("AKM0703", "workflow-dispatch-inputs-unsupported", "error", "yaml_workflow", "inputs of workflow_dispatch"),
    Rule("AKM0704", "unsupported-runner", "error", "yaml_workflow", "runs-on other than [self-hosted]"),
    Rule("AKM0705", "step-target-xor", "error", "yaml_workflow", "a step with both or neither of uses and run"),
    Rule("AKM0706", "uses-field-conflict", "error", "yaml_workflow", "a key that does not go with uses"),
    Rule("AKM0707", "run-field-conflict", "error", "yaml_workflow", "a key that does not go with run"),
    Rule("AKM0708", "unsafe-run-token", "error", "yaml_workflow", "a run token that a shell would read"),
    Rule("AKM0709", "unsupported-shell", "error", "yaml_workflow", "a shell that is not in the list"),
    Rule("AKM0710", "working-directory-escape", "error", "directories", "a working directory outside the tree"),
    Rule("AKM0711", "unsupported-github-expression", "error", "yaml_workflow", "an expression of GitHub Actions"),
    Rule("AKM0712", "invalid-cron", "error", "yaml_workflow", "a schedule that is no five-field cron expression"),
    Rule("AKM0713", "docker-action-unsupported", "error", "yaml_workflow", "a docker action"),
    Rule("AKM0714", "local-action-path-unsupported", "error", "yaml_workflow", "a local action"),
    Rule("AKM0715", "remote-action-unsupported", "error", "yaml_workflow", "a remote action"),
    Rule("AKM0716", "non-executable-asset-ref", "error", "yaml_workflow", "an asset that cannot be run"),
    Rule("AKM0717", "unsupported-uses-target", "error", "yaml_workflow", "a uses target that is no asset ref"),
    # assets and composition
    Rule("AKM0801", "unresolved-ref", "error", "resolve", "a ref that names no file"),
    Rule("AKM0802", "ref-escapes-bundle", "error", "resolve", "a ref that leaves its bundle"),
    Rule("AKM0803", "ambiguous-ref", "warning", "resolve", "a ref that two files answer to"),
    Rule("AKM0804", "composition-cycle", "error", "composition", "workflows that compose each other", _COMPOSITION),
    Rule(
        "AKM0805", "composition-depth", "error", "composition", "a composition deeper than eight levels", _COMPOSITION
    ),
    Rule("AKM0806", "composition-bytes", "error", "composition", "embedded plans beyond the byte limit", _COMPOSITION),
    Rule(
        "AKM0807",
        "child-output-unknown",
        "error",
        "bindings",
        "a reference to an export that the child lacks",
        _COMPOSITION,
    ),
    Rule("AKM0808", "input-binding-invalid", "error", "bindings", "a binding that the target does not take", _BINDING),
    Rule("AKM0809", "composition-invalid", "error", "composition", "a composition that cannot be", _COMPOSITION),
    Rule("AKM0810", "task-schema-version", "error", "task", "a task of another schema version", _TASK_VERSION),
    Rule("AKM0811", "task-invalid", "error", "task", "a task of the wrong shape"),
    # freezing
    Rule("AKM0901", "plan-bytes", "error", "lower", "a plan above its byte limit"),
    Rule("AKM0902", "no-engine", "error", "engines", "a step without an engine"),
    Rule("AKM0903", "no-judge-engine", "error", "engines", "a rubric without a judge"),
    Rule("AKM0904", "llm-on-agent-engine", "error", "engines", "llm tuning on an agent engine"),
    Rule("AKM0905", "unknown-engine", "error", "engines", "an engine that the config does not have"),
    Rule("AKM0906", "model-alias-gap", "error", "engines", "a model alias without a column for the engine"),
    Rule("AKM0907", "env-unresolved", "error", "environment", "an env ref that names no env file"),
    Rule("AKM0908", "source-changed-during-freeze", "error", "session", "a source that changed while it was frozen"),
    Rule("AKM0909", "config-too-large", "error", "lower", "a config that adds too much to the plan"),
    Rule("AKM0910", "env-on-llm-engine", "error", "engines", "env on an engine that cannot carry it"),
    Rule("AKM0911", "unknown-config-engine", "error", "engines", "a config that names an engine it does not have"),
    # suppression
    Rule("AKM0001", "unknown-allowed-rule", "error", "suppression", "an allow comment that names no rule"),
    Rule("AKM0002", "unused-allow", "warning", "suppression", "an allow comment that hides nothing"),
)

RULES: MappingProxyType[str, Rule] = MappingProxyType({rule.name: rule for rule in _ROWS})
RULES_BY_CODE: MappingProxyType[str, Rule] = MappingProxyType({rule.code: rule for rule in _ROWS})


def find_rule(name_or_code: str) -> Rule | None:
    """The rule with that name or code, or ``None``."""
    return RULES.get(name_or_code) or RULES_BY_CODE.get(name_or_code.upper())
