#!/usr/bin/env python3
"""A model to try gates with: it knows one review and one rubric, and needs no account, key or network.

python3 model.py PORT            a judge that answers as it is asked to
python3 model.py PORT --chatty   a judge that answers in prose, as models sometimes do
"""

import http.server
import json
import sys

PORT, CHATTY = int(sys.argv[1]), "--chatty" in sys.argv


def review(text):
    """The first review names no file; one that was sent back does."""
    return "calc.py: divide() fails where b is 0." if "names the file" in text else "Dividing by 0 fails."


def verdict(text):
    if CHATTY:
        return "Looks good to me!"
    if "calc.py" in text:
        return '{"complete": true}'
    return '{"complete": false, "missing": ["the review names the file"], "feedback": "Say which file it is."}'


class Model(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text = "\n".join(message["content"] for message in asked["messages"])
        answer = verdict(text) if asked["model"] == "judge" else review(text)
        choice = {"message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}
        body = json.dumps({"choices": [choice], "usage": {"total_tokens": len(text) // 4}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Model).serve_forever()
