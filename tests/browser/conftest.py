"""A real browser: Debian's Chromium, headless, driven by Playwright; every visit is held to silence and no network."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

TESTS = pathlib.Path(__file__).resolve().parents[1]
CHROMIUM = os.environ.get("AKMC_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def _module(name: str) -> ModuleType:
    """Another folder's conftest: its fixtures are not those of this folder, its plans and runs are wanted here."""
    path = TESTS / name / "conftest.py"
    spec = importlib.util.spec_from_file_location(f"browser_uses_{name.replace('/', '_')}", path)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made  # dataclasses look their module up
    spec.loader.exec_module(made)
    return made


@dataclass
class Visit:
    """An open page, and all that it said or asked for."""

    page: Page
    console: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open_summaries(self) -> None:
        """Open every part that can be opened, those that appear meanwhile too."""
        self.page.evaluate(
            "() => { for (let left = 3; left; left--)"
            " for (const part of document.querySelectorAll('details')) part.open = true; }"
        )

    def tab_to(self, selector: str, most: int = 200) -> None:
        """Press Tab until the first element of ``selector`` has the focus."""
        for _ in range(most):
            if self.page.evaluate("(wanted) => document.activeElement === document.querySelector(wanted)", selector):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{selector} cannot be reached with {most} times Tab")

    def overflow(self) -> int:
        """How many pixels the page is wider than the window."""
        return int(self.page.evaluate("() => document.documentElement.scrollWidth - window.innerWidth"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium for the tests of one module; ended with it, since it holds an event loop of the thread."""
    if CHROMIUM is None:
        pytest.skip("no chromium on PATH: apt-get install chromium, or name one with AKMC_CHROMIUM")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: tests/requirements.txt"
    )
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield launched
        launched.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """``visit(path, "dark", width=1440, scripts=True)`` opens a page; at the end of the test every visit
    must have said nothing on the console and asked for nothing but its own file."""
    visits: list[tuple[Visit, str]] = []

    def open_page(path: pathlib.Path, scheme: Any = "light", width: int = 1440, *, scripts: bool = True) -> Visit:
        context = browser.new_context(
            color_scheme=scheme, viewport={"width": width, "height": 900}, java_script_enabled=scripts
        )
        made = Visit(context.new_page())
        made.page.set_default_timeout(20_000)
        made.page.on("console", lambda message: made.console.append(f"{message.type}: {message.text}"))
        made.page.on("pageerror", lambda error: made.console.append(str(error)))
        made.page.on("request", lambda request: made.requests.append(request.url))
        made.page.goto(path.as_uri())
        visits.append((made, path.as_uri()))
        return made

    yield open_page
    for made, address in visits:
        assert made.console == []
        assert {request.partition("#")[0] for request in made.requests} == {address}
        made.page.context.close()


@pytest.fixture(scope="session")
def plans() -> Any:
    """Makes plans, as the interpreter's tests do."""
    return _module("runtime").PlanMaker()


@pytest.fixture
def scribe(tmp_path: pathlib.Path) -> Iterator[Any]:
    """Writes runs into the scope ``tmp_path``, as the tests of the report do."""
    made = _module("runtime/report").Scribe(tmp_path)
    yield made
    made.journal.close()
