"""A draft as the text of a Markdown workflow."""

from __future__ import annotations

from akmc.migrate.model import Draft, code_span
from akmc.migrate.yaml_text import yaml_mapping

KEPT_HEAD = "Kept from the old file, because this format has no place for it:"
TITLES_HEAD = "Steps:"


def emitted(draft: Draft) -> str:
    """The document: frontmatter, title, free prose, one section per step that has prose, a blank line between."""
    parts = [f"---\n{yaml_mapping(draft.frontmatter)}---", f"# {draft.title}"]
    if draft.preamble:
        parts.append(draft.preamble)
    if draft.titles:
        names = "\n".join(f"- {code_span(name)}: {title}" for name, title in draft.titles)
        parts += [TITLES_HEAD, names]
    if draft.kept:
        parts += [KEPT_HEAD, "\n".join(draft.kept)]
    for section in draft.sections:
        if not section.instructions and section.rubric is None:
            continue
        parts.append(f"## {section.step_id}")
        if section.instructions:
            parts.append(section.instructions)
        if section.rubric is not None:
            parts += ["### gate", section.rubric]
    return "\n\n".join(parts) + "\n"
