"""The fuzz targets of ``fuzz/`` in small: every seed of the corpus, and a fixed number of fresh inputs each."""

from __future__ import annotations

import os

import cover
import pytest
from run import CORPUS, seeds, tried
from targets import TARGETS

LONG = os.environ.get("AKMC_HYPOTHESIS") == "long"


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_nothing_is_found(name: str) -> None:
    target = TARGETS[name]
    tried(target, target.examples * (20 if LONG else 1))


def test_every_seed_belongs_to_a_target_of_bytes() -> None:
    kinds = {target.seeds for target in TARGETS.values() if target.seeds}
    assert {path.name for path in CORPUS.iterdir()} == kinds
    assert all(seeds(target) for target in TARGETS.values() if target.seeds)


@pytest.mark.parametrize("name", sorted(cover.TARGETS))
def test_what_the_coverage_guided_fuzzer_begins_with_is_read(name: str) -> None:
    beginnings = cover.beginnings(name)
    assert len(beginnings) > 3
    for data in beginnings:
        cover.TARGETS[name][0](data)
