#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A backend that may be killed at any moment: backend.py PORT KEY.json INSTALLATION TOKEN

Another hand than docs/examples/remote-backend.py, written from the rules of the exchange alone. Every change is in a database before it is
answered. It speaks for the check on the same port: POST /put, /cancel, /report, /again, /raw, /skew and GET /book/N, which has all after the first N. It repeats itself, forgets
its answers and hands orders out again; its clock may be put forward and back.
"""
import http.server
import json
import pathlib
import random
import sqlite3
import sys
import threading
import time

from joserfc import jws
from joserfc.jwk import ECKey

PORT, FILE, INSTALLATION, TOKEN = int(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
ISSUER, LEASE, HOLD, OFFLINE = "https://pos.example", 3.0, 25, 35
KEY = ECKey.import_key(json.loads(FILE.read_text()))
STRANGER = ECKey.generate_key("P-256", {"kid": "pos-1"}, private=True)
changed, dice = threading.Condition(), random.Random()
book = sqlite3.connect(FILE.parent / "backend.sqlite", check_same_thread=False, isolation_level=None)
book.executescript("""
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS item (jti TEXT PRIMARY KEY, verb TEXT, about TEXT, token TEXT, exp INTEGER, stage TEXT, handed INTEGER DEFAULT 0);
CREATE TABLE IF NOT EXISTS result (jti TEXT, seq INTEGER, body TEXT, PRIMARY KEY (jti, seq));
CREATE TABLE IF NOT EXISTS boot (name TEXT PRIMARY KEY, born INTEGER);
CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value INTEGER);
""")
# What only a life of this process knows: who is polling, and which order was handed out when.
poller, leases = 0, {}


def ask(text, *values):
    return book.execute(text, values).fetchall()


def clock():
    skew = ask("SELECT value FROM setting WHERE name = 'skew'")
    return time.time() + (skew[0][0] if skew else 0)


def put(verb, about=None, life=60, key=KEY, **more):
    """Signs an order and writes it down; nothing is handed out before it is there. What is dated otherwise is handed out all the same."""
    now = int(clock())
    number = ask("SELECT count(*) FROM item")[0][0]
    claims = {"iss": ISSUER, "aud": INSTALLATION, "jti": f"{verb[0].upper()}-{number}.{now}", "iat": now, "exp": now + life, "do": verb}
    claims |= {"of": about} if about else {}
    claims |= more
    token = jws.serialize_compact({"alg": "ES256", "kid": "pos-1", "typ": "nfc-tap-order+jws"}, json.dumps(claims), key)
    ask("INSERT INTO item (jti, verb, about, token, exp, stage) VALUES (?, ?, ?, ?, ?, 'queued')", claims["jti"], verb, about, token,
        now + life)
    return claims["jti"]


def due():
    """What may go out now: not beyond its end by this clock, and not within the lease of an earlier time. A cancel has no end."""
    now = clock()
    ask("UPDATE item SET stage = CASE handed WHEN 0 THEN 'expired' ELSE 'silent' END WHERE stage = 'queued' AND verb != 'cancel' AND exp <= ?", now)
    rows = ask("SELECT jti, token FROM item WHERE stage IN ('queued', 'again') ORDER BY rowid")
    return [row for row in rows if time.monotonic() - leases.get(row[0], -LEASE) >= LEASE][:4]


def poll(body, boot):
    """Status and orders. Called with the lock."""
    global poller
    seen = ask("SELECT name FROM boot ORDER BY born DESC")
    if seen and boot != seen[0][0]:
        if (boot,) in seen:
            return 409, None
        ask("INSERT INTO boot SELECT ?, count(*) FROM boot", boot)
    elif not seen:
        ask("INSERT INTO boot VALUES (?, 0)", boot)
    for jti in body["ack"]:
        ask("UPDATE item SET stage = 'taken' WHERE jti = ? AND stage IN ('queued', 'silent', 'again')", jti)
    for jti, error in body["setErrs"].items():
        ask("UPDATE item SET stage = ? WHERE jti = ? AND stage IN ('queued', 'silent', 'again')", "refused " + error["err"], jti)
    poller += 1
    mine, end = poller, time.monotonic() + HOLD
    changed.notify_all()
    while mine == poller and not due() and time.monotonic() < end:
        changed.wait(0.5)
    rows = due() if mine == poller else []
    for jti, _ in rows:
        leases[jti] = time.monotonic()
        ask("UPDATE item SET handed = 1 WHERE jti = ?", jti)
    return 200, {"sets": dict(rows), "moreAvailable": False}


def heard(body):
    """A number that is known already changes nothing, unless it says something else: that is kept as a fault."""
    word = json.dumps({name: body[name] for name in ("transaction", "error", "outcome", "neverBegan", "state") if name in body}, sort_keys=True)
    known = ask("SELECT body FROM result WHERE jti = ? AND seq = ?", body["jti"], body["seq"])
    if not known:
        ask("INSERT INTO result VALUES (?, ?, ?)", body["jti"], body["seq"], word)
    elif last(json.loads(known[0][0])) != last(json.loads(word)):
        ask("INSERT OR REPLACE INTO result VALUES (?, ?, ?)", body["jti"], -body["seq"], word)


def last(body):
    return body.get("transaction", {}).get("state") or body.get("outcome") or body["error"]["code"]


def entry(row):
    jti, verb, about, exp, stage, handed = row
    told = ask("SELECT seq, body FROM result WHERE jti = ? ORDER BY seq", jti)
    return {"jti": jti, "do": verb, "of": about, "exp": exp, "stage": stage, "handed": handed,
            "told": [(seq, json.loads(text)) for seq, text in told]}


def command(name, body):
    match name:
        case "put":
            return {"jti": put("start", life=body["life"], lane=body.get("lane", "kiosk"), request=body["request"])}
        case "cancel" | "report":
            return {"jti": put(name, about=body["of"])}
        case "again":  # acknowledged or not, it goes out once more
            ask("UPDATE item SET stage = 'again' WHERE jti = ? AND stage = 'taken'", body["of"])
        case "raw":  # forged, foreign, or dated long ago: each must be refused
            claims = {"lane": "kiosk", "request": body["request"]}
            match body["kind"]:
                case "forged": return {"jti": put("start", life=120, key=STRANGER, **claims)}
                case "foreign": return {"jti": put("start", aud="01a20000-0000-7000-8000-00000000dead", **claims)}
                case "old": return {"jti": put("start", **claims, iat=int(clock()) - 130, exp=int(clock()) - 25)}
        case "skew":
            ask("INSERT OR REPLACE INTO setting VALUES ('skew', ?)", body["seconds"])
    return {}


class Answers(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if not self.path.startswith("/nfc-tap/"):
            with changed:
                answer = command(self.path[1:], body)
                changed.notify_all()
            return self.send(200, answer)
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            return self.send(401)
        luck = dice.random()
        if luck < 0.03:
            return self.send(503)
        with changed:
            status, answer = (poll(body, self.headers["NFC-Tap-Boot"]) if self.path.endswith("/poll") else (204, heard(body)))
        # It has taken everything, and nobody hears of it.
        self.send(502 if luck > 0.97 else status, answer)

    def do_GET(self):
        with changed:
            after = self.path.rpartition("/")[2]
            rows = ask("SELECT jti, verb, about, exp, stage, handed FROM item WHERE rowid > ? ORDER BY rowid", int(after) if after.isdigit() else 1 << 40)
            self.send(200, [entry(row) for row in rows])

    def send(self, status, body=None):
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def date_time_string(self, timestamp=None):
        return super().date_time_string(clock())

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer.allow_reuse_address = True
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Answers).serve_forever()
