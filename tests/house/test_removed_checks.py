"""The list of checks that are removed for a trial stands on the code as it is."""

from __future__ import annotations

import pytest
from removed_checks import REMOVALS, ROOT, Removal


@pytest.mark.parametrize("removal", REMOVALS, ids=lambda removal: str(removal.check))
def test_every_check_stands_once_in_its_file_and_its_tests_are_there(removal: Removal) -> None:
    assert (ROOT / removal.file).read_text().count(removal.old) == 1
    assert all((ROOT / path).is_file() for path in removal.tests.split())
