#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages (PyPI): sseclient 0.0.27, requests-sse 0.5.3, requests 2.32.5 (clients of Server-Sent Events)
#
# The stream: WHATWG HTML, 9.2.6. A line that begins with a colon is a comment, an event without data is not dispatched, and where the connection ends in the
# middle of an event that event is discarded. The client connects again with the last whole event's id in Last-Event-ID, and gets what it has not got.
# Guess: after a cut each event comes once and whole, and a comment every 15 seconds comes never. A header that the caller gives is the caller's.
# What happens: sseclient keeps the lines of a half event, so that the next one has the data of both, and the half one's name if it has none itself. A comment
# is an event "message" without data. The cursor of one stream is written into the caller's own headers: a stream of another shop that is opened with
# them begins behind events that nobody has seen. requests-sse does all of it as the standard asks, with the same headers.
#
# Seen:
# > sseclient, shop one: payment.approved {"number":40}
# > sseclient, shop one: message without data
# > sseclient, shop one: payment.declined {"number":41} {"number":41}
# > sseclient, shop one: payment.approved {"number":42}
# > sseclient, shop two begins after event 40
# > sseclient, without ids: payment.declined {"total":1250}
# > requests-sse, shop one: payment.approved {"number":40}
# > requests-sse, shop one: payment.declined {"number":41}
# > requests-sse, shop one: payment.approved {"number":42}
# > requests-sse, shop two begins after event None
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-compile sseclient==0.0.27 requests-sse==0.5.3 requests==2.32.5

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import collections
import contextlib
import datetime
import io
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from requests_sse import EventSource
from sseclient import SSEClient

# What comes at the first connection, which is cut in event 41, and at the second one.
SHOP = (
    'id: 40\nevent: payment.approved\ndata: {"number":40}\n\n: quiet\n\nid: 41\nevent: payment.declined\ndata: {"number":41}\n',
    'id: 41\nevent: payment.declined\ndata: {"number":41}\n\nid: 42\nevent: payment.approved\ndata: {"number":42}\n\n',
)
STREAMS = {"one": SHOP, "two": SHOP, "without-ids": ("event: payment.declined\n", 'data: {"total":1250}\n\n')}
asked = collections.defaultdict(list)


class Shops(BaseHTTPRequestHandler):
    def do_GET(self):
        client, stream = self.path[1:].split("/")
        asked[client, stream].append(self.headers.get("Last-Event-ID"))
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.end_headers()
        self.wfile.write(STREAMS[stream][min(len(asked[client, stream]), 2) - 1].encode())

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Shops)
threading.Thread(target=server.serve_forever, daemon=True).start()


def address(client, stream):
    return f"http://127.0.0.1:{server.server_port}/{client}/{stream}"


def show(title, event, name):
    print(f"{title}: {name}", " ".join(event.data.split("\n")) or "without data")


def quietly(events):
    """The next event; sseclient prints a line of its own when it connects again."""
    with contextlib.redirect_stdout(io.StringIO()):
        return next(events)


headers = {"Authorization": "Bearer of-a-till"}
events = SSEClient(address("sseclient", "one"), retry=10, headers=headers)
for _ in range(4):
    event = quietly(events)
    show("sseclient, shop one", event, event.event)
quietly(SSEClient(address("sseclient", "two"), retry=10, headers=headers))
print("sseclient, shop two begins after event", asked["sseclient", "two"][0])
event = quietly(SSEClient(address("sseclient", "without-ids"), retry=10))
show("sseclient, without ids", event, event.event)

headers = {"Authorization": "Bearer of-a-till"}
with EventSource(address("requests-sse", "one"), reconnection_time=datetime.timedelta(milliseconds=5), headers=headers) as events:
    for _ in range(3):
        event = next(events)
        show("requests-sse, shop one", event, event.type)
with EventSource(address("requests-sse", "two"), headers=headers) as events:
    print("requests-sse, shop two begins after event", asked["requests-sse", "two"][0])
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
