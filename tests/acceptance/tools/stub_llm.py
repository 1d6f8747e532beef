#!/usr/bin/env python3
"""A chat-completions server with scripted answers, for the cases (standard library only).

    with Stub([{"content": "hello"}, {"status": 429, "headers": {"Retry-After": "1"}}]) as stub:
        ...                 # point an engine at stub.url; afterwards look at stub.requests and stub.unscripted

Each POST takes the first answer that is not used up and whose `when` (if any) fits. Keys of an answer, all optional:

    content     text of the assistant message (default "")
    json        a value to send as the assistant message, as compact JSON (instead of content)
    when        text, or list of texts, that must all occur in the request's model name or message texts
    times       how many requests it serves (default 1; 0: any number)
    status      HTTP status (default 200); for another status `body` is sent as it is
    body        raw response body (instead of a chat completion)
    headers     extra response headers
    usage       the usage object (default 7 + 3 = 10 tokens); null leaves it out
    finish      finish_reason (default "stop")
    delay_s     wait before answering
    drop        true: close the connection without an answer

A request that finds no answer gets HTTP 500 and is counted in `unscripted`. By hand:

    stub_llm.py [--port N] ANSWERS.json     # prints the URL, then one JSON line for each request
"""

from __future__ import annotations

import argparse
import http.server
import json
import pathlib
import sys
import threading
import time


def texts(body: dict) -> str:
    """Model name and all message texts of a request, joined by newlines."""
    parts = [str(body.get("model", ""))]
    for message in body.get("messages") or []:
        content = message.get("content")
        if isinstance(content, list):  # the content-parts form
            content = "\n".join(str(part.get("text", "")) for part in content)
        parts.append(content or "")
    return "\n".join(parts)


class Stub:
    def __init__(self, answers: list[dict], port: int = 0, on_request=None) -> None:
        self.answers = [dict(answer) for answer in answers]
        self.used = [0] * len(self.answers)
        self.requests: list[dict] = []  # {"path", "headers", "body", "text", "at", "in_flight"}
        self.unscripted = 0
        self.open = 0
        self.lock = threading.Lock()
        self.on_request = on_request
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                stub.serve(self)

            def do_GET(self) -> None:
                self.send_error(404)

            def log_message(self, *args: object) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *args: object) -> None:
                pass  # a client that went away is no error

        self.server = Server(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1/chat/completions"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __enter__(self) -> "Stub":
        return self

    def __exit__(self, *exc: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def pick(self, text: str) -> dict | None:
        for index, answer in enumerate(self.answers):
            when = answer.get("when", [])
            when = [when] if isinstance(when, str) else when
            if (answer.get("times", 1) == 0 or self.used[index] < answer.get("times", 1)) and all(
                piece in text for piece in when
            ):
                self.used[index] += 1
                return answer
        return None

    def serve(self, handler: http.server.BaseHTTPRequestHandler) -> None:
        raw = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        text = texts(body) if isinstance(body, dict) else raw.decode("utf-8", "replace")
        headers = {name.lower(): value for name, value in handler.headers.items()}
        with self.lock:
            answer = self.pick(text)
            self.unscripted += answer is None
            self.open += 1
            entry = {
                "path": handler.path,
                "headers": headers,
                "body": body,
                "text": text,
                "at": time.monotonic(),
                "in_flight": self.open,
            }
            self.requests.append(entry)
        if self.on_request:
            self.on_request(entry)
        answer = answer or {"status": 500, "body": '{"error": {"message": "stub_llm: no answer left"}}'}
        time.sleep(float(answer.get("delay_s", 0)))
        with self.lock:
            self.open -= 1  # before the answer leaves: the next request may follow at once
        try:
            self.reply(handler, answer, body)
        except OSError:
            handler.close_connection = True

    def reply(self, handler: http.server.BaseHTTPRequestHandler, answer: dict, body: object) -> None:
        if answer.get("drop"):
            handler.close_connection = True
            return
        asked = body if isinstance(body, dict) else {}
        content = (
            json.dumps(answer["json"], ensure_ascii=False, separators=(",", ":"))
            if "json" in answer
            else str(answer.get("content", ""))
        )
        usage = answer.get("usage", {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10})
        head = {"id": "stub", "created": 0, "model": asked.get("model", "")}
        tail = {"finish_reason": answer.get("finish", "stop"), "index": 0}
        kind = "application/json"
        if "body" in answer or answer.get("status", 200) != 200:
            data = str(answer.get("body", ""))
        elif asked.get("stream"):
            kind = "text/event-stream"
            head["object"] = "chat.completion.chunk"
            chunks = [
                {
                    **head,
                    "choices": [
                        {"index": 0, "delta": {"role": "assistant", "content": content}, "finish_reason": None}
                    ],
                },
                {**head, "choices": [{**tail, "delta": {}}], **({"usage": usage} if usage else {})},
            ]
            data = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"
        else:
            head["object"] = "chat.completion"
            data = json.dumps(
                {
                    **head,
                    "choices": [{**tail, "message": {"role": "assistant", "content": content}}],
                    **({"usage": usage} if usage else {}),
                }
            )
        payload = data.encode("utf-8", "surrogatepass")
        handler.send_response(int(answer.get("status", 200)))
        for name, value in {
            "Content-Type": kind,
            **(answer.get("headers") or {}),
            "Content-Length": str(len(payload)),
        }.items():
            handler.send_header(name, str(value))
        handler.end_headers()
        handler.wfile.write(payload)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("answers", type=pathlib.Path, help="JSON file: the list of answers")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    with Stub(
        json.loads(options.answers.read_text(encoding="utf-8")),
        options.port,
        lambda entry: print(json.dumps(entry), flush=True),
    ) as stub:
        print(stub.url, flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
