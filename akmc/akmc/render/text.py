"""The text format, in the manner of rustc: message, place, source line, carets, notes with their own places, help."""

from __future__ import annotations

from akmc.render.capped import capped, hidden_line
from akmc.render.escape import visible
from akmc.render.finding import Finding, FoundNote, Report
from akmc.render.snippet import snippet
from akmc.render.style import Style
from akmc_grammar.places import Span
from akmc_grammar.source import SourceText


def render(report: Report, color: bool) -> str:
    """All findings, a blank line after each; at most the cap per file, then one line that says how many are hidden."""
    style = Style(color)
    blocks: list[str] = []
    for path, kept, hidden in capped(report.findings):
        blocks += [finding_text(finding, style) for finding in kept]
        if hidden:
            blocks.append(hidden_line(path, hidden) + "\n")
    return "\n".join(blocks) + ("\n" if blocks else "")


def finding_text(finding: Finding, style: Style) -> str:
    """One finding as a block of lines, each ended by a newline."""
    rule = finding.rule
    placed = [note for note in finding.notes if note.path is not None and note.span is not None]
    gutter = max(_digits(finding.span), *(_digits(note.span) for note in placed if note.span), 1)
    label = style.paint(rule.severity, f"{rule.severity}[{rule.code} {rule.name}]")
    lines = [f"{label}{style.paint('bold', ': ' + visible(finding.message))}"]
    lines += _excerpt(finding.path, finding.span, finding.source, gutter, style, rule.severity)
    lines += [_aside("note", note.message, gutter, style) for note in finding.notes if note not in placed]
    if finding.help:
        lines.append(_aside("help", finding.help, gutter, style))
    for note in placed:
        lines += _note(note, gutter, style)
    return "".join(line + "\n" for line in lines)


def _digits(span: Span | None) -> int:
    return len(str(span.line)) if span is not None else 1


def _aside(kind: str, message: str, gutter: int, style: Style) -> str:
    return f"{' ' * gutter} {style.paint('frame', '=')} {style.paint('bold', kind)}: {visible(message)}"


def _note(note: FoundNote, gutter: int, style: Style) -> list[str]:
    assert note.path is not None and note.span is not None
    head = f"{style.paint('note', 'note')}: {visible(note.message)}"
    return [head, *_excerpt(note.path, note.span, note.source, gutter, style, "note")]


def _excerpt(path: str, span: Span, source: SourceText | None, gutter: int, style: Style, kind: str) -> list[str]:
    """The arrow line, and the source line with its carets where the source is at hand."""
    pad = " " * gutter
    arrow = f"{pad}{style.paint('frame', '-->')} {visible(path)}:{span.line}:{span.column}"
    lines = source.lines if source is not None else []
    if not 1 <= span.line <= len(lines):
        return [arrow]
    part = snippet(lines[span.line - 1], span)
    bar = style.paint("frame", "|")
    number = style.paint("frame", str(span.line).rjust(gutter))
    carets = style.paint(kind, "^" * part.width)
    source_line = f"{number} {bar} {part.text}".rstrip(" ")
    return [arrow, f"{pad} {bar}", source_line, f"{pad} {bar} {' ' * part.start}{carets}"]
