"""One distinct canary in every place that secrets come from, and everything that the interpreter writes searched for them."""

from __future__ import annotations

import http.server
import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from tests.conftest import Run
    from tests.runtime.conftest import PlanMaker

# What the interpreter must never show. Values are as an author could have them: quotes, several lines, beyond ASCII.
FILE_PLAIN: Final = "canary-file-plain-8d21"
FILE_ODD: Final = 'canary"file\\odd\tünï-77c0'
FILE_LINES: Final = "canary-line-one-11aa\ncanary-line-two-22bb"
SECRET_VARIABLE: Final = "canary-secret-variable-5e5e"
SECRET_FILE: Final = "canary-secret-file-6f6f"
PASSED_THROUGH: Final = "canary-passed-through-4a4a"
API_KEY: Final = "canary-api-key-9b9b"
CANARIES: Final = (FILE_PLAIN, FILE_ODD, FILE_LINES, SECRET_VARIABLE, SECRET_FILE, PASSED_THROUGH, API_KEY)
OPEN: Final = "sparrow-pass-env-3c3c"  # came through pass_env: by the specification not scrubbed

PROGRAM: Final = """
import json, os, sys, time
mode = sys.argv[1]
values = json.load(open("heard.json")) if mode == "judges" else [os.environ[name] for name in ("PLAIN", "ODD", "LINES", "BY_VARIABLE", "BY_FILE", "THROUGH")]
def halves(stream, text):
    for part in (text[: len(text) // 2], text[len(text) // 2 :]):
        stream.write(part)
        stream.flush()
        time.sleep(0.02)
if mode == "prints":
    for value in values:
        for text in (value, json.dumps(value), json.dumps(json.dumps(value)), json.dumps(value, ensure_ascii=False)):
            halves(sys.stdout, "<" + text + ">\\n")
    halves(sys.stderr, "|".join(values))
    print(os.environ.get("OPEN", ""))
elif mode == "fails":
    halves(sys.stderr, "\\n".join(values))
    sys.exit(3)
elif mode == "misses":
    print(json.dumps({value: [value, {"n": value}] for value in values}))
elif mode == "answers":
    sys.stdin.read()
    print(json.dumps(values))
elif mode == "tells":
    json.dump(values, open("heard.json", "w"))
elif mode == "judges":
    sys.stdin.read()
    print(json.dumps({"complete": True, "missing": values, "feedback": "\\n".join(values)}))
"""


class Echo(http.server.BaseHTTPRequestHandler):
    """A model that says what it was sent: the key in an answer, in a judgement, and in an error page, in two pieces."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        key = self.headers["Authorization"]
        text = body["messages"][-1]["content"]
        content = f"{key} and {json.dumps(key)}"
        if "Rubric:" in text:
            content = json.dumps({"complete": False, "missing": [key], "feedback": key})
        status = 500 if "Fail" in text else 200
        message = {"role": "assistant", "content": content}
        answer: Any = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": {"total_tokens": 5}}
        data = json.dumps(answer if status == 200 else {"error": {"message": f"no: {key}"}}).encode()
        self.send_response(status, f"Echo {key}")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        cut = data.index(API_KEY.encode()) + len(API_KEY) // 2
        for part in (data[:cut], data[cut:]):
            self.wfile.write(part)
            self.wfile.flush()
            time.sleep(0.02)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def endpoint() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1/chat/completions"
    server.shutdown()
    thread.join()
    server.server_close()


def forms(value: str) -> set[bytes]:
    """What a value may look like in something written: itself, escaped once and twice, and each of its lines."""
    escaped = json.dumps(value)[1:-1]
    texts = {value, escaped, json.dumps(escaped)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    texts |= {line for line in value.splitlines() if len(line) >= 4}
    return {text.encode() for text in texts}


def plan(plans: PlanMaker, program: Path, endpoint: str) -> bytes:
    names = ["PLAIN", "ODD", "LINES", "BY_VARIABLE", "BY_FILE"]
    env: list[dict[str, Any]] = [
        {
            "kind": "env-ref",
            "ref": "env/all",
            "path": "env/all.env",
            "keys": sorted(names),
            "secretNames": ["one", "two"],
        },
        {"kind": "pass-through", "name": "THROUGH"},
    ]

    def runs(mode: str, **more: Any) -> Any:
        return plans.unit("python3", str(program), mode, env=env, on_error="continue", **more)

    def asks(engine: dict[str, Any], instructions: str = "Ask.", **more: Any) -> Any:
        unit = plans.ask(on_error="continue", instructions=instructions, **more)
        return rehashed(plans, unit, engine)

    model = {"kind": "llm", "name": "model", "endpoint": endpoint, "apiKey": "MODEL_KEY"}
    agent = {
        "kind": "agent",
        "name": "tool",
        "platform": "command",
        "bin": "python3",
        "args": [str(program), "answers"],
    }
    prints = runs("prints")
    prints["target"]["passEnv"] = ["OPEN"]
    prints = rehashed(plans, prints)
    gated = plans.step("gated", asks(model, "Tell."), rubric="Rubric: good?", loops=2)
    gated["gate"]["judge"] = rehashed(plans, {"target": gated["gate"]["judge"]}, model)["target"]
    watched = plans.step("watched", runs("tells"), rubric="Good?")  # its judge has heard what the unit knows
    judging = agent | {"args": [str(program), "judges"]}
    watched["gate"]["judge"] = rehashed(plans, {"target": watched["gate"]["judge"]}, judging)["target"]
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": False}
    return plans.data(
        plans.step("prints", prints),
        plans.step("fails", runs("fails")),
        plans.step("misses", runs("misses", output=schema)),
        plans.step("agent", asks(agent, env=env)),
        plans.step("typed", asks(agent, env=env, output=schema)),
        plans.step("model", asks(model), inputs=["steps.prints.output", "steps.agent.output"]),
        plans.step("broken", asks(model, "Fail.")),
        watched,
        gated,
        outputs={"printed": "steps.prints.output", "said": "steps.model.output"},
    )


def rehashed(plans: PlanMaker, unit: Any, engine: dict[str, Any] | None = None) -> Any:
    """``unit`` with another engine, or as it was changed, and the hash that goes with it."""
    from akm_schemas.hashing import target_hash

    target = {key: value for key, value in unit["target"].items() if key != "contentHash"}
    if engine is not None:
        target |= {"engine": engine} | ({"model": "m", "concurrency": 1} if engine["kind"] == "llm" else {})
    more = {"env": unit["env"], "instructions": unit["instructions"]} if "instructions" in unit else {}
    return unit | {"target": target | {"contentHash": target_hash(target, **more)}}


def test_no_canary_is_written_anywhere(run_program: Run, tmp_path: Path, plans: PlanMaker, endpoint: str) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "env").mkdir()
    odd = FILE_ODD.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t")
    lines = [f"PLAIN={FILE_PLAIN}", f'ODD="{odd}"', f'LINES="{FILE_LINES}"']
    lines += ['BY_VARIABLE="${secret:one}"', 'BY_FILE="x ${secret:two} y"']
    (tmp_path / "env" / "all.env").write_text("\n".join(lines) + "\n", encoding="utf-8")
    secrets = tmp_path / ".home" / "akm" / "secrets"
    secrets.mkdir(parents=True)
    (secrets / "two").write_text(SECRET_FILE)
    (tmp_path / "plan.json").write_bytes(plan(plans, tmp_path / "program.py", endpoint))
    (tmp_path / ".akm").mkdir()
    environment = {
        "AKM_CONFIG_DIR": str(secrets.parent),
        "AKM_SECRET_ONE": SECRET_VARIABLE,
        "THROUGH": PASSED_THROUGH,
        "OPEN": OPEN,
        "MODEL_KEY": API_KEY,
    }
    written: dict[str, bytes] = {}

    def say(name: str, *words: str, expect: int = 0) -> str:
        done = run_program("akm-run", *words, env=environment, expect=expect)
        written[f"{name} stdout"], written[f"{name} stderr"] = done.stdout.encode(), done.stderr.encode()
        return done.stdout

    aids = ("--record", "tape.jsonl", "--events", "events.jsonl", "--json")
    document = json.loads(say("run", "plan.json", *aids, expect=1))
    run_id = document["runId"]
    by_id = {step["id"]: step for step in document["steps"]}
    assert [step["status"] for step in document["steps"]] == ["completed"] * 8 + ["pending"]
    assert by_id["gated"]["failureReason"] == "gate_rejected" and by_id["gated"]["loop"] == 2
    assert by_id["prints"]["output"].count("[redacted]") >= 24 and OPEN in by_id["prints"]["output"]
    assert by_id["model"]["output"].count("[redacted]") == 2

    keeper = sqlite3.connect(tmp_path / ".akm" / "state.db")  # while it is open, the write-ahead log stays
    keeper.execute("SELECT count(*) FROM runs").fetchone()
    say("go on", run_id, expect=1)
    say("status", "status", run_id, "--units")
    say("status json", "status", run_id, "--units", "--json")
    say("logs", "logs", run_id)
    say("stream", "events", run_id)
    say("list", "list", "--json")
    say("why", "why", run_id, "gated:solo~l2")
    say("why gate", "why", run_id, "gated:gate~l1", "--json")
    say("why watched", "why", run_id, "watched:solo")
    say("report", "report", run_id, "-o", "report.html")
    say("export", "export", run_id, "-o", "export.db")
    say("output", "output", run_id, expect=1)
    say("dry", "plan.json", "--dry-run", "--reuse", run_id)
    say("replay", "plan.json", "--replay", "tape.jsonl", expect=1)
    assert (tmp_path / ".akm" / "state.db-wal").stat().st_size > 0
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    sources = {tmp_path / "env" / "all.env", secrets / "two", tmp_path / "heard.json"}
    written |= {str(path.relative_to(tmp_path)): path.read_bytes() for path in files if path not in sources}

    keeper.close()
    assert {"tape.jsonl", "events.jsonl", "report.html", "export.db", ".akm/state.db"} <= written.keys()
    assert any(name.startswith(".akm/state.db.logs/") for name in written), sorted(written)
    assert b"[redacted]" in written["tape.jsonl"] and b"[redacted]" in written["report.html"]
    found = [
        (name, form) for name, data in written.items() for value in CANARIES for form in forms(value) if form in data
    ]
    assert found == []
