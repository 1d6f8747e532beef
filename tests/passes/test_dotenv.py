"""Names in dotenv files, as the interpreter will read them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from akm_run.envfile import EnvFileError, parse, secrets_in
from akmc_passes.dotenv import EnvFault, EnvNames, read_env_names


def test_names() -> None:
    text = (
        "# a comment\n\nexport B=1\nA = two words # ${secret:no}\n"
        'Q=\'${secret:literal}\'\nD="one\nTWO=${secret:in-d} \\" x"\nP=${secret:p}/${secret:q}\nA=again'
    )
    assert read_env_names(text) == EnvNames(("A", "B", "D", "P", "Q"), ("in-d", "p", "q"))
    assert read_env_names("") == EnvNames((), ())


@pytest.mark.parametrize(
    ("text", "line"),
    [("A=1\nnonsense\n", 2), ("A='x", 1), ('\nA="x\ny', 2), ("A='x' y", 1), ("1A=x", 1), ("A=${secret:", 1)],
)
def test_faults(text: str, line: int) -> None:
    fault = read_env_names(text)
    assert isinstance(fault, EnvFault)
    assert fault.line == line


@settings(max_examples=100)
@given(st.lists(st.sampled_from(["A", "B=", "export ", " ", "\n", "'", '"', "\\", "#", "${secret:", "s}", "x", "\t"])))
def test_the_interpreter_reads_the_same_names(words: list[str]) -> None:
    text = "".join(words)
    found = read_env_names(text)
    try:
        entries = parse(text, "x.env")
        secrets = {name for entry in entries for name in secrets_in(entry, "x.env")}
    except EnvFileError:
        assert isinstance(found, EnvFault)
        return
    assert found == EnvNames(tuple(sorted({entry.name for entry in entries})), tuple(sorted(secrets)))
