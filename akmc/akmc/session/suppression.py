"""Allow comments: warnings are dropped on the comment's line and on the next one; errors never are.

An allow that names no rule is an error; one that hides nothing is a warning, unless the document could not be read in
full: then nobody knows what it would have hidden. An error that it names is never hidden, read in full or not.
"""

from __future__ import annotations

from collections.abc import Iterable

from akm_schemas.bounds import ALLOWED_NAMES
from akmc.render.finding import Finding
from akmc_grammar.document import Allow
from akmc_grammar.rules import RULES, Rule, find_rule
from akmc_grammar.suggest import did_you_mean
from akmc_passes.contract import Readable

UNUSED = "unused-allow"
UNKNOWN = "unknown-allowed-rule"


def suppress(findings: Iterable[Finding], document: Readable) -> list[Finding]:
    """The findings of ``document``'s file that its allow comments leave, with findings about the comments themselves."""
    too_many = _too_many(document)
    if too_many is not None:
        return [*findings, too_many]
    name, hiding = document.source.name, _hiding(document.allows)
    used: set[tuple[int, str]] = set()
    left: list[Finding] = []
    for finding in findings:
        hidden_by = [] if finding.path != name else _covering(hiding, finding)
        used.update(hidden_by)
        if not hidden_by:
            left.append(finding)
    about = _unknown(document) + _unused(document, used)
    return left + [finding for finding in about if not _covering(hiding, finding)]


def _too_many(document: Readable) -> Finding | None:
    """What is said when the comments name more rules than anybody means; they hide nothing then."""
    names = 0
    for allow in document.allows:
        names += len(allow.rules)
        if names > ALLOWED_NAMES.high:
            message = f"allow comments name at most {ALLOWED_NAMES.high} rules in a file, and this one passes that"
            help = "leave a rule out everywhere with akmc check --ignore RULE"
            return _finding(document, allow, RULES["bound-exceeded"], message, help)
    return None


def _hiding(allows: tuple[Allow, ...]) -> dict[int, list[tuple[int, str]]]:
    """The (allow, word) pairs that speak of each line."""
    found: dict[int, list[tuple[int, str]]] = {}
    for index, allow in enumerate(allows):
        for line in (allow.line, allow.line + 1):
            found.setdefault(line, []).extend((index, word) for word in allow.rules)
    return found


def _covering(hiding: dict[int, list[tuple[int, str]]], finding: Finding) -> list[tuple[int, str]]:
    """The (allow, word) pairs that hide ``finding``."""
    if finding.rule.severity != "warning":
        return []
    return [(index, word) for index, word in hiding.get(finding.span.line, ()) if find_rule(word) is finding.rule]


def _read_in_full(document: Readable) -> bool:
    return document.ir is not None and not document.poisoned


def _finding(document: Readable, allow: Allow, rule: Rule, message: str, help: str | None) -> Finding:
    return Finding(rule, message, document.source.name, allow.span, help=help, source=document.source)


def _unknown(document: Readable) -> list[Finding]:
    found: list[Finding] = []
    for allow in document.allows:
        for word in allow.rules:
            if find_rule(word) is None:
                help = did_you_mean(word, RULES) or "akmc explain lists the rules"
                found.append(_finding(document, allow, RULES[UNKNOWN], f'there is no rule "{word}"', help))
        if not allow.rules and not allow.misspelt:
            message = "the comment allows nothing: expected a rule name between the brackets"
            found.append(_finding(document, allow, RULES[UNKNOWN], message, "akmc explain lists the rules"))
    return found


def _unused(document: Readable, used: set[tuple[int, str]]) -> list[Finding]:
    found: list[Finding] = []
    certain = _read_in_full(document)
    for index, allow in enumerate(document.allows):
        if allow.misspelt:
            begins = document.source.lines[allow.span.line - 1][allow.span.column - 1]
            message = "this comment allows nothing: it is almost an allow comment"
            help = 'write "# akm: allow[RULE] reason"' if begins == "#" else 'write "<!-- akm: allow[RULE] reason -->"'
            found.append(_finding(document, allow, RULES[UNUSED], message, help))
        for word in allow.rules:
            rule = find_rule(word)
            if rule is None or rule.name == UNUSED or (index, word) in used:
                continue
            if not certain and rule.severity != "error":
                continue
            if rule.severity == "error":
                message, help = f'"{word}" is an error, and errors cannot be allowed', "mend it, and drop the comment"
            else:
                message = f'nothing on this line or the next is "{word}"'
                help = "drop the comment, or move it to the line of the finding or the line above"
            found.append(_finding(document, allow, RULES[UNUSED], message, help))
    return found
