"""The page of a run: what it says of every kind of run, and that nothing in it is anybody else's markup."""

from __future__ import annotations

import base64
import hashlib
import html
import html.parser
import json
import re
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from akm_run import events

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker
    from tests.runtime.report.conftest import Scribe, Telling

VOID = {"meta", "input", "br", "hr"}
NASTY = "</script><script>window.hit = 1</script><!-- \u2028 \u202e \x1b[31m \x00 <img src=x onerror=window.hit=1>"


class Outline(html.parser.HTMLParser):
    """Checks nesting; collects ids, links, elements and texts."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.names: list[str] = []
        self.attributes: set[str] = set()
        self.islands: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.names.append(tag)
        self.attributes |= set(found)
        if found.get("id"):
            self.ids.append(found["id"] or "")
        if tag == "a":
            self.links.append(found.get("href") or "")
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script" and found.get("type") == "application/json":
            self.islands.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script" and data.lstrip().startswith(("[", "{")):
            self.islands[-1] += data


def words(page: str) -> str:
    """What a reader without scripts sees."""
    body = re.sub(r"<(script|style)\b.*?</\1>", "", page, flags=re.S)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", body)))


def attempts(page: str) -> list[list[Any]]:
    return [row for text in Outline(page).islands[1:] for row in json.loads(text)]


@pytest.fixture
def kid(plans: PlanMaker) -> bytes:
    return plans.data(plans.step("inner", plans.unit("echo", "leaf")))


@pytest.fixture
def told(plans: PlanMaker, scribe: Scribe, kid: bytes) -> Telling:
    """A run with one of everything; its last step failed."""
    data = plans.data(
        plans.step("list", plans.unit("ls")),
        plans.step("fan", plans.unit("cat"), over="steps.list.output", concurrency=3),
        plans.step("ask", plans.ask(), rubric="- It names <every> file.", loops=3, inputs=["steps.fan.output"]),
        plans.route("pick", "params.mode", [("full", "kid")], default="quick"),
        plans.step("kid", plans.child(kid)),
        plans.step("quick", plans.unit("true")),
        plans.step("last", plans.unit("false")),
        plans.step("never", plans.unit("true")),
        budget={"maxUnits": 20, "maxTokens": 1000},
    )
    run = scribe.publish(data, {"mode": "full", "api_token": "hunter2-hunter2"})
    run.unit(0, "list:solo", ["a", "b"]).settle(0, artifact=["a", "b"], unit_count=1)
    run.unit(1, "fan:aaaa", "made of a", index=0, of=2)
    run.unit(1, "fan:bbbb", reason="non_zero_exit", diagnostic="flaky hunter2-hunter2", index=1, of=2)
    run.unit(1, "fan:bbbb", NASTY, index=1, of=2, cause="retry", after=4.0)
    run.settle(1, artifact=["made of a", NASTY], unit_count=2)
    run.unit(2, "ask:solo", "version one", tokens=300)
    verdict = {"complete": False, "missing": ["It names <every> file."], "feedback": "Mention the README."}
    run.unit(2, "ask:gate~l1", json.dumps(verdict), role="judge", tokens=40)
    run.tell(events.StepLooped(2, 2, "Mention the README."))
    run.unit(2, "ask:solo~l2", "version two", tokens=300, loop=2)
    run.unit(2, "ask:gate~l2", '{"complete": true}', role="judge", tokens=10, loop=2)
    run.settle(2, artifact="version two", unit_count=1)
    run.settle(3, selected="kid")
    start = run.start(4, "kid:solo")
    run.tell(start)
    child = scribe.publish(kid, parent=(run.run_id, "kid:solo"))
    child.now = run.now
    child.unit(0, "inner:solo", "leaf of the child").settle(0, artifact="leaf of the child", unit_count=1).end(
        "completed"
    )
    run.tell(events.UnitFinished(4, "kid:solo", "kid:solo", {"runId": child.run_id, "status": "completed"}), after=1)
    run.settle(4, artifact={"status": "completed"}, unit_count=1).settle(5, "skipped")
    run.tell(events.NoticeRaised(6, "the index is <stale>", "last:solo"))
    run.unit(6, "last:solo", reason="non_zero_exit", diagnostic="exit status 1: no <remote>")
    run.settle(6, "failed", reason="non_zero_exit", summary="exit status 1: no <remote>", unit_count=1, failed_units=1)
    return run.end("failed")


def test_the_essentials_can_be_read_without_scripts(told: Telling) -> None:
    text = words(told.html())
    for fact in (
        "✕ failed 6 of 8 steps done in 14.0 s",
        "Written 2026-03-01 13:00:00 UTC",
        "What went wrong ✕ failed Step last non_zero_exit exit status 1: no <remote>",
        f"To go on with it: akm-run resume {told.run_id} akm-run {told.run_id}",
        f"run {told.run_id} workflow workflows/case started 2026-03-01 12:00:00 UTC",
        "units 10 of 20 dispatches (50 %)",
        "tokens 650 of 1 000 reported (65 %)",
        "Params api_token [redacted] mode full",
        "fan:bbbb ↻ ✓ 2.0 s · 2 attempts",
        "Gate of ask , at most 3 rounds",
        "Round 1: ↩ rejected , 1.0 s, 40 tokens Missing: It names <every> file. Mention the README.",
        "Round 2: ✓ completed, accepted , 1.0 s, 10 tokens",
        "last:solo the index is <stale>",
        "11 attempts, those of children among them. The list needs scripts; akm-run status",
    ):
        assert fact in text, text
    assert "hunter2" not in text
    run = told.journal.run(told.run_id)
    assert run is not None and f"contentHash {run.content_hash} planHash {run.plan_hash}" in text


def test_steps_say_what_they_read_made_and_used(told: Telling) -> None:
    text = words(told.html())
    steps = text[text.index("Steps ✓ completed list") : text.index("Timeline 14.0 s")]
    for fact in (
        'list exec 1.0 s started 2026-03-01 12:00:00 UTC finished 2026-03-01 12:00:01 UTC units 1 unit Output [ "a", "b" ]',
        "fan map of exec 2 units, 7.0 s",
        "ask prompt 650 tokens, 4.0 s",
        'round 2 Reads steps.fan.output [ "made of a",',
        "pick route finished 2026-03-01 12:00:12 UTC selected kid",
        "– skipped quick exec",
        "✕ failed last exec non_zero_exit 1.0 s",
        "○ pending never exec",
    ):
        assert fact in steps, steps


def test_the_drawing_is_marked_and_leads_to_the_steps(told: Telling) -> None:
    page = told.html()
    drawing = page[page.index('<svg xmlns="http://www.w3.org/2000/svg" class="akm-drawing"') : page.index("</svg>")]
    assert drawing.count('class="step marked good"') == 5 and drawing.count('class="step marked bad"') == 1
    assert 'href="#run-0-step-6" aria-label="step last, exec, ✕ failed"' in drawing
    assert ">✓ &quot;full&quot;</text>" in drawing and ">otherwise</text>" in drawing
    assert ">this run</text>" in drawing and ">7.0 s, 2 units</text>" in drawing


def test_the_units_are_data_with_items_results_and_failures(told: Telling) -> None:
    rows = attempts(told.html())
    assert len(rows) == 11
    by_id = {row[0]: row for row in rows}
    assert by_id["fan:aaaa"][1:] == [1, 0, 1, 1, "item 0", 1000, 1000, None, ["a"], ["made of a"], 0]
    assert by_id["fan:bbbb"][2] == 3 and by_id["fan:bbbb"][9:] == [["b"], 0, ["flaky [redacted]"]]
    nasty = by_id["fan:bbbb~r1"][10][0]
    assert nasty.startswith("</script><script>") and "\\u2028 \\u202e \\x1b[31m \\x00" in nasty
    assert by_id["ask:gate~l1"][5] == "judge call" and by_id["ask:gate~l1"][8] == 40
    assert by_id["inner:solo"][10] == ["leaf of the child"]


def test_the_page_is_well_formed_self_contained_and_runs_one_script(told: Telling) -> None:
    page = told.html()
    outline = Outline(page)
    assert len(set(outline.ids)) == len(outline.ids) > 20
    assert outline.links and all(link.removeprefix("#") in outline.ids for link in outline.links)
    assert not {"img", "link", "iframe", "object", "base"} & set(outline.names)
    assert not {"src", "srcset", "action", "ping", "background", "poster"} & outline.attributes
    assert not any(name.startswith("on") for name in outline.attributes)
    script = page[page.rindex("<script>") + len("<script>") : page.rindex("</script>")]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none';") and f"script-src 'sha256-{digest}'" in policy[1]
    assert page.count("<script>") == 1 and outline.names.count("script") == 1 + len(outline.islands)
    assert set(re.findall(r"https?://[^\s\"]*", page)) == {"http://www.w3.org/2000/svg"}


def test_children_are_folded_parts_of_their_own(told: Telling, scribe: Scribe) -> None:
    page = told.html()
    child = next(run for run in scribe.journal.runs() if run.parent_run == told.run_id)
    part = page[page.index('<details class="run" id="run-1">') :]
    assert f"<code>{child.run_id}</code></summary>" in part
    assert "run-1-step-0" in part and 'data-units="1"' in part
    assert f"composed by {told.run_id} kid:solo" in words(part)
    assert Outline(page).ids.count("units") == 1


def test_the_timeline_has_a_row_per_unit_with_waiting_and_retries(told: Telling) -> None:
    page = told.html()
    lines = re.findall(r'<div class="lane .*', page[: page.index('id="run-0-gates"')])
    bbbb = next(line for line in lines if "<code>fan:bbbb</code>" in line)
    assert 'aria-label="attempt 1, retried, 1.0 s"' in bbbb and 'aria-label="attempt 2, completed, 1.0 s"' in bbbb
    assert bbbb.count('class="wait"') == 2  # for its turn, and for its retry
    assert "↻" in bbbb and "✓" in bbbb


def test_a_running_run_says_that_it_goes_on(plans: PlanMaker, scribe: Scribe, monkeypatch: pytest.MonkeyPatch) -> None:
    run = scribe.publish(plans.data(plans.step("a", plans.unit("true")), plans.step("b", plans.unit("true"))))
    run.tell(run.start(0, "a:solo"))
    stopped = words(run.html())
    assert "‖ stopped 0 of 2 steps done" in stopped and "active, driven by nobody at the moment" in stopped
    assert f"How to go on To go on with it: akm-run {run.run_id}" in stopped
    assert "⊘ interrupted" in stopped and attempts(run.html())[0][2] == 5
    monkeypatch.setattr("akm_run.report.tree.is_driven", lambda *known: known[1] == run.run_id)
    driven = words(run.html(at="2026-03-01T12:01:00.000Z"))
    assert "▶ active 0 of 2 steps done for 1 min so far" in driven
    assert "To go on" not in driven and "▶ running a exec" in driven
    assert attempts(run.html())[0][2] == 6


def test_blocked_rejected_aborted_and_abandoned_runs_say_what_to_do(plans: PlanMaker, scribe: Scribe) -> None:
    gated = plans.data(plans.step("ask", plans.ask(), rubric="- Good.", loops=1))
    blocked = scribe.publish(gated).unit(0, "ask:solo", "x")
    blocked.unit(0, "ask:gate~l1", reason="judge_unreadable", diagnostic="`complete` is missing", role="judge")
    blocked.settle(0, "blocked", reason="judge_unreadable", summary="the answer is no verdict").end("blocked")
    text = words(blocked.html())
    assert "■ blocked Step ask judge_unreadable the answer is no verdict" in text
    assert "no verdict judge_unreadable , 1.0 s `complete` is missing" in text
    assert f"akm-run resume {blocked.run_id}" in text
    rejected = scribe.publish(gated).unit(0, "ask:solo", "x")
    rejected.unit(0, "ask:gate~l1", '{"complete": false, "missing": [], "feedback": "No."}', role="judge")
    rejected.tell(events.StepRejected(0, "the judge rejected it: No.", 1))
    assert "What went wrong ↩ rejected Step ask gate_rejected the judge rejected it: No." in words(rejected.html())
    aborted = scribe.publish(gated).unit(0, "ask:solo", reason="aborted", diagnostic="interrupted")
    assert attempts(aborted.html())[0][2] == 4 and "⊘ cancelled" in words(aborted.html())
    abandoned = scribe.publish(gated).tell(events.RunAbandoned())
    assert "✕ failed 0 of 1 step done" in words(abandoned.html())


def test_reused_and_repeated_attempts_are_told_apart(plans: PlanMaker, scribe: Scribe) -> None:
    data = plans.data(plans.step("a", plans.unit("true")), plans.step("b", plans.unit("true")))
    old = scribe.publish(data).unit(0, "a:solo", "from the old run").settle(0, artifact="x", unit_count=1)
    run = scribe.publish(data)
    run.tell(events.UnitReused(0, "a:solo", "unit", 1, "0" * 64, old.run_id, "a:solo")).settle(0, unit_count=1)
    start = run.start(1, "b:solo")
    run.tell(start)
    run.tell(events.UnitStarted(1, "b:solo", "b:solo", 1, 1, "unit", "first", "0" * 64, respawn=True))
    run.tell(events.UnitFinished(1, "b:solo", "b:solo", "done")).settle(1, artifact="done", unit_count=1).end(
        "completed"
    )
    rows = attempts(run.html())
    assert rows[0][2] == 1 and rows[0][5] == f"from run {old.run_id}" and rows[0][10] == ["from the old run"]
    assert rows[1][5] == "dispatched 2 times"
    assert "2 dispatches, no budget, 1 reused" in words(run.html())


def test_a_plan_that_cannot_be_decoded_leaves_out_the_drawing_alone(told: Telling) -> None:
    older = "UPDATE runs SET plan = replace(CAST(plan AS TEXT), '\"irVersion\":5', '\"irVersion\":6')"
    told.journal.connection.execute(older)
    page = told.html()
    Outline(page)
    text = words(page)
    assert "The page shows what the journal says." in text and "last non_zero_exit" in text
    assert 'class="akm-drawing"' not in page and len(attempts(page)) == 11
    assert "Round 1: ↩ rejected" in text


def test_a_run_without_any_attempt_is_a_page_too(plans: PlanMaker, scribe: Scribe) -> None:
    page = scribe.publish(plans.data(plans.step("a", plans.unit("true")))).html()
    outline = Outline(page)
    assert "units" not in outline.ids and "run-0-timeline" not in outline.ids
    assert attempts(page) == []


def test_what_a_driver_writes_meanwhile_is_not_half_on_the_page(told: Telling) -> None:
    from akm_run.journal import Journal
    from akm_run.report import page

    run = told.journal.run(told.run_id)
    assert run is not None
    pieces = page(told.journal, run, "2026-03-01T13:00:00.000Z")
    text = [next(pieces) for _ in range(3)]
    other = Journal.create_or_open(told.journal.path)
    other.commit(told.run_id, [events.NoticeRaised(0, "written meanwhile")], "2026-03-01T12:59:00.000Z")
    other.close()
    assert "written meanwhile" not in "".join([*text, *pieces])
    assert "written meanwhile" in told.html()


def test_nothing_can_be_written_while_a_page_is_read(told: Telling) -> None:
    from akm_run.report import page

    run = told.journal.run(told.run_id)
    assert run is not None
    pieces = page(told.journal, run, "2026-03-01T13:00:00.000Z")
    next(pieces)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        told.journal.connection.execute("UPDATE runs SET status = 'active'")
    pieces.close()
    told.journal.connection.execute("UPDATE runs SET status = status")
