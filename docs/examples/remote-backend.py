#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A shop's backend for nfc-tap-remote, see docs/integrating/remote.md: remote-backend.py PORT KEY.json INSTALLATION TOKEN
POST /orders {"lane":"kiosk","request":{…},"life":60}, POST /orders/ID/cancel or …/report, GET /orders/ID. On loopback, behind a proxy with TLS."""
import http.server, json, sys, threading, time
from joserfc import jws
from joserfc.jwk import ECKey
PORT, INSTALLATION, TOKEN = int(sys.argv[1]), sys.argv[3], sys.argv[4]
KEY, ISSUER, LEASE = ECKey.import_key(json.load(open(sys.argv[2]))), "https://pos.example", 3
change, orders, polls = threading.Condition(), {}, 0
def make(claims, life=60):
    now = int(time.time())
    id = f"{claims['do']}-{now}-{len(orders)}"
    claims = {"iss": ISSUER, "aud": INSTALLATION, "jti": id, "iat": now, "exp": now + life, **claims}
    token = jws.serialize_compact({"alg": "ES256", "kid": KEY.kid, "typ": "nfc-tap-order+jws"}, json.dumps(claims), KEY)
    orders[id] = dict(id=id, exp=now + life, do=claims["do"], token=token, out=0.0, seq=0, state="queued", results=[])
    change.notify_all()
    return orders[id]
def waiting():  # what was handed out without an acknowledgement goes out again after 3 s; what is over never does
    now = time.time()
    for order in orders.values():
        if order["state"] == "queued" and order["exp"] <= now and order["do"] == "start":
            order["state"] = "silent" if order["out"] else "expired"  # of a silent one ask for a report: it may have begun
    return [order for order in orders.values() if order["state"] == "queued" and now - order["out"] >= LEASE][:4]

class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global polls
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if self.path.startswith("/nfc-tap/") and self.headers["Authorization"] != f"Bearer {TOKEN}": return self.answer(401)
        with change:
            if self.path == "/nfc-tap/poll":
                polls, mine, end = polls + 1, polls + 1, time.time() + 25
                change.notify_all()  # a newer poll ends the older ones, with nothing in them
                said = dict.fromkeys(body["ack"], "taken") | {id: error["err"] for id, error in body["setErrs"].items()}
                for id, state in said.items():
                    if id in orders and orders[id]["state"] in ("queued", "silent"): orders[id]["state"] = state
                while mine == polls and not waiting() and time.time() < end: change.wait(1)
                due = waiting() if mine == polls else []
                for order in due: order["out"] = time.time()
                return self.answer(200, {"sets": {order["id"]: order["token"] for order in due}})
            if self.path == "/nfc-tap/results":
                order, word = orders.get(body["jti"]), body.get("transaction", {}).get("state") or body.get("outcome")
                if order and body["seq"] > order["seq"]:  # the highest number counts; what comes again changes nothing
                    order.update(seq=body["seq"], state=word or body["error"]["code"], results=order["results"] + [body])
                return self.answer(204)
            if self.path == "/orders": claims = {"do": "start", "lane": body["lane"], "request": body["request"]}
            else: claims = {"do": self.path.split("/")[3], "of": self.path.split("/")[2]}
            self.answer(201, make(claims, body.get("life", 60)))
    def do_GET(self):
        with change: self.answer(200, orders.get(self.path.split("/")[-1], {}))
    def answer(self, status, body=None):
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *_): pass

http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
