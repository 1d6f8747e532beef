"""The documentation pages of the rules, and what a rule says of itself where it has none.

Pages are ``<name>.md``: in ``docs/rules`` of a checkout, where they are never stale, beside this module in a wheel.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from akmc.faults import CommandFault
from akmc_grammar.rules import RULES, RULES_BY_CODE, Rule, find_rule
from akmc_grammar.suggest import did_you_mean

PACKAGED = "rule_pages"
CHECKOUT = Path("docs", "rules")


def asked_rule(word: str) -> Rule:
    """The rule with that name or code; an unknown one is a usage fault with the nearest."""
    rule = find_rule(word)
    if rule is None:
        hint = did_you_mean(word, [*RULES, *RULES_BY_CODE]) or "akmc explain lists the rules"
        raise CommandFault(f'there is no rule "{word}"', help=hint)
    return rule


def page(rule: Rule) -> str:
    """The rule's page as Markdown, ended by one newline."""
    in_checkout = Path(__file__).resolve().parents[2] / CHECKOUT / f"{rule.name}.md"
    packaged = files("akmc") / PACKAGED / f"{rule.name}.md"
    for found in (in_checkout, packaged):
        if found.is_file():
            return found.read_text(encoding="utf-8").rstrip("\n") + "\n"
    return own_words(rule)


def own_words(rule: Rule) -> str:
    """A short page from the registry row."""
    lines = [
        f"# {rule.name} ({rule.code})",
        "",
        f"Reported for {rule.summary}.",
        "",
        f"* Severity: {rule.severity}",
        f"* Reported by: {rule.owner}",
    ]
    if rule.usage_code is not None:
        lines.append(f"* Usage code: {rule.usage_code}")
    if rule.severity == "warning":
        lines += [
            "",
            f"To accept it in one place, write `# akm: allow[{rule.name}] reason` on the line or the line above.",
        ]
    return "\n".join(lines) + "\n"


def rule_list() -> str:
    """One line per rule, by code: code, name, severity, what it is reported for."""
    width = max(map(len, RULES))
    rows = sorted(RULES.values(), key=lambda rule: rule.code)
    return "".join(f"{rule.code}  {rule.name:<{width}}  {rule.severity:<7}  {rule.summary}\n" for rule in rows)
