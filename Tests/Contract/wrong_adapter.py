# SPDX-License-Identifier: Apache-2.0
"""An adapter that keeps every rule of docs/integrating/adapters.md but the one that is named: wrong_adapter.py SOCKET STORE RULE

RULE is a rule of `nfc-tap adapter-check`, or `none`. STORE is a file in which it keeps what it knows, shared by all that name
the same one. Written from docs/openapi-psp.yaml alone, in another language than the program that it tests.
"""
import http.server
import json
import os
import socketserver
import sqlite3
import sys
import threading
import time
import urllib.parse
import uuid

SOCKET, STORE, WRONG = sys.argv[1:4]
FEATURES = ["sale", "preauth", "refund", "verify", "capture", "multicapture", "adjust", "release", "refundLinked", "refundReversal",
            "reconcile", "charge", "tokenDeletion", "pin", "singleTap", "link", "handover", "receipt"]
TERMINALS = ["counter-2"]
PLACES = {"links": "link", "handovers": "handover"}
lock = threading.Lock()
forgotten = time.time() if WRONG == "restart.memory" else 0


def store():
    base = sqlite3.connect(STORE, timeout=10, isolation_level=None)
    base.execute("PRAGMA synchronous = OFF")
    base.execute("CREATE TABLE IF NOT EXISTS kept (kind TEXT, name TEXT, value TEXT, at REAL, PRIMARY KEY (kind, name))")
    return base


class Memory:
    """What all replicas know: for the length of one decision nobody else decides."""

    def __enter__(self):
        self.base = store()
        self.base.execute("BEGIN IMMEDIATE")
        return self

    def __exit__(self, kind, *_):
        self.base.execute("ROLLBACK" if kind else "COMMIT")
        self.base.close()

    def get(self, kind, name):
        if WRONG == "replicas.one-memory":
            name += SOCKET
        row = self.base.execute("SELECT value, at FROM kept WHERE kind = ? AND name = ?", (kind, name)).fetchone()
        return json.loads(row[0]) if row and row[1] >= forgotten else None

    def put(self, kind, name, value):
        if WRONG == "replicas.one-memory":
            name += SOCKET
        self.base.execute("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", (kind, name, json.dumps(value), time.time()))


def authorize(memory, sale):
    amount = sale["amount"]["value"]
    if amount > 1_000_000 or WRONG == "sale.approved":
        return {"outcome": "declined", "responseCode": "51"}
    if WRONG != "reversal.before-sale" and memory.get("reversed", sale["id"]):
        return {"outcome": "declined", "responseCode": "94"}
    # It has no keys of any PIN device: whatever is promised cannot be verified here.
    if sale.get("cvm") == "ONLINE_PIN" and WRONG != "pin.verified":
        return {"outcome": "declined", "responseCode": "86"}
    account = {"held": 0, "captured": 0, "refunded": 0}
    account["held" if sale.get("type") == "preauth" else "captured"] = amount
    if "token" in sale and memory.get("token", sale["token"]) is False and WRONG != "deletion.ends-charges":
        return {"outcome": "declined", "responseCode": "14"}
    if "token" in sale and not memory.get("given", sale["token"]) and WRONG != "charge.unknown-token":
        return {"outcome": "declined", "responseCode": "14"}
    if "token" in sale and WRONG == "charge.approved":
        return {"outcome": "declined", "responseCode": "51"}
    memory.put("account", sale["id"], account)
    memory.put("card", sale["id"], sale.get("card"))
    if sale.get("type") == "sale":
        memory.put("movement", sale["id"], [sale["terminal"]["id"], sale["card"]["scheme"], sale["amount"]])
    answer = {"outcome": "approved", "responseCode": "00", "approvalCode": "123456", "pspReference": str(uuid.uuid4())}
    if "agreement" in sale and "token" not in sale:
        answer["cardToken"] = "tok-" + str(uuid.uuid4())[:6]
        memory.put("token", answer["cardToken"], True)
        memory.put("given", answer["cardToken"], True)
    if WRONG == "sale.amount":
        answer["amountApproved"] = {"value": amount + 1, "currency": sale["amount"]["currency"]}
    return answer


def carry_out(memory, payment, part, wish):
    """Whether it is carried out, in the books of the payment."""
    account = memory.get("account", payment)
    if part == "captures":
        value = wish["amount"]["value"]
        if value > account["held"] and not (WRONG == "capture.bounded" and account["captured"] == 0):
            return WRONG == "capture.final" and account["held"] == 0 and value < account["captured"]
        if WRONG == "operation.capture":
            return False
        account["captured"] += value
        if wish["final"]:
            account["held"] = 0
        elif WRONG != "capture.several":
            account["held"] -= value
    elif part == "adjustments":
        account["held"] = wish["total"]["value"] + (account["held"] if WRONG == "adjust.total" else 0)
    elif part == "releases":
        if wish["amount"]["value"] > account["held"] and WRONG != "release.bounded":
            return False
        account["held"] -= wish["amount"]["value"]
    elif part == "refunds":
        value = wish["amount"]["value"]
        if wish.get("card") == "same" and WRONG != "refund.other-card":
            # A real adapter opens the envelope; the test cards differ in what is shown of them.
            if wish["authorization"]["card"] != memory.get("card", payment):
                return False
        if WRONG == "refund.approved" or value > account["captured"] - account["refunded"] and WRONG != "refund.bounded":
            return False
        account["refunded"] += value
        memory.put("refund", wish["id"], [payment, value])
    memory.put("account", payment, account)
    return True


def operate(memory, payment, part, wish):
    done = carry_out(memory, payment, part, wish)
    answer = {"id": wish["id"], "outcome": "approved" if done else "declined", "pspReference": str(uuid.uuid4())}
    if WRONG == "operation.id":
        answer["id"] = payment
    if WRONG == "operation.amount" and part == "captures" and done:
        answer["amountDone"] = {"value": wish["amount"]["value"] + 1, "currency": wish["amount"]["currency"]}
    return answer


def reverse(memory, name):
    known, refund = memory.get("account", name), memory.get("refund", name)
    if WRONG == "reversal.repeat" and memory.get("reversed", name) and not refund:
        return 409, {}
    if refund and WRONG != "refund.reversal" and not memory.get("reversed", name):
        account = memory.get("account", refund[0])
        account["refunded"] -= refund[1]
        memory.put("account", refund[0], account)
    if known:
        memory.put("account", name, {"held": 0, "captured": 0, "refunded": 0})
    memory.put("reversed", name, True)
    if WRONG == "reversal.acknowledged" and known:
        return 204, {}
    return 200, {"status": "done"}


def reconcile(memory, day):
    """Of sales only: the check makes no other movements in a day that it tells of."""
    items = []
    for name, text in memory.base.execute("SELECT name, value FROM kept WHERE kind = 'movement' AND at >= ?", (forgotten,)).fetchall():
        name, (terminal, scheme, amount) = name.removesuffix(SOCKET), json.loads(text)
        if terminal == day["terminal"] and not memory.get("told", name) and not memory.get("reversed", name):
            memory.put("told", name, day["id"])
            items.append([name, scheme, amount])
    if WRONG == "reconciliation.figures":
        items = []
    lines = {}
    for _, scheme, amount in items:
        line = lines.setdefault((scheme, amount["currency"]), {
            "mode": day["mode"], "currency": amount["currency"], "scheme": scheme, "kind": "captured", "count": 0, "value": 0})
        line["count"] += 1
        line["value"] += amount["value"]
    memory.put("items", day["id"], items)
    lines = list(lines.values())
    return {"id": day["id"], "status": "balanced" if lines == day["lines"] else "differs", "reference": "RC", "lines": lines}

def forget(memory, wish):
    if WRONG == "deletion.repeat" and memory.get("deleted", wish["id"]):
        return 409, {}
    memory.put("token", wish["token"], False)
    memory.put("deleted", wish["id"], True)
    return 200, {} if WRONG == "deletion.acknowledged" else {"id": wish["id"]}


def link(memory, name, method, wish=None, kind="link"):
    """What is said of a link or a hand-over. Nobody pays one here."""
    if kind == "handover" and method == "POST" and json.loads(wish).get("to") not in TERMINALS and WRONG != "handover.other-terminal":
        return 403, {}
    known = memory.get("link", name)
    if method == "GET" and known is None:
        return 404, {}
    if method == "POST" and (known is None or known == "cancelled" and WRONG == kind + ".never-opened"):
        known = "open"
    before = memory.get("request", name)
    if method == "POST" and before not in (None, wish) and WRONG != "link.other-body":
        return 422, {}
    if method == "POST":
        memory.put("request", name, wish)
    if method == "DELETE" and not (WRONG == kind + ".closed" and known == "open"):
        known = "cancelled"
    memory.put("link", name, known)
    answer = {"id": name, "state": known}
    if WRONG == "handover.opened" and kind == "handover" and method == "GET":
        return 404, {}
    if known == "open" and kind == "link":
        answer["url"] = "https://pay.example/" + (str(uuid.uuid4()) if WRONG == "link.repeat" and before and method == "POST" else name)
    if WRONG == "link.opened":
        answer.pop("url", None)
    return 200, answer


def receipt(memory, key, body, wish):
    """The envelope is not opened here: what it has five parts of is one (RFC 7516, 7.1)."""
    if wish["envelope"].count(".") != 4 and WRONG != "receipt.envelope":
        return 400, {}
    before = memory.get("receipt", key)
    if before not in (None, body) and WRONG != "receipt.other-transaction":
        return 422, {}
    if before == body and WRONG == "receipt.repeat":
        return 409, {}
    memory.put("receipt", key, body)
    return 202, {} if WRONG == "receipt.taken" else {"id": wish["id"]}


class Adapter(http.server.BaseHTTPRequestHandler):
    protocol_version, log_message = "HTTP/1.1", lambda *_: None

    def do_GET(self):
        parts = self.path.strip("/").split("/")
        if parts == ["v1", "health"]:
            health = {"status": "ok", "protocolVersions": ["v1"], "supports": FEATURES, "terminals": TERMINALS, "keyLife": 86_400}
            if WRONG == "health":
                del health["supports"]
            return self.reply(200, health)
        if parts == ["v1", "keys"] and WRONG == "keys.usable":
            private = {"kty": "EC", "crv": "P-256", "kid": "shop-1", "x": "AA", "y": "AA", "d": "AA"}
            return self.reply(200, {"keys": [private]})
        if parts[1] in PLACES and len(parts) == 3:
            with Memory() as memory:
                answer = link(memory, parts[2], "GET", kind=PLACES[parts[1]])
            return self.reply(*answer)
        if parts[:2] == ["v1", "reconciliations"]:
            return self.figures(parts[2].split("?")[0], urllib.parse.urlparse(self.path))
        kind = {"authorizations": "sale", "operations": "operation"}.get(parts[1] if len(parts) == 3 else "")
        if kind is None:
            return self.reply(404, {})
        with Memory() as memory:
            answer = memory.get(kind, parts[2])
        if kind == "sale" and WRONG == "query.same-answer" and answer:
            answer["approvalCode"] = "999999"
        if kind == "operation" and WRONG == "operation.query" and answer:
            answer["outcome"] = "declined"
        if answer is None and WRONG == {"sale": "query.never-seen", "operation": "operation.never-seen"}[kind]:
            return self.reply(200, {"outcome": "declined", "id": parts[2]})
        self.reply(404 if answer is None else 200, answer or {})

    def figures(self, name, url):
        with Memory() as memory:
            answer, items = memory.get("day", name), memory.get("items", name)
        if url.path.endswith("/items"):
            asked = dict(urllib.parse.parse_qsl(url.query))
            page = [[i, a["value"]] for i, s, a in sorted(items or []) if s == asked["scheme"] and a["currency"] == asked["currency"] and i > asked.get("after", "")]
            if WRONG == "reconciliation.items":
                page = page[1:]
            more = {"next": page[1][0]} if len(page) > 2 else {}
            return self.reply(200, {"items": [{"id": i, "value": v} for i, v in page[:2]]} | more)
        if answer is None and WRONG != "reconciliation.query":
            return self.reply(404, {})
        self.reply(200, answer or {"id": name, "status": "balanced", "lines": []})

    def do_DELETE(self):
        with Memory() as memory:
            answer = link(memory, self.path.split("/")[-1], "DELETE", kind=PLACES[self.path.split("/")[2]])
        self.reply(*answer)

    def do_POST(self):
        body, key = self.rfile.read(int(self.headers["Content-Length"])), self.headers["Idempotency-Key"]
        wish, parts = json.loads(body), self.path.strip("/").split("/")
        part = parts[3] if len(parts) == 4 else "sales"
        if WRONG == "request.unknown-members" and "x-later" in wish:
            return self.reply(400, {})
        if part == "reversals":
            with Memory() as memory:
                answer = reverse(memory, parts[2])
            # Only what is kept is acknowledged: whoever reads this may kill the process at once.
            return self.reply(*answer)
        if part == "continuations":
            # It never asks for a PIN, so that nothing can go on with one.
            return self.reply(*((200, {"outcome": "approved", "responseCode": "00"}) if WRONG == "pin.continuation" else (403, {})))
        if parts[1] in PLACES:
            with Memory() as memory:
                answer = link(memory, key, "POST", body.decode(), PLACES[parts[1]])
            return self.reply(*answer)
        if parts[1] == "receipts":
            with Memory() as memory:
                answer = receipt(memory, key, body.decode(), wish)
            return self.reply(*answer)
        if parts[1] == "token-deletions":
            with Memory() as memory:
                answer = forget(memory, wish)
            return self.reply(*answer)
        kind, name = ("sale", key) if part == "sales" else ("operation", key)
        if parts == ["v1", "reconciliations"]:
            with Memory() as memory:
                first, answer = memory.get("request", key), memory.get("day", key)
                if first is not None and first != body.decode():
                    return self.reply(422, {})
                if answer is None or WRONG == "reconciliation.repeat":
                    answer = reconcile(memory, wish)
                    memory.put("request", key, body.decode())
                    memory.put("day", key, answer)
            return self.reply(200, answer)
        repeat, other = ("key.repeat", "key.other-body") if kind == "sale" else ("operation.repeat", "operation.other-body")
        if parts[1] == "charges":
            repeat, other = "charge.repeat", "charge.other-body"
        race = WRONG == "key.race" and kind == "sale" or WRONG == "replicas.race" and kind == "sale"
        with lock if WRONG != "key.race" else threading.Lock():
            with Memory() as memory:
                first, answer = memory.get("request", name), memory.get(kind, name)
            if race and first is None:
                time.sleep(0.1)  # Looks first and acts later: time enough for another one to do the same.
            with Memory() as memory:
                if not race:
                    first, answer = memory.get("request", name), memory.get(kind, name)
                if first is not None and first != body.decode() and WRONG != other:
                    return self.reply(422, {})
                if answer is None or WRONG == repeat and first == body.decode():
                    answer = authorize(memory, wish) if kind == "sale" else operate(memory, parts[2], part, wish)
                    memory.put("request", name, body.decode())
                    memory.put(kind, name, answer)
        self.reply(200, answer)

    def reply(self, status, message):
        body = b"" if status == 204 else json.dumps(message).encode()
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(socketserver.UnixStreamServer if WRONG == "connections.idle" else socketserver.ThreadingUnixStreamServer):
    daemon_threads, request_queue_size = True, 128


if os.path.exists(SOCKET):
    os.unlink(SOCKET)
store().close()
Server(SOCKET, Adapter).serve_forever()
