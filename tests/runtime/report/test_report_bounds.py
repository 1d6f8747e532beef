"""Large runs: the page and the memory that writes it are bounded, and what was left out is said."""

from __future__ import annotations

import json
import re
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from akm_run import events
from akm_run.report import page
from akm_run.report.tree import read_tree, text_room
from akm_schemas.bounds import MIB, REPORT_ATTEMPTS, REPORT_RUNS, REPORT_TEXT_BYTES, REPORT_VALUE_BYTES

if TYPE_CHECKING:
    from tests.runtime.conftest import PlanMaker
    from tests.runtime.report.conftest import LATER, Scribe, Telling
else:
    LATER = "2026-03-01T13:00:00.000Z"

FIXED = 400  # bytes of a row beside its three texts: id, facts, times


def mapped(plans: PlanMaker) -> bytes:
    return plans.data(plans.step("fan", plans.unit("cat", on_error="continue"), over="params.items"))


def rows(text: str) -> list[str]:
    found = re.search(r'<script type="application/json" class="attempts" data-run="0">\[(.*?)\]</script>', text, re.S)
    assert found is not None
    return [line for line in found[1].split("\n") if line not in ("", ",")]


@pytest.fixture
def many(plans: PlanMaker, scribe: Scribe) -> Telling:
    """Ten thousand units, each with an item and a result of 4 KiB that needs escaping; one in a hundred failed."""
    count = 10_000
    run = scribe.publish(mapped(plans), {"items": [f"<item {index}> " + "<" * 4000 for index in range(count)]})
    keys = [f"fan:{index:016x}" for index in range(count)]
    failed = dict.fromkeys(range(0, count, 100), "non_zero_exit")
    run.units_at_once(0, keys, [f"<out {index}> " + "<" * 4000 for index in range(count)], failed)
    return run.settle(0, unit_count=count, failed_units=len(failed)).end("completed")


def test_ten_thousand_units_stay_within_their_bytes(many: Telling) -> None:
    run = many.journal.run(many.run_id)
    assert run is not None
    room = text_room(read_tree(many.journal, run))
    assert REPORT_TEXT_BYTES.low <= room < 1024
    text = many.html()
    found = rows(text)
    assert len(found) == 10_000
    assert max(len(row.encode()) for row in found) <= 3 * room + FIXED
    assert len(text.encode()) - sum(len(row.encode()) for row in found) < MIB
    first = json.loads(found[1].removesuffix(","))
    assert first[9][0].startswith("<item 1> <<<") and first[9][1] == 4009 and first[10][1] == 4010
    assert "10\u202f000 attempts: 9\u202f900 completed, 100 failed" in text
    assert "And 80 more units" in text


def test_results_are_never_all_in_memory(plans: PlanMaker, scribe: Scribe) -> None:
    count, size = 200, 400_000
    run = scribe.publish(mapped(plans), {"items": list(range(count))})
    keys = [f"fan:{index:016x}" for index in range(count)]
    for start in range(0, count, 20):
        part = range(start, start + 20)
        run.units_at_once(0, [keys[index] for index in part], ["r" * size for _ in part], {})
    run.settle(0, artifact=["a" * size for _ in range(20)], unit_count=count).end("completed")
    row = run.journal.run(run.run_id)
    assert row is not None
    tracemalloc.start()
    written = sum(len(piece) for piece in page(run.journal, row, LATER))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count * REPORT_TEXT_BYTES.high / 2 < written < count * (REPORT_TEXT_BYTES.high + 1024) + MIB
    assert peak < 20 * MIB < count * size / 3


def test_long_values_are_cut_and_say_what_prints_them_whole(plans: PlanMaker, scribe: Scribe) -> None:
    data = plans.data(plans.step("a", plans.unit("cat")), outputs={"report": "steps.a.output"})
    run = scribe.publish(data).unit(0, "a:solo", "long " * 20_000).settle(0, artifact="long " * 20_000, unit_count=1)
    text = run.end("completed", {"report": "long " * 20_000}).html()
    assert f"<code>akm-run status {run.run_id} --json</code> prints all of it." in text
    assert f"<code>akm-run output {run.run_id} report</code> prints all of it." in text
    assert text.count("The beginning of 100\u202f00") == 2
    assert len(text) < 2 * REPORT_VALUE_BYTES.high + REPORT_TEXT_BYTES.high + 100_000


def test_a_page_holds_as_many_runs_as_its_bounds_allow(plans: PlanMaker, scribe: Scribe) -> None:
    leaf = plans.data(plans.step("inner", plans.unit("true")))
    data = plans.data(plans.step("kids", plans.child(leaf), over="params.items"))
    run = scribe.publish(data, {"items": list(range(REPORT_RUNS.high + 5))})
    for index in range(REPORT_RUNS.high + 5):
        key = f"kids:{index:016x}"
        run.tell(run.start(0, key, index=index, of=REPORT_RUNS.high + 5))
        child = scribe.publish(leaf, parent=(run.run_id, key))
        if index != REPORT_RUNS.high + 4:  # the last one holds the run up, so it is shown before all others
            child.unit(0, "inner:solo", "x").settle(0, artifact="x", unit_count=1).end("completed")
    text = run.html()
    assert text.count('<details class="run"') == REPORT_RUNS.high - 1
    assert text.count("</code> shows it.</p>") == 6
    last = text.rindex(f"<code>20260301-120000-{REPORT_RUNS.high + 6:08x}</code></summary>")
    assert '<details class="run"' in text[last - 400 : last]
    assert len(set(re.findall(r' id="([^"]*)"', text))) == len(re.findall(r' id="([^"]*)"', text))


def test_a_child_with_too_many_attempts_is_named_only(
    plans: PlanMaker, scribe: Scribe, monkeypatch: pytest.MonkeyPatch
) -> None:
    leaf = plans.data(plans.step("inner", plans.unit("true")))
    run = scribe.publish(plans.data(plans.step("kid", plans.child(leaf))))
    run.tell(run.start(0, "kid:solo"))
    child = scribe.publish(leaf, parent=(run.run_id, "kid:solo"))
    for _ in range(3):
        child.unit(0, "inner:solo", reason="timeout")
    assert '<details class="run"' in run.html()
    small = type(REPORT_ATTEMPTS)(REPORT_ATTEMPTS.name, 0, 3, REPORT_ATTEMPTS.unit)
    monkeypatch.setattr("akm_run.report.tree.REPORT_ATTEMPTS", small)
    text = run.html()
    assert '<details class="run"' not in text
    assert f"<code>akm-run report {child.run_id}</code> shows it." in text


def test_a_page_of_many_gate_rounds_is_whole(plans: PlanMaker, scribe: Scribe) -> None:
    run = scribe.publish(plans.data(plans.step("ask", plans.ask(), rubric="- Good.", loops=100)))
    for loop in range(1, 101):
        suffix = "" if loop == 1 else f"~l{loop}"
        run.unit(0, f"ask:solo{suffix}", "x", loop=loop)
        run.unit(
            0, f"ask:gate~l{loop}", '{"complete": false, "missing": ["m"], "feedback": "f"}', role="judge", loop=loop
        )
        if loop < 100:
            run.tell(events.StepLooped(0, loop + 1, "f"))
    text = run.html()
    assert text.count("<li>Round ") == 100 and text.count("</span> rejected</span>") >= 100
