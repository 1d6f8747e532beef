"""Prose, ids and outputs are text in every kind of markup: nothing of them becomes an element, a link or a command."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Final
from xml.etree import ElementTree

import pytest
from in_process import folder_with, run

from akmc.commands import check, diff, graph, show, surface

ATTACK: Final = (
    "</script><script>alert(1)</script><img src=x onerror=alert(1)><a href='javascript:alert(1)'>x</a>"
    '"><svg onload=alert(1)>--><![CDATA[x]]>&lt;b&gt; [x](javascript:alert(1)) ![x](http://evil/x.png) | x |\n'
    'click a href "javascript:alert(1)"\n%%{init: {"securityLevel": "loose"}}%%\n::error::x\n=HYPERLINK("http://evil","x")'
)
LINE: Final = ATTACK.replace("\n", " ")
FOUND_IN_PROSE: Final = ("unit: {exec: {command: [", "]}}")
SOURCE: Final = f"""---
description: {json.dumps(LINE)}
params: {{p: {{type: string, default: {json.dumps(LINE)}, description: {json.dumps(LINE)}}}}}
steps:
  - id: a
    inputs: [params.p]
    unit: {{exec: {{command: [printf, "%s", {json.dumps(LINE)}]}}}}
  - id: r
    route: {{input: params.p, when: [{{match: {json.dumps(LINE)}, step: b}}]}}
  - id: b
    unit: {{exec: {{command: [sh, -c, "cat >&2 <<'E'\\n$AKM_PARAMS\\nE\\nexit 3"]}}, on_error: continue}}
outputs: {{o: {{from: steps.a.output}}}}
---
# {LINE}

{ATTACK}

## a
{ATTACK}

## b
x

### gate
{ATTACK}
"""
CONFIG: Final = (
    b'{"engines": {"j": {"kind": "agent", "platform": "command", "bin": "sh",'
    b' "args": ["-c", "cat >/dev/null; printf %s \'{\\"complete\\": true}\'"]}}, "workflow": {"judgeEngine": "j"}}'
)
HTML_COMMANDS: Final = (
    ("akmc", "graph", "--format", "html", "x.json"),
    ("akmc", "diff", "--format", "html", "x.json", "y.json"),
    ("akm-run", "report", "RUN", "-o", "-"),
)


class Elements(HTMLParser):
    """Collects what could act: elements, attributes, addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.handlers: set[str] = set()
        self.addresses: set[str] = set()
        self.policies: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name.startswith("on"):
                self.handlers.add(name)
            if name in ("href", "src", "action", "formaction", "data", "xlink:href") and value:
                self.addresses.add(value)
        if tag == "meta" and dict(attrs).get("http-equiv") == "Content-Security-Policy":
            self.policies.append(dict(attrs).get("content") or "")


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """The output of each command on the attack, by the command's words."""
    other = SOURCE.replace("alert(1)", "alert(1)+alert(2)").replace(
        "x\n\n### gate", "changed & <b>bold</b>\n\n### gate"
    )
    found: dict[str, str] = {}
    with folder_with({"workflows/x.md": SOURCE.encode(), "workflows/y.md": other.encode(), ".akm/config.json": CONFIG}):
        for name in "xy":
            ended = run("akmc", "compile", f"workflows/{name}.md", "-o", f"{name}.json")
            assert ended.status == 0, ended.text
        run_id = json.loads(run("akm-run", "x.json", "--json").out)["runId"]
        calls = [
            *HTML_COMMANDS,
            *(("akmc", "graph", "--format", form, "x.json") for form in ("svg", "mermaid", "dot")),
            ("akmc", "diff", "--format", "markdown", "x.json", "y.json"),
        ]
        for words in calls:
            ended = run(*(run_id if word == "RUN" else word for word in words))
            assert ended.status == 0, ended.text
            found[" ".join(words)] = ended.out.decode()
    return found


@pytest.mark.parametrize("words", HTML_COMMANDS, ids=" ".join)
def test_html_pages_hold_no_element_of_the_attackers(pages: dict[str, str], words: tuple[str, ...]) -> None:
    text = pages[" ".join(words)]
    elements = Elements()
    elements.feed(text)
    elements.close()
    assert "alert(1)" in text, "the attack is shown, as text"
    assert elements.tags & {"img", "iframe", "object", "embed", "base", "link"} == set()
    assert elements.handlers == set()
    assert {address for address in elements.addresses if not address.startswith("#")} == set()
    assert len(elements.policies) == 1 and "default-src 'none'" in elements.policies[0]
    for kind, script in re.findall(r"<script([^>]*)>(.*?)</script>", text, re.S):
        if "application/json" in kind:
            assert not set(script) & set("<>&"), "an island of data that could end"
        else:
            assert "alert(1)" not in script


def test_the_drawing_is_xml_without_scripts_or_links(pages: dict[str, str]) -> None:
    root = ElementTree.fromstring(pages["akmc graph --format svg x.json"])
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert names & {"script", "a", "image", "foreignObject", "use"} == set()
    attributes = {name.rpartition("}")[2] for element in root.iter() for name in element.attrib}
    assert not any(name.startswith("on") or name == "href" for name in attributes)


def test_mermaid_labels_close_nothing_and_give_no_directive(pages: dict[str, str]) -> None:
    for line in pages["akmc graph --format mermaid x.json"].splitlines():
        assert not line.strip().startswith(("click", "%%", "style", "linkStyle", "href", "callback"))
        assert "<script" not in line and "javascript:" not in line and "{init" not in line


def test_dot_labels_stay_inside_their_quotes(pages: dict[str, str]) -> None:
    unquoted = re.sub(r'"(?:[^"\\]|\\.)*"', '""', pages["akmc graph --format dot x.json"])
    assert "alert" not in unquoted and "HYPERLINK" not in unquoted and "<" not in unquoted


def test_markdown_of_a_diff_brings_no_html_image_or_link(pages: dict[str, str]) -> None:
    from markdown_it import MarkdownIt

    text = pages["akmc diff --format markdown x.json y.json"]
    tokens = [child for token in MarkdownIt("commonmark").parse(text) for child in (token, *(token.children or ()))]
    html = [token.content for token in tokens if token.type in ("html_block", "html_inline")]
    allowed = re.compile(
        r"(?:\s|</?(?:details|summary|b|code|strong|sub|br|del|ins|pre|table|tr|td|th)( open)?/?>|<!--.*?-->)*", re.S
    )
    for piece in html:
        plain = re.sub(r"(?<=>)[^<]*(?=<)", "", piece)
        assert allowed.fullmatch(plain), piece
    assert not [token for token in tokens if token.type in ("image", "link_open")]


def test_no_command_writes_a_spreadsheet() -> None:
    """Formulas (``=HYPERLINK``) act in spreadsheets only; a format for them would have to quote them."""
    for command in (check.command, diff.command, graph.command, show.command, surface.command):
        (option,) = (option for option in command.params if option.name in ("format_name", "form", "format"))
        assert not {"csv", "tsv", "xlsx"} & set(getattr(option.type, "choices", ())), command.name
        assert getattr(option.type, "choices", ()), command.name
