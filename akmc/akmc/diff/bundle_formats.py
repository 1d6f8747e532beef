"""Many workflows in the four formats: a headline, then those that changed, the most dangerous first."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import msgspec
from msgspec import UNSET

from akmc.diff.html_format import body_parts, page
from akmc.diff.markdown_format import LEAST, Detail, body_blocks, fitting
from akmc.diff.markdown_text import code, escaped
from akmc.diff.model import CLASSES, BundleDiff, PlanDiff, WorkflowDiff
from akmc.diff.text_format import body_lines, counts
from akmc.render.escape import json_text, visible

_FORMS = 20
_MOST = 200  # workflows with a line of their own in a comment


def bundle_headline(diff: BundleDiff) -> str:
    """``2 breaking, 1 behaviour in 3 of 12 workflows``."""
    changed = sum(row.status != "same" for row in diff.workflows)
    total = len(diff.workflows)
    noun = "workflow" if total == 1 else "workflows"
    if diff.equal:
        return f"no change in {total} {noun}"
    broken = sum(row.status == "broken" for row in diff.workflows)
    return f"{counts(diff.summary)} in {changed} of {total} {noun}" + (f", {broken} broken" if broken else "")


def bundle_text(diff: BundleDiff, *, color: bool) -> str:
    """As ``text_format``, workflow by workflow."""
    lines = [f"since {visible(diff.base)}: {bundle_headline(diff)}"]
    for row in _ordered(diff.workflows):
        lines += ["", f"== {visible(row.path)}: {_said(row)}"]
        lines += [] if row.diff is UNSET else body_lines(row.diff, color=color)
    return "\n".join(lines) + "\n"


def bundle_json(diff: BundleDiff) -> str:
    """``{base, equal, workflows, summary}``; see the second form in ``diff.schema.json``."""
    return json_text(msgspec.to_builtins(diff), indent=2) + "\n"


def bundle_markdown(diff: BundleDiff) -> str:
    """One comment for a pull request."""
    head = f"### Workflows since {code(diff.base)}: {bundle_headline(diff)}"
    ordered = _ordered(diff.workflows)
    rows = [row for row in ordered if not _only_form(row)]
    form = [code(row.path) for row in ordered if _only_form(row)]
    others = f" and {len(form) - _FORMS} more" if len(form) > _FORMS else ""
    foot = [f"No change in behaviour, only in form: {', '.join(form[:_FORMS])}{others}"] if form else []

    def text(detail: Detail) -> str:
        shown = rows if detail != LEAST else rows[:_MOST]
        blocks = [block for row in shown for block in _markdown(row, detail)]
        rest = [f"… and {len(rows) - len(shown)} more workflows"] if len(shown) < len(rows) else []
        return "\n\n".join([head, *blocks, *rest, *foot])

    return fitting(text)


def _markdown(row: WorkflowDiff, detail: Detail) -> list[str]:
    title = f"#### {code(row.path)}: {escaped(_said(row))}"
    return [title] if detail == LEAST or row.diff is UNSET else [title, *body_blocks(row.diff, detail)]


def bundle_html(diff: BundleDiff) -> str:
    """One page."""
    headline = bundle_headline(diff)
    body = [f"<h1>{escape(headline)}</h1>", f"<p>since <code>{escape(visible(diff.base))}</code></p>"]
    for row in _ordered(diff.workflows):
        body.append(f"<h2><code>{escape(visible(row.path))}</code>: {escape(_said(row))}</h2>")
        body += [] if row.diff is UNSET else body_parts(row.diff)
    return page(f"Workflows since {diff.base}: {headline}", body)


def _said(row: WorkflowDiff) -> str:
    if row.status == "broken" or not isinstance(row.diff, PlanDiff):
        return "does not freeze"
    word = {"added": "new, ", "deleted": "deleted, "}.get(row.status, "")
    return word + counts(row.diff.summary)


def _only_form(row: WorkflowDiff) -> bool:
    return isinstance(row.diff, PlanDiff) and all(change.class_ == "provenance" for change in row.diff.changes)


def _ordered(rows: Sequence[WorkflowDiff]) -> list[WorkflowDiff]:
    """Those that are not the same: broken ones, then by the most dangerous class that they have, then by path."""
    return sorted((row for row in rows if row.status != "same"), key=lambda row: (_danger(row), row.path))


def _danger(row: WorkflowDiff) -> int:
    if not isinstance(row.diff, PlanDiff):
        return -1
    return next((at for at, name in enumerate(CLASSES) if getattr(row.diff.summary, name)), len(CLASSES))
