"""The key of an llm engine: read from its variable when it is needed, kept in a header, shown nowhere."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import UNSET, Struct

from akm_run.redaction import SHORTEST, is_scrubbable
from akm_schemas.plan import LlmEngine


class Credential(Struct, frozen=True):
    """The variable that a key comes from, and its value without blanks around it."""

    variable: str
    value: str

    def notices(self) -> tuple[str, ...]:
        """What a person should know about the key; empty for an ordinary one."""
        if is_scrubbable(self.value):
            return ()
        return (f"not redacted, having fewer than {SHORTEST} characters: the value of {self.variable}",)


class CredentialFault(Exception):
    """A key that is not there or that no request can carry; the message names the variable, never the value."""


def credential_of(engine: LlmEngine, environment: Mapping[str, str] = os.environ) -> Credential | None:
    """The engine's key, ``None`` for an engine without one. Raises CredentialFault."""
    if engine.api_key is UNSET:
        return None
    value = environment.get(engine.api_key, "").strip()
    if not value:
        raise CredentialFault(f"not set: {engine.api_key} (engine {engine.name})")
    if not value.isascii() or not value.isprintable():
        raise CredentialFault(f"no API key, having characters that none has: {engine.api_key} (engine {engine.name})")
    return Credential(engine.api_key, value)
