"""The page: what it holds, that no text of a plan becomes part of it, and how it behaves in a browser.

The browser is Debian's Chromium, driven by playwright; where one of them is absent, those tests are skipped.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from akm_schemas.drawing import Scene
from akmc.cli import run
from akmc.graph.page import page

MakeScene = Callable[..., Scene]


class Tags(HTMLParser):
    """Start tags with the names of their attributes, and the values of some."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, ...]] = []
        self.hrefs: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # a longer text may take more rows of the drawing
        if tag != "text":
            self.tags.append((tag, *(name for name, _ in attrs)))
        self.hrefs += [value or "" for name, value in attrs if name in {"href", "src"}]
        self.ids += [value or "" for name, value in attrs if name == "id"]


def tags(text: str) -> Tags:
    found = Tags()
    found.feed(text)
    found.close()
    return found


def test_every_step_is_there_and_every_link_leads_to_one(make_scene: MakeScene) -> None:
    found = tags(page(make_scene(steps=5)))
    assert found.ids == ["expand", "fold", *(f"step-{index}" for index in range(5))]
    assert found.hrefs == [f"#step-{index}" for index in range(5)]


@given(
    st.text(max_size=60)
    | st.sampled_from(["</style><script>", "</pre><script>alert(1)</script>", '" onload="x', "]]>", "</svg><a>", "-->"])
)
def test_no_text_becomes_a_tag(make_scene: MakeScene, text: str) -> None:
    assert tags(page(make_scene(text))).tags == tags(page(make_scene("plain"))).tags


def test_the_policy_allows_our_script_alone(make_scene: MakeScene) -> None:
    text = page(make_scene())
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert "default-src 'none'" in text


def test_prose_keeps_its_lines(make_scene: MakeScene) -> None:
    assert "<pre>one\n    two &lt;b&gt;\\x1b</pre>" in page(make_scene("one\n\ttwo <b>\x1b"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("Chromium is not installed")
    with api.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


class Shown:
    """A page in a tab, with everything that the console said."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        self.tab = browser.new_page(**options)
        self.tab.on("console", lambda message: self.said.append(message.text))
        self.tab.on("pageerror", lambda error: self.said.append(str(error)))
        self.tab.on("dialog", lambda dialog: self.said.append(dialog.message))
        self.tab.on("request", lambda request: self.asked.append(request.url))
        self.tab.goto(path.as_uri())


@pytest.fixture
def drawn(configured: Path) -> Path:
    assert run(["graph", "workflows/outer.yml", "--format", "html", "-o", "page.html"]) == 0
    return configured / "page.html"


def is_open(tab: Any, name: str) -> bool:
    return bool(tab.evaluate("name => document.getElementById(name).open", name))


def test_a_click_on_a_box_opens_its_step(browser: Any, drawn: Path) -> None:
    shown = Shown(browser, drawn)
    assert not is_open(shown.tab, "step-1")
    shown.tab.click('a[href="#step-1"] .id')
    assert is_open(shown.tab, "step-1")
    assert not is_open(shown.tab, "step-0")
    shown.tab.click('a[href="#step-1-2"] .id')
    assert is_open(shown.tab, "step-1-2")
    assert shown.tab.is_visible("#step-1-2 dl")
    assert shown.said == []
    assert shown.asked == [drawn.as_uri()]


def test_everything_can_be_reached_by_keys(browser: Any, drawn: Path) -> None:
    tab = Shown(browser, drawn).tab
    tab.keyboard.press("Tab")  # the drawing itself, which scrolls
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.getAttribute('aria-label')") == "step kid, child workflow"
    tab.keyboard.press("Enter")
    assert is_open(tab, "step-1")
    assert tab.evaluate("document.activeElement.closest('details').id") == "step-1"
    tab.keyboard.press("Enter")
    assert not is_open(tab, "step-1")


def test_all_steps_expand_and_fold(browser: Any, drawn: Path) -> None:
    tab = Shown(browser, drawn).tab
    count = "document.querySelectorAll('details[open]').length"
    tab.click("#expand")
    assert tab.evaluate(count) == 7
    tab.click("#fold")
    assert tab.evaluate(count) == 0


def test_an_address_with_a_step_opens_it_and_those_around_it(browser: Any, drawn: Path) -> None:
    tab = Shown(browser, drawn).tab
    tab.goto(f"{drawn.as_uri()}#step-1-0")
    tab.reload()
    assert is_open(tab, "step-1")
    assert is_open(tab, "step-1-0")


def test_hostile_texts_run_nothing(browser: Any, make_scene: MakeScene, tmp_path: Path) -> None:
    for number, text in enumerate(
        ["</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"><svg onload=alert(1)>']
    ):
        path = tmp_path / f"{number}.html"
        path.write_text(page(make_scene(text)), encoding="utf-8")
        shown = Shown(browser, path)
        shown.tab.click("#expand")
        assert shown.said == []
        assert shown.asked == [path.as_uri()]
        assert text in shown.tab.inner_text("#step-0 pre")


def test_without_scripts_steps_still_open(browser: Any, drawn: Path) -> None:
    tab = Shown(browser, drawn, java_script_enabled=False).tab
    assert not tab.is_visible("#expand")
    tab.click("#step-0 > summary")
    assert tab.is_visible("#step-0 dl")


@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(13, 17, 23)")])
def test_page_and_drawing_follow_the_colour_scheme(browser: Any, drawn: Path, scheme: str, paper: str) -> None:
    tab = Shown(browser, drawn, color_scheme=scheme).tab
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == paper
    assert tab.evaluate("getComputedStyle(document.querySelector('svg .paper')).fill") == paper


@pytest.mark.parametrize("width", [360, 1500])
def test_nothing_makes_the_page_itself_wider_than_the_window(browser: Any, drawn: Path, width: int) -> None:
    tab = Shown(browser, drawn, viewport={"width": width, "height": 800}).tab
    tab.click("#expand")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
