"""``akmc graph --format html`` in a browser: the drawing leads to the steps, by mouse and by keyboard, and nothing else."""

from __future__ import annotations

import pathlib
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.browser.conftest import Visit
    from tests.runtime.conftest import PlanMaker

pytestmark = pytest.mark.xdist_group("browser")  # one worker, so one browser at a time
Open = Callable[..., "Visit"]
Run = Callable[..., "subprocess.CompletedProcess[str]"]
Draw = Callable[[bytes], pathlib.Path]


@pytest.fixture
def draw(run_program: Run, tmp_path: pathlib.Path) -> Draw:
    """The page of a plan."""

    def made(data: bytes) -> pathlib.Path:
        (tmp_path / "plan.json").write_bytes(data)
        run_program("akmc", "graph", "plan.json", "--format", "html", "-o", "page.html")
        return tmp_path / "page.html"

    return made


@pytest.fixture
def path(plans: PlanMaker, draw: Draw) -> pathlib.Path:
    leaf = plans.data(plans.step("leaf", plans.unit("echo", "from the leaf")))
    kid = plans.data(plans.step("inner", plans.child(leaf)))
    return draw(
        plans.data(
            plans.step("first", plans.unit("true")),
            plans.route("pick", "params.mode", [("full", "kid")], default="last"),
            plans.step("kid", plans.child(kid)),
            plans.step("last", plans.unit("false")),
        )
    )


@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(13, 17, 23)")])
def test_the_page_follows_the_readers_scheme(visit: Open, path: pathlib.Path, scheme: str, paper: str) -> None:
    page = visit(path, scheme).page
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == paper
    assert page.evaluate("() => getComputedStyle(document.querySelector('.akm-drawing .paper')).fill") == paper


def test_a_click_opens_a_step_and_the_workflow_inside_it(visit: Open, path: pathlib.Path) -> None:
    page = visit(path).page
    page.locator("a[href='#step-2'] .box").first.click()
    assert page.locator("#step-2").get_attribute("open") is not None
    page.locator("a[href='#step-2-0'] .box").first.click()
    page.locator("a[href='#step-2-0-0'] .box").first.click()
    assert "from the leaf" in page.locator("#step-2-0-0").inner_text()
    page.locator("#fold").click()
    assert page.locator("details[open]").count() == 0
    page.locator("#expand").click()
    assert page.locator("details:not([open])").count() == 0


def test_everything_can_be_reached_with_the_keyboard(visit: Open, path: pathlib.Path) -> None:
    made = visit(path)
    made.tab_to("a[href='#step-2']")
    made.page.keyboard.press("Enter")
    assert made.page.evaluate("() => document.activeElement.parentElement.id") == "step-2"
    made.tab_to("a[href='#step-2-0']")
    made.page.keyboard.press("Enter")
    assert made.page.locator("#step-2-0").get_attribute("open") is not None
    made.tab_to("#step-3 > summary")
    made.page.keyboard.press("Space")
    assert made.page.locator("#step-3").get_attribute("open") is not None


def test_an_address_names_a_step(visit: Open, path: pathlib.Path) -> None:
    page = visit(path).page
    page.goto(f"{path.as_uri()}#step-2-0-0")
    page.reload()
    assert page.locator("#step-2-0-0").is_visible()
    assert page.evaluate("() => document.activeElement.parentElement.id") == "step-2-0-0"


def test_steps_open_without_scripts(visit: Open, path: pathlib.Path) -> None:
    page = visit(path, scripts=False).page
    page.locator("#step-0 > summary").click()
    assert page.locator("#step-0 dl").is_visible() and not page.locator(".tools").is_visible()


@pytest.mark.parametrize("width", [1440, 400])
def test_texts_of_a_plan_do_nothing(visit: Open, plans: PlanMaker, draw: Draw, width: int) -> None:
    nasty = (
        "</pre></script><script>window.hit = 1</script><img src=x onerror='window.hit = 2'>\u202e\u2028 javascript:x"
    )
    long = "word-" * 4000
    data = plans.data(
        plans.step("a", plans.ask(instructions=f"{nasty}\n{long}"), rubric=nasty),
        plans.step("b", plans.unit("sh", "-c", nasty), inputs=["params.p"]),
        params={"p": {"type": "string", "default": nasty}},
    )
    made = visit(draw(data), width=width)
    made.open_summaries()
    page = made.page
    page.wait_for_timeout(200)
    assert page.evaluate("() => typeof window.hit") == "undefined"
    assert page.locator("img, iframe, script").count() == 1
    assert "<script>window.hit = 1</script>" in page.locator("#step-0").inner_text()
    assert made.overflow() <= 0


def test_two_hundred_and_fifty_steps_open(visit: Open, plans: PlanMaker, draw: Draw) -> None:
    page = visit(draw(plans.data(*(plans.step(f"s{index}", plans.unit("true")) for index in range(250))))).page
    assert page.locator(".drawing .step").count() == page.locator("details").count() == 250
    page.locator("a[href='#step-249']").focus()
    page.keyboard.press("Enter")
    assert page.locator("#step-249 > summary").is_visible()
    assert page.evaluate("() => document.activeElement.parentElement.id") == "step-249"


def test_a_difference_is_drawn_with_words(
    visit: Open, plans: PlanMaker, run_program: Run, tmp_path: pathlib.Path
) -> None:
    last = plans.step("z", plans.unit("date"))
    old = plans.data(plans.step("a", plans.unit("true")), plans.step("gone", plans.unit("ls")), last)
    new = plans.data(plans.step("a", plans.unit("false")), last, plans.step("fresh", plans.ask(instructions="Write.")))
    (tmp_path / "old.json").write_bytes(old)
    (tmp_path / "new.json").write_bytes(new)
    run_program("akmc", "graph", "--diff", "old.json", "new.json", "--format", "html", "-o", "page.html")
    page = visit(tmp_path / "page.html", "dark").page
    badges = page.locator(".drawing .badge").all_text_contents()
    assert sorted(badges) == ["+ added", "- removed", "~ changed"]
