"""Does one schema accept everything that another accepts?

``within(narrow, wide)`` proves inclusion by structure, refutes it by a value that only ``narrow`` accepts, or says
that neither worked. Both verdicts are sound for the enforced subset (spec 1, section 2.4); the third is honest.
"""

from __future__ import annotations

from itertools import islice
from typing import Final, Literal

from msgspec import UNSET, Struct, UnsetType

from akm_schemas.json_types import Json, JsonObject
from akm_schemas.subset_validate import Validator
from akmc.diff.meaning import meaning
from akmc.diff.proof import proved
from akmc.diff.witness import candidates

_MAX_CANDIDATES: Final = 2_000


class Inclusion(Struct, frozen=True):
    """``witness`` is a value that ``narrow`` accepts and ``wide`` refuses, when ``verdict`` is ``refuted``."""

    verdict: Literal["proved", "refuted", "unknown"]
    witness: Json | UnsetType = UNSET


def within(narrow: JsonObject, wide: JsonObject) -> Inclusion:
    """Whether every value that ``narrow`` accepts is accepted by ``wide``."""
    validator = Validator()
    if proved(meaning(narrow), meaning(wide), validator):
        return Inclusion("proved")
    for value in islice(candidates(narrow, wide, validator), _MAX_CANDIDATES):
        if validator.accepts(narrow, value) and not validator.accepts(wide, value):
            return Inclusion("refuted", value)
    return Inclusion("unknown")
