#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The test bench of `make till`: one page with virtual cards on buttons, and the way to a till and a display that are paired.

till-bench.py FOLDER-WITH-THE-PROGRAMS FOLDER-OF-THE-SOCKETS PORT; port 0 takes a free one. It is no part of the gateway and of no package: it
knows nothing but the virtual reader's socket and the administrator's command. It speaks to this machine alone.
"""
import html
import http.server
import pathlib
import subprocess
import sys
import threading

BIN, FOLDER = map(pathlib.Path, sys.argv[1:3])
CARDS = {
    "visa": "Card A", "mastercard": "Card B", "visa-phone": "Phone", "see-phone": "Phone that asks its holder first",
    "two-schemes": "Card with two schemes", "locked": "Locked card"}
#: Seconds for which a card is held to the reader.
HOLD = 3
WAYS = {"/till": ("--till", "bench", "--role", "manager"), "/display": ("--till", "bench-display", "--role", "display")}
AMOUNTS = (("12.50", "approved"), ("12.51", "declined"), ("12.10", "approved in part"), ("12.70", "wants chip and PIN"), ("12.98", "not known, then taken back"))
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Test bench</title><meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root {{ color-scheme: light dark; font: 18px/1.5 system-ui, sans-serif; }}
body {{ max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }}
button {{ font: inherit; min-height: 64px; padding: 8px 18px; margin: 0 8px 8px 0; border: 2px solid; border-radius: 8px; }}
td {{ padding-right: 2rem; }}
</style></head>
<body><h1>Test bench</h1>
<p>No money moves. Open the <a href="/till" target="till">till</a> and the <a href="/display" target="display">customer display</a>, sell
something, and press a card when the till asks for it.</p>
<h2>Hold a card to the reader</h2>
<p>{cards}</p>
<p role="status" id="status"></p>
<h2>The amount chooses the answer</h2>
<table>{amounts}</table>
<script>
for (const one of document.querySelectorAll("button")) one.addEventListener("click", async () => {{
  const answer = await fetch("/cards/" + one.value, {{ method: "POST" }});
  document.getElementById("status").textContent = await answer.text();
}});
</script></body></html>
""".format(
    cards="".join(f'<button type="button" value="{name}">{html.escape(label)}</button>' for name, label in CARDS.items()),
    amounts="".join(f"<tr><td>{amount}</td><td>{answer}</td></tr>" for amount, answer in AMOUNTS))


def run(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=30)


class Reader:
    """One card at a time, which is taken away by itself unless another one has come meanwhile."""

    def __init__(self):
        self.lock, self.turn = threading.Lock(), 0

    def command(self, *words):
        return run(BIN / "nfc-tap", "virtual", "--control", FOLDER / "reader.sock", *words)

    def hold(self, card):
        with self.lock:
            self.turn += 1
            self.command("remove")
            done = self.command("present", card)
            threading.Timer(HOLD, self.take_away, [self.turn]).start()
            return done.returncode == 0

    def take_away(self, turn):
        with self.lock:
            if turn == self.turn:
                self.command("remove")


class Bench(http.server.BaseHTTPRequestHandler):
    reader = Reader()

    def is_own(self):
        """A page from elsewhere may neither press a button nor reach this one under another name."""
        return self.headers.get_all("Host") == [self.server.home] and self.headers.get("Origin") in (None, f"http://{self.server.home}")

    def answer(self, status, text="", kind="text/plain", **fields):
        body = text.encode()
        self.send_response(status)
        for name, value in {"Content-Type": f"{kind}; charset=utf-8", "Content-Length": len(body), "Cache-Control": "no-store", **fields}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if not self.is_own():
            return self.answer(421, "another name than this machine's")
        if self.path in WAYS:
            # A code for each who asks; a page that is a till already leaves it unused.
            made = run(BIN / "nfc-tap-gateway", "pair", "--runtime-directory", FOLDER, "--lane", "main", *types(self.path), *WAYS[self.path])
            address = next((word for word in made.stdout.split() if "#code=" in word), None)
            return self.answer(303, Location=address) if address else self.answer(502, made.stderr)
        return self.answer(200, PAGE, "text/html") if self.path == "/" else self.answer(404, "nothing here")

    def do_POST(self):
        card = self.path.removeprefix("/cards/")
        if not self.is_own() or self.headers.get("Origin") is None:
            return self.answer(403, "a page from elsewhere")
        if card not in CARDS:
            return self.answer(404, "no such card")
        held = self.reader.hold(card)
        self.answer(200 if held else 502, f"{CARDS[card]}: {'held to the reader' if held else 'the reader is away'}")

    def log_message(self, *_):
        pass


def types(way):
    kinds = ("purchase", "refund", "verification", "loyalty", "link", "handover") if way == "/till" else ()
    return [word for kind in kinds for word in ("--type", kind)]


server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3])), Bench)
server.daemon_threads = True
server.home = f"127.0.0.1:{server.server_port}"
print(f"listening on http://{server.home}", flush=True)
server.serve_forever()
