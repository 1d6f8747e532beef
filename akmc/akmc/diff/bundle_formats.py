"""Many workflows in the four formats: a headline, then those that changed, the most dangerous first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape

import msgspec
from msgspec import UNSET

from akm_schemas.counting import counted
from akmc.diff.bundle_findings import finding_blocks, finding_lines, finding_parts, shown_findings
from akmc.diff.entries import told
from akmc.diff.html_format import body_parts, page
from akmc.diff.markdown_format import LEAST, Detail, body_blocks, fitting
from akmc.diff.markdown_text import code, escaped
from akmc.diff.model import CLASSES, BundleDiff, PlanDiff, Summary, WorkflowDiff, WorkflowFinding
from akmc.diff.text_format import body_lines, counts
from akmc.render.escape import json_text, visible

_FORMS = 20
_MOST = 200  # workflows with a line of their own in a comment


def bundle_headline(diff: BundleDiff) -> str:
    """``2 breaking, 1 behaviour in 3 of 12 workflows``; what does not freeze comes first."""
    total = len(diff.workflows)
    of_all = counted(total, "workflow")
    status = Counter(row.status for row in diff.workflows)
    changed = [row.diff for row in diff.workflows if row.status != "same" and row.diff is not UNSET]
    broken, before = status["broken"], status["untouched"]
    parts = [f"{broken} of {of_all} {_does(broken)} not freeze"] if broken else []
    if changed:
        parts.append(f"{counts(_added_up(changed))} in {len(changed)} of {of_all}")
    elif diff.equal:
        parts.append(f"no change in {of_all}")
    parts += [f"{before} still {_does(before)} not freeze"] if before else []
    return "; ".join(parts)


def _does(count: int) -> str:
    return "does" if count == 1 else "do"


def _added_up(diffs: Sequence[PlanDiff]) -> Summary:
    said = [told(diff.changes) for diff in diffs]
    return Summary(**{name: sum(getattr(each, name) for each in said) for name in CLASSES})


def bundle_text(diff: BundleDiff, *, color: bool) -> str:
    """As ``text_format``, workflow by workflow."""
    lines = [f"since {visible(diff.base)}: {bundle_headline(diff)}"]
    findings = shown_findings(diff.workflows)
    for row in _ordered(diff.workflows):
        lines += ["", f"== {visible(row.path)}: {_said(row)}", *finding_lines(findings.get(row.path, ()))]
        lines += [] if row.diff is UNSET else body_lines(row.diff, color=color)
    return "\n".join(lines) + "\n"


def bundle_json(diff: BundleDiff) -> str:
    """``{base, equal, workflows, summary}``; see the second form in ``diff.schema.json``."""
    return json_text(msgspec.to_builtins(diff), indent=2) + "\n"


def bundle_markdown(diff: BundleDiff) -> str:
    """One comment for a pull request."""
    head = f"### Workflows since {code(diff.base)}: {bundle_headline(diff)}"
    ordered = _ordered(diff.workflows)
    findings = shown_findings(diff.workflows)
    rows = [row for row in ordered if not _only_form(row) and row.status != "untouched"]
    form = [code(row.path) for row in ordered if _only_form(row)]
    others = f" and {len(form) - _FORMS} more" if len(form) > _FORMS else ""
    foot = [f"No change in behaviour, only in form: {', '.join(form[:_FORMS])}{others}"] if form else []
    before = [code(row.path) for row in ordered if row.status == "untouched"]
    others = f" and {len(before) - _FORMS} more" if len(before) > _FORMS else ""
    foot += [f"Still not freezing, none of their files changed: {', '.join(before[:_FORMS])}{others}"] if before else []

    def text(detail: Detail) -> str:
        shown = rows if detail != LEAST else rows[:_MOST]
        blocks = [block for row in shown for block in _markdown(row, detail, findings)]
        rest = [f"… and {counted(len(rows) - len(shown), 'more workflow')}"] if len(shown) < len(rows) else []
        return "\n\n".join([head, *blocks, *rest, *foot])

    return fitting(text)


def _markdown(row: WorkflowDiff, detail: Detail, findings: dict[str, list[WorkflowFinding]]) -> list[str]:
    title = f"#### {code(row.path)}: {escaped(_said(row))}"
    if row.status == "broken":
        own = findings.get(row.path, [])
        left = len(own) if detail.rows is None else min(detail.rows, len(own))
        rest = [f"… and {counted(len(own) - left, 'more finding')}"] if left < len(own) else []
        return [title, *finding_blocks(own[:left]), *rest]
    return [title] if detail == LEAST or row.diff is UNSET else [title, *body_blocks(row.diff, detail)]


def bundle_html(diff: BundleDiff) -> str:
    """One page."""
    headline = bundle_headline(diff)
    body = [f"<h1>{escape(headline)}</h1>", f"<p>since <code>{escape(visible(diff.base))}</code></p>"]
    findings = shown_findings(diff.workflows)
    for row in _ordered(diff.workflows):
        body.append(f"<h2><code>{escape(visible(row.path))}</code>: {escape(_said(row))}</h2>")
        body += finding_parts(findings.get(row.path, ()))
        body += [] if row.diff is UNSET else body_parts(row.diff)
    return page(f"Workflows since {diff.base}: {headline}", body)


def _said(row: WorkflowDiff) -> str:
    if row.status == "untouched":
        return "still does not freeze; none of its files changed"
    if not isinstance(row.diff, PlanDiff):
        return "does not freeze"
    word = {"added": "new, ", "deleted": "deleted, "}.get(row.status, "")
    return word + counts(told(row.diff.changes))


def _only_form(row: WorkflowDiff) -> bool:
    return isinstance(row.diff, PlanDiff) and all(change.class_ == "provenance" for change in row.diff.changes)


def _ordered(rows: Sequence[WorkflowDiff]) -> list[WorkflowDiff]:
    """Those that are not the same: broken ones, then by the most dangerous class that they have, then by path; what is
    broken as before comes last."""
    return sorted((row for row in rows if row.status != "same"), key=lambda row: (_danger(row), row.path))


def _danger(row: WorkflowDiff) -> int:
    if not isinstance(row.diff, PlanDiff):
        return len(CLASSES) + 1 if row.status == "untouched" else -1
    return next((at for at, name in enumerate(CLASSES) if getattr(row.diff.summary, name)), len(CLASSES))
