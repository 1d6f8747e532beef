"""The starter workflow of ``akmc new``."""

from __future__ import annotations

import re
from importlib.resources import files

from akmc.faults import CommandFault

# spec 1, section 1: the segments of a ref
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*")


def workflow_name(word: str) -> str:
    """The name below ``workflows/``; the folder and the extension may be written too."""
    name = word.removeprefix("workflows/").removesuffix(".md").removesuffix(".yml")
    if not _NAME.fullmatch(name) or name.rpartition("/")[2] == "README":
        raise CommandFault(
            f'"{word}" cannot name a workflow',
            help='use letters, digits, "_", "-" and ".", in segments joined by "/", for example team/release',
        )
    return name


def starter_text(name: str, suffix: str) -> str:
    """The starter's text for the workflow ``name``; ``suffix`` is ``.md`` or ``.yml``."""
    text = (files("akmc") / f"starter{suffix}").read_text(encoding="utf-8")
    return text.replace("NAME", name)
