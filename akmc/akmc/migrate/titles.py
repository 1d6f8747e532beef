"""Titles and descriptions of the old formats as the new one has them."""

from __future__ import annotations

import re

from akmc.migrate.protect import without_allow
from akmc_grammar.yaml_tree import Node, Scalar

_PREFIX = "Workflow:"


def heading_text(title: str, fallback: str) -> str:
    """``title`` as the text of an ATX heading: one line, no marker of the classic format, hashes that stay text.

    ``fallback`` stands in for a blank title.
    """
    text = " ".join(title.split()).removeprefix(_PREFIX).lstrip()
    while text.startswith(_PREFIX):
        text = text.removeprefix(_PREFIX).lstrip()
    text = re.sub(r"(?:(?<= )|\A)(#+)\Z", r"\\\1", text)
    return without_allow(text) or fallback


def description_of(node: Node | None, name: str) -> str:
    """The old description, or the name where there is none."""
    text = node.value if isinstance(node, Scalar) and isinstance(node.value, str) else ""
    return text if text.strip() else name
