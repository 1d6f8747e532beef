"""``akm-run report`` in a browser: found, folded, reached by keyboard, and deaf to what units print."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from akm_run import events

if TYPE_CHECKING:
    from tests.browser.conftest import Visit
    from tests.runtime.conftest import PlanMaker
    from tests.runtime.report.conftest import Scribe, Telling

pytestmark = pytest.mark.xdist_group("browser")  # one worker, so one browser at a time
Open = Callable[..., "Visit"]
HOSTILE = (
    "</script><script>window.hit = 1</script>",
    "</pre></details><img src=x onerror='window.hit = 2'><svg onload='window.hit = 3'>",
    "<!--<script>window.hit = 4",
    '"><iframe srcdoc="<script>parent.hit = 5</script>"></iframe>',
    "<a href='javascript:window.hit = 6'>click</a> javascript:window.hit=6",
    "</style><style>body { background: url(https://example.invalid/x) }</style>",
    "\u2028window.hit = 7\u2029 \u202egnp.exe \x1b[31mred\x1b[0m \x00",
    "x" * 60_000,
)


def nested(plans: PlanMaker, scribe: Scribe) -> Telling:
    """A failed run that composes a run that composes a run."""
    leaf = plans.data(plans.step("leaf", plans.unit("true")))
    kid = plans.data(plans.step("inner", plans.child(leaf)))
    data = plans.data(
        plans.step("list", plans.unit("ls")),
        plans.step("fan", plans.unit("cat"), over="params.items"),
        plans.step("ask", plans.ask(), rubric="- Good.", loops=2),
        plans.step("kid", plans.child(kid)),
        plans.step("last-step", plans.unit("false")),
    )
    run = scribe.publish(data, {"items": ["one", "two", "three"]})
    run.unit(0, "list:solo", "a.txt").settle(0, artifact="a.txt", unit_count=1)
    for index, item in enumerate(("one", "two", "three")):
        run.unit(1, f"fan:{item}", f"needle in {item}" if index == 1 else item, index=index, of=3)
    run.settle(1, artifact=["one", "two", "three"], unit_count=3)
    run.unit(2, "ask:solo", "x", tokens=12)
    run.unit(2, "ask:gate~l1", '{"complete": true}', role="judge").settle(2, artifact="x", unit_count=1)
    run.tell(run.start(3, "kid:solo"))
    child = scribe.publish(kid, parent=(run.run_id, "kid:solo"))
    child.tell(child.start(0, "inner:solo"))
    grandchild = scribe.publish(leaf, parent=(child.run_id, "inner:solo"))
    grandchild.unit(0, "leaf:solo", "made by the leaf").settle(0, artifact="made by the leaf", unit_count=1)
    grandchild.end("completed")
    child.tell(events.UnitFinished(0, "inner:solo", "inner:solo", {})).settle(0, artifact={}, unit_count=1)
    child.end("completed")
    run.tell(events.UnitFinished(3, "kid:solo", "kid:solo", {})).settle(3, artifact={}, unit_count=1)
    run.unit(4, "last-step:solo", reason="timeout", diagnostic="it took too long")
    return run.settle(4, "failed", reason="timeout", summary="it took too long", unit_count=1).end("failed")


def written(run: Telling, folder: pathlib.Path) -> pathlib.Path:
    path = folder / "page.html"
    path.write_text(run.html(), encoding="utf-8")
    return path


@pytest.fixture
def path(plans: PlanMaker, scribe: Scribe, tmp_path: pathlib.Path) -> pathlib.Path:
    return written(nested(plans, scribe), tmp_path)


@pytest.mark.parametrize(("scheme", "paper"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(13, 17, 23)")])
def test_the_page_follows_the_readers_scheme(visit: Open, path: pathlib.Path, scheme: str, paper: str) -> None:
    page = visit(path, scheme).page
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == paper
    fill = "() => getComputedStyle(document.querySelector('.akm-drawing .paper')).fill"
    assert page.evaluate(fill) == paper
    assert page.locator("header .pill").inner_text() == "✕ failed"
    assert page.title() == "Case: failed"


def test_children_unfold_to_any_depth(visit: Open, path: pathlib.Path) -> None:
    page = visit(path).page
    leaf = page.locator("#run-2-step-0")
    assert not leaf.is_visible()
    page.locator("#run-1 > summary").click()
    page.locator("#run-2 > summary").click()
    leaf.locator("summary").click()
    assert "made by the leaf" in leaf.inner_text()
    assert page.locator("#run-2 .akm-drawing").is_visible()


def test_a_childs_units_can_be_asked_for(visit: Open, path: pathlib.Path) -> None:
    page = visit(path).page
    page.locator("#run-1 > summary").click()
    page.locator("#run-2 > summary").click()
    page.locator("button[data-units='2']").click()
    assert page.locator("#found").inner_text() == "1 of 10 attempts"
    assert page.locator("#list summary").all_inner_texts() == ["✓ completed\nleaf:solo\nkid:solo / inner:solo\n1.0 s"]
    assert page.evaluate("() => document.activeElement.id") == "find-text"


def test_units_are_found_by_id_status_step_and_text(visit: Open, path: pathlib.Path) -> None:
    page = visit(path).page
    assert page.locator("#found").inner_text() == "10 of 10 attempts"
    page.fill("#find-text", "NEEDLE fan:")
    page.wait_for_function("() => document.getElementById('found').textContent === '1 of 10 attempts'")
    page.locator("#list summary").click()
    assert page.locator("#list pre").all_inner_texts() == ["two", "needle in two"]
    page.locator("#list details a").click()
    assert page.locator("#run-0-step-1").get_attribute("open") is not None
    page.fill("#find-text", "no such thing")
    page.wait_for_function("() => document.getElementById('found').textContent === 'None of 10 attempts.'")
    page.fill("#find-text", "")
    page.select_option("#find-word", label="failed (1)")
    assert page.locator("#list code").all_inner_texts() == ["last-step:solo"]
    page.select_option("#find-word", label="all")
    page.select_option("#find-step", label="fan (3)")
    assert page.locator("#list code").all_inner_texts() == ["fan:one", "fan:two", "fan:three"]


def test_a_click_on_a_box_opens_its_step(visit: Open, path: pathlib.Path) -> None:
    page = visit(path).page
    page.locator("#run-0-graph a[href='#run-0-step-1'] .box").first.click()
    assert page.locator("#run-0-step-1").get_attribute("open") is not None
    assert page.evaluate("() => document.activeElement.parentElement.id") == "run-0-step-1"


def test_everything_can_be_done_with_the_keyboard(visit: Open, path: pathlib.Path) -> None:
    made = visit(path)
    page = made.page
    page.keyboard.press("Tab")
    assert page.evaluate("() => document.activeElement.className") == "skip"
    made.tab_to("#run-0-graph a[href='#run-0-step-4']")
    page.keyboard.press("Enter")
    assert page.locator("#run-0-step-4").get_attribute("open") is not None
    made.tab_to("#run-1 > summary")
    page.keyboard.press("Enter")
    made.tab_to("#run-2 > summary")
    page.keyboard.press("Enter")
    assert page.locator("#run-2-steps").is_visible()
    made.tab_to("#find-text")
    page.keyboard.type("needle")
    page.wait_for_function("() => document.getElementById('found').textContent === '1 of 10 attempts'")
    made.tab_to("#list summary")
    page.keyboard.press("Enter")
    page.wait_for_selector("#list pre")
    assert "needle in two" in page.locator("#list details").inner_text()


def test_the_essentials_are_there_without_scripts(visit: Open, path: pathlib.Path) -> None:
    page = visit(path, scripts=False).page
    assert "it took too long" in page.locator("#run-0-failures").inner_text()
    assert page.locator("#no-script").is_visible() and not page.locator("#find").is_visible()
    page.locator("#run-0-step-0 > summary").click()
    assert "a.txt" in page.locator("#run-0-step-0").inner_text()
    assert page.locator("button").first.is_hidden()


def hostile(plans: PlanMaker, scribe: Scribe) -> Telling:
    """A run whose every text is out for harm."""
    text = "\n".join(HOSTILE[:-1])
    step = plans.step("a", plans.ask(instructions=text), rubric=text, loops=3)
    data = json.loads(
        plans.data(step, plans.step("b", plans.unit("sh", "-c", HOSTILE[0])), params={"p": {"default": text}})
    )
    run = scribe.publish(json.dumps(data).encode(), {"p": text, "<img src=x onerror=window.hit=8>": list(HOSTILE)})
    for index, value in enumerate(HOSTILE):
        run.unit(0, f"a:{index:016x}", value, index=index, of=len(HOSTILE))
        run.unit(0, f"a:{index:016x}x", reason="timeout", diagnostic=value, index=index, of=len(HOSTILE))
    verdict = {"complete": False, "missing": list(HOSTILE[:6]), "feedback": text}
    run.unit(0, "a:gate~l1", json.dumps(verdict), role="judge").tell(events.StepLooped(0, 2, text))
    for index, value in enumerate(HOSTILE):
        run.tell(events.NoticeRaised(0, value[:3000] + str(index)))
    run.settle(0, artifact={value[:200]: value for value in HOSTILE}, unit_count=8)
    run.settle(1, "failed", reason="non_zero_exit", summary=text, unit_count=1, failed_units=1)
    return run.end("failed")


@pytest.mark.parametrize("width", [1440, 400])
def test_what_units_print_does_nothing(
    visit: Open, plans: PlanMaker, scribe: Scribe, tmp_path: pathlib.Path, width: int
) -> None:
    made = visit(written(hostile(plans, scribe), tmp_path), width=width)
    made.open_summaries()
    page = made.page
    page.wait_for_selector("#list pre")
    assert page.locator("#list pre").count() > 10
    page.mouse.move(200, 200)
    page.wait_for_timeout(300)
    assert page.evaluate("() => typeof window.hit") == "undefined"
    assert page.locator("img, iframe, script:not([type])").count() == 1  # our own script
    assert page.evaluate("() => [...document.links].every((link) => link.getAttribute('href').startsWith('#'))")
    shown = page.evaluate("() => document.body.innerText")
    assert not set(shown) & {"\u202e", "\x1b", "\x00", "\u2028"} and "\\u202egnp.exe" in shown
    assert made.overflow() <= 0


def test_the_policy_stops_what_escaping_would_miss(visit: Open, path: pathlib.Path) -> None:
    made = visit(path)
    refused: list[str | None] = []
    made.page.on("requestfailed", lambda request: refused.append(request.failure))
    outcome: Any = made.page.evaluate(
        """async () => {
            const script = document.createElement("script");
            script.textContent = "window.hit = 1";
            document.body.append(script);
            const div = document.createElement("div");
            div.innerHTML = "<img src=x onerror='window.hit = 2'>";
            document.body.append(div);
            await new Promise((done) => setTimeout(done, 100));
            return typeof window.hit;
        }"""
    )
    assert outcome == "undefined"
    assert made.console and all("Content Security Policy" in line for line in made.console)
    assert refused == ["csp"]
    made.console.clear()  # the refusals are what was wanted
    made.requests[1:] = []


def test_ten_thousand_units_open_and_are_searched(
    visit: Open, plans: PlanMaker, scribe: Scribe, tmp_path: pathlib.Path
) -> None:
    count = 10_000
    data = plans.data(plans.step("fan", plans.unit("cat"), over="params.items"))
    run = scribe.publish(data, {"items": [f"item {index}" for index in range(count)]})
    keys = [f"fan:{index:016x}" for index in range(count)]
    values = [f"result {index} " + "word " * 60 for index in range(count)]
    run.units_at_once(0, keys, values, {9_876: "timeout"})
    run.settle(0, artifact=values, unit_count=count, failed_units=1).end("completed")
    made = visit(written(run, tmp_path))
    page = made.page
    assert page.locator("#found").inner_text() == "10000 of 10000 attempts, 1 to 50 shown"
    assert page.evaluate("() => document.querySelectorAll('*').length") < 2000
    page.fill("#find-text", "result 7777")
    page.wait_for_function("() => document.getElementById('found').textContent === '1 of 10000 attempts'")
    page.locator("#list summary").click()
    assert page.locator("#list pre").first.inner_text() == "item 7777"
    page.fill("#find-text", "")
    page.wait_for_function("() => document.getElementById('found').textContent.startsWith('10000')")
    for _ in range(3):
        page.locator("#after").click()
    assert "151 to 200 shown" in page.locator("#found").inner_text()
    assert page.locator("#list code").first.inner_text() == keys[150]
    page.locator("#before").click()
    assert "101 to 150 shown" in page.locator("#found").inner_text()
    page.select_option("#find-word", label="failed (1)")
    assert page.locator("#list code").all_inner_texts() == [keys[9_876]]


@pytest.mark.parametrize("width", [1440, 400])
def test_long_names_and_many_routes_do_not_widen_the_page(
    visit: Open, plans: PlanMaker, scribe: Scribe, tmp_path: pathlib.Path, width: int
) -> None:
    names = [f"step-{index:02}-" + "long-name-" * 5 for index in range(40)]
    routes = [plans.route(f"pick{index}", "params.mode", [(name, name) for name in names]) for index in range(2)]
    run = scribe.publish(
        plans.data(*routes, *(plans.step(name, plans.unit("true")) for name in names)), {"mode": names[0]}
    )
    run.settle(0, selected=names[0]).settle(1, selected=names[1])
    run.unit(2, f"{names[0]}:solo", "x" * 5000).settle(2, artifact="x" * 5000, unit_count=1)
    made = visit(written(run, tmp_path), width=width)
    made.open_summaries()
    assert made.overflow() <= 0
    assert made.page.locator("#run-0-graph .arc.good").count() == 2


def test_printing_opens_the_steps_and_leaves_the_tools_out(visit: Open, path: pathlib.Path) -> None:
    page = visit(path).page
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("#run-0-step-0 pre").is_visible()
    assert not page.locator("#find").is_visible() and not page.locator("nav").is_visible()
