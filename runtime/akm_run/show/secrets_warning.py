"""Params that look like secrets: a warning with the path, never the value, never a refusal (spec 3, section 1)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from akm_schemas.json_types import Json, JsonObject

_WORDS: Final = ("token", "password", "secret", "apikey", "credential")
_PREFIXES: Final = (
    *("AKIA", "ASIA", "AIza"),  # Amazon, Google
    *("github_pat_", "gho_", "ghp_", "ghr_", "ghs_", "ghu_", "glpat-"),  # GitHub, GitLab
    *("sk-", "hf_"),  # model providers
    *("sk_live_", "rk_live_", "shpat_", "SG."),  # Stripe, Shopify, SendGrid
    *("xapp-", "xoxa-", "xoxb-", "xoxp-"),  # Slack
    *("dckr_pat_", "dop_v1_", "npm_", "pypi-"),  # Docker, DigitalOcean, npm, PyPI
    "eyJ",  # JSON web tokens
)
_SHORTEST: Final = 20
_WORD: Final = re.compile(
    rf"(?<![A-Za-z0-9])(?:{'|'.join(map(re.escape, _PREFIXES))})[A-Za-z0-9_.+/=-]*[A-Za-z0-9_+/=-]"
)
_BITS_PER_CHARACTER: Final = 3.0


def secret_warnings(params: JsonObject) -> list[str]:
    """One warning per param that holds something that looks like a secret."""
    warnings = []
    for name, value in params.items():
        path = next(_suspects(name, value, f"params.{name}"), None)
        if path is not None:
            warnings.append(
                f"{path} looks like a secret: params are stored and shown as they are; bind secrets with `env` instead"
            )
    return warnings


def looks_secret(name: str, value: Json) -> bool:
    """Whether the member ``name`` of an object, or a text in itself, looks like a secret."""
    plain = re.sub(r"[^a-z0-9]", "", name.lower())
    return any(word in plain for word in _WORDS) or (isinstance(value, str) and _is_token(value))


def token_words(text: str) -> Iterator[str]:
    """The words of ``text`` that look like tokens by prefix, length and entropy, whatever quotes or brackets them."""
    for found in _WORD.finditer(text):
        if _is_token(found[0]):
            yield found[0]


def is_count_of_tokens(name: str, value: Json) -> bool:
    """Whether a member is a budget or a usage, such as ``max_tokens: 4000``: a whole number of what models read."""
    *before, last = re.findall(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+", name) or [""]
    counted = isinstance(value, int) and not isinstance(value, bool)
    return counted and last.lower() == "tokens" and not looks_secret("".join(before), value)


def _suspects(key: str, value: Json, path: str) -> Iterator[str]:
    if looks_secret(key, value):
        yield path
    match value:
        case dict():
            for name, child in value.items():
                yield from _suspects(name, child, f"{path}.{name}")
        case list():
            for index, child in enumerate(value):
                yield from _suspects("", child, f"{path}[{index}]")


def _is_token(text: str) -> bool:
    if len(text) < _SHORTEST or not text.startswith(_PREFIXES) or re.search(r"\s", text):
        return False
    counts = Counter(text)
    entropy = -sum(count / len(text) * math.log2(count / len(text)) for count in counts.values())
    return entropy >= _BITS_PER_CHARACTER
