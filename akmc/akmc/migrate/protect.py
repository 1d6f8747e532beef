"""Old prose made safe to stand in a body: nothing in it may read as structure.

In the new format a level-2 heading is a step, ``### gate`` begins a rubric, and what never closes swallows the sections
below. Headings that would be read so go down in level, what is open is closed, and each such change is listed; all
else stays byte for byte. The scanner of the front end itself says what would be read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from akmc.migrate.model import Notes
from akmc.migrate.prose import LineOrigin, Prose
from akmc_grammar.body_binder import GATE
from akmc_grammar.body_scanner import Blocks, Marker, scan_blocks

Role: TypeAlias = Literal["preamble", "section"]

_PROBE: Final = "## probe"
_NEAR_GATES: Final = frozenset({"gate", "gates"})
_OPEN_HTML: Final = ("-->", "?>", "]]>", ">", "</script>")
_HASHES: Final = re.compile("[ ]{0,3}#+")
_ALLOW: Final = re.compile(r"(<!--[ \t]*akm)(:[ \t]*allow\[)")
_STEP_ID: Final = "Step ID:"
_FENCE_RUN: Final = re.compile("`{3,}|~{3,}")


@dataclass(slots=True)
class _Guard:
    """One text on its way; lines keep their numbers, new ones are added at the end only."""

    prose: Prose
    role: Role
    notes: Notes
    lines: list[str]

    def run(self) -> Prose:
        """Mend until nothing is read as structure any more."""
        self.step_id_line()
        for _ in range(len(self.lines) + len(_OPEN_HTML) + 2):
            blocks = scan_blocks([*self.lines, "", _PROBE])
            if not (self.headings(blocks) | self.allows(blocks)):
                if any(marker.line == len(self.lines) + 1 for marker in blocks.headings):
                    break
                self.close(blocks)
        grown = len(self.lines) - len(self.prose.origins)
        end = LineOrigin(self.prose.origins[-1].line, self.prose.origins[-1].column, exact=False)
        return Prose("\n".join(self.lines), (*self.prose.origins, *[end] * grown))

    def headings(self, blocks: Blocks) -> bool:
        """Demote the headings that mean something in a body."""
        changed = False
        for marker in blocks.headings:
            level = None if marker.line >= len(self.lines) else self.safe_level(marker)
            if level is not None:
                match = _HASHES.match(self.lines[marker.line])
                assert match is not None
                hashes = "#" * (level - marker.heading.level)
                self.lines[marker.line] = match[0] + hashes + self.lines[marker.line][match.end() :]
                what = f'the heading "{marker.heading.text}" is now of level {level}: at level {marker.heading.level}'
                self.warn(marker.line, f"{what} it would be read as structure")
                changed = True
        return changed

    def safe_level(self, marker: Marker) -> int | None:
        """The level at which the heading is plain prose; ``None`` when it is already."""
        level, text = marker.heading.level, marker.heading.text
        near = text.rstrip(":.").casefold() in _NEAR_GATES
        if level == 2:
            return 4 if near and self.role == "section" else 3
        if level == 1 and text.startswith("Workflow:"):
            return 3
        return 4 if level == 3 and text == GATE and self.role == "section" else None

    def allows(self, blocks: Blocks) -> bool:
        """A comment that would be read as ours loses its form by one blank."""
        changed = False
        for number in sorted({comment.line for comment in blocks.comments} | blocks.allow_lines):
            if number < len(self.lines) and _ALLOW.search(self.lines[number]):
                self.lines[number] = _ALLOW.sub(r"\1 \2", self.lines[number])
                self.warn(
                    number, "a comment would be read as one that allows a finding: it got a blank before its colon"
                )
                changed = True
        return changed

    def close(self, blocks: Blocks) -> None:
        """End the code fence or HTML block that the text leaves open."""
        opened = blocks.unclosed_fence
        run = None if opened is None else _FENCE_RUN.search(self.lines[opened])
        if opened is not None and run is not None:
            self.end_with(run[0])
            self.warn(opened, "the code fence was never closed: it is closed at the end of the text now")
            return
        for closer in _OPEN_HTML:
            scanned = scan_blocks([*self.lines, closer, "", _PROBE])
            if any(marker.line == len(self.lines) + 2 for marker in scanned.headings):
                self.end_with(closer)
                self.warn(len(self.lines) - 1, f'HTML is left open: "{closer}" closes it at the end of the text now')
                return

    def end_with(self, line: str) -> None:
        """Add a last line, in the place of a blank one that ends the text."""
        if self.lines[-1].strip(" \t"):
            self.lines.append(line)
        else:
            self.lines[-1] = line

    def step_id_line(self) -> None:
        """A section may not begin with the marker of the classic format."""
        first = next((number for number, line in enumerate(self.lines) if line.strip(" \t")), None)
        if self.role == "section" and first is not None and self.lines[first].lstrip().startswith(_STEP_ID):
            self.lines[first] = self.lines[first].replace(_STEP_ID, f"**{_STEP_ID}**", 1)
            self.warn(first, f'the text begins "{_STEP_ID}", which would be read as the old marker: it is bold now')

    def warn(self, number: int, message: str) -> None:
        """Remark on a line."""
        self.notes.warn(self.prose.line_span(number), message)


def protect(prose: Prose, role: Role, notes: Notes) -> Prose:
    """``prose`` as it can stand in a body: a ``section`` (instructions or rubric) or the ``preamble``."""
    return _Guard(prose, role, notes, prose.text.split("\n")).run()


def trimmed(text: str) -> str:
    """Without blank lines at either end, which belong to no text of a body."""
    lines = text.split("\n")
    first, last = 0, len(lines)
    while first < last and not lines[first].strip(" \t"):
        first += 1
    while last > first and not lines[last - 1].strip(" \t"):
        last -= 1
    return "\n".join(lines[first:last])


def without_allow(line: str) -> str:
    """``line`` with every comment that would be read as ours made plain."""
    return _ALLOW.sub(r"\1 \2", line)
