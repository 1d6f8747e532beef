"""The documentation can be found: every page is linked, every relative link and anchor leads somewhere, decisions have an
index."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
DECISIONS = DOCS / "decisions"
PAGES = [
    *(ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / ".github" / "SECURITY.md"),
    *sorted(ROOT.glob("[!.]*/README.md")),
    *sorted(path for folder in (DOCS, DECISIONS, DOCS / "rules") for path in folder.glob("*.md")),
]
HEAD = """\
# Decisions

One page for each choice that a newcomer would question: context, choice, consequences. Areas were given blocks of
numbers; a number that is missing was never used, and none is used twice. This list is written by the tests.

"""


def prose(page: Path) -> str:
    """A page without its fenced code."""
    return re.sub(r"^(`{3,}).*?^\1`*$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def links(page: Path) -> set[Path]:
    """Where the relative links of a page lead; code is no link."""
    return {file for file, _ in places(page)}


def places(page: Path) -> set[tuple[Path, str]]:
    """The relative links of a page: file, and the anchor in it, empty without one."""
    found = re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?", re.sub(r"`[^`\n]*`", "", prose(page)))
    return {
        ((page.parent / target).resolve() if target else page, anchor)
        for target, anchor in found
        if not target.startswith(("http:", "https:", "mailto:"))
    }


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives a page's headings: lower-case, blanks as dashes, punctuation dropped."""
    headings = re.findall(r"^#{1,6} (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def decisions() -> list[Path]:
    return sorted(path for path in DECISIONS.glob("*.md") if path.name != "README.md")


def test_every_page_has_a_line_of_its_own_in_the_index() -> None:
    lines = (DOCS / "README.md").read_text().splitlines()
    for page in DOCS.glob("*.md"):
        if page.name != "README.md":
            (line,) = (line for line in lines if f"]({page.name})" in line)
            assert line.split("|")[-2].strip(), f"{page.name}: say what it is about"


def test_every_page_is_in_the_index() -> None:
    found = links(DOCS / "README.md")
    assert {page.name for page in DOCS.glob("*.md") if page.name != "README.md" and page not in found} == set()
    assert DECISIONS / "README.md" in found
    assert DOCS / "README.md" in links(ROOT / "README.md")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    assert {target for target in links(page) if not target.exists()} == set()
    to_headings = {(target, anchor) for target, anchor in places(page) if anchor and target.suffix == ".md"}
    assert {(target.name, anchor) for target, anchor in to_headings if anchor not in anchors(target)} == set()


def test_links_and_anchors_are_read_as_they_are_on_a_forge(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text("# One `two`: three\n[x](b.md#four) `[no](c.md)` [y](#one-two-three)\n```sh\n# [no](d.md)\n```\n")
    assert places(page) == {(tmp_path / "b.md", "four"), (page, "one-two-three")}
    assert anchors(page) == {"one-two-three"}


def test_installing_is_said_in_one_way() -> None:
    """Nothing is published and no tag is there: a page that names either would send its readers nowhere."""
    for page in (ROOT / "README.md", *DOCS.glob("*.md")):
        text = page.read_text()
        assert "pip install akmc" not in text, page.name
        assert set(re.findall(r"^ +rev: (\S+)", text, re.MULTILINE)) <= {"REVISION"}, page.name
        assert set(re.findall(r"github\.com/(\w+)/akmc", text)) <= {"OWNER"}, page.name
        if "OWNER" in text and page.name != "ci.md":
            assert "](ci.md#what-to-install)" in text, page.name


def test_decisions_have_an_index_and_numbers_of_their_own() -> None:
    rows = []
    for path in decisions():
        title = path.read_text().splitlines()[0]
        number = int(path.name[:4])
        assert title.startswith(f"# {number}. "), path.name
        rows.append(f"* [{number}]({path.name}) {title.partition('. ')[2]}")
    numbers = [path.name[:4] for path in decisions()]
    assert len(set(numbers)) == len(numbers)
    index, page = DECISIONS / "README.md", HEAD + "\n".join(rows) + "\n"
    if os.environ.get("AKMC_UPDATE_GOLDEN"):
        index.write_text(page)
    assert index.read_text() == page, "run it with AKMC_UPDATE_GOLDEN=1 and read the diff"
