"""``--select`` and ``--ignore``: which rules are reported."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from akmc.faults import CommandFault
from akmc.render.finding import Finding
from akmc_grammar.rules import RULES, find_rule
from akmc_grammar.suggest import did_you_mean


class Selection(Struct, frozen=True):
    """Rule names; ``select`` ``None`` means all. What is ignored is left out even when it is selected."""

    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()

    @classmethod
    def of(cls, select: Iterable[str], ignore: Iterable[str]) -> Selection:
        """From the options as written: names or codes, several per option with commas between them."""
        selected = _names(select, "--select")
        return cls(selected or None, _names(ignore, "--ignore"))

    def keeps(self, finding: Finding) -> bool:
        """Whether ``finding`` is reported."""
        name = finding.rule.name
        return (self.select is None or name in self.select) and name not in self.ignore


def _names(words: Iterable[str], option: str) -> frozenset[str]:
    found: set[str] = set()
    for word in (part.strip() for entry in words for part in entry.split(",")):
        if not word:
            continue
        rule = find_rule(word)
        if rule is None:
            hint = did_you_mean(word, RULES) or "akmc explain lists the rules"
            raise CommandFault(f'{option}: there is no rule "{word}"', help=hint)
        found.add(rule.name)
    return frozenset(found)
