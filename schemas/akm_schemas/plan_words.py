"""Bindings of a plan in words, the same in listings and drawings."""

from __future__ import annotations

from akm_schemas.canonical import canonical_text
from akm_schemas.plan import Binding, EnvRefBinding, InputBinding, LiteralBinding, LiteralInput


def env_binding(binding: Binding) -> str:
    """Where variables come from: a literal, a dotenv file with its keys and secret names, or the environment."""
    if isinstance(binding, LiteralBinding):
        return f"{binding.name} = {canonical_text(binding.value)}"
    if isinstance(binding, EnvRefBinding):
        secrets = f"; secrets {', '.join(binding.secret_names)}" if binding.secret_names else ""
        return f"{binding.ref} ({', '.join(binding.keys) or 'no keys'}{secrets})"
    return f"{binding.name} from the environment"


def input_binding(binding: InputBinding) -> str:
    """A task input or a child's param: its name with a JSON value or the text of a reference."""
    value = canonical_text(binding.value) if isinstance(binding, LiteralInput) else binding.from_.text
    return f"{binding.name} = {value}"
