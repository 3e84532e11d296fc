# SPDX-License-Identifier: Apache-2.0
"""Orders while bridge, daemon and backend are killed, the line is cut or stands still, and the backend's clock jumps by 20 seconds.

Judged when all is quiet: the backend's last word is the daemon's state, the books of the payment service have each approved order once and
nothing else, no card was read after an order's end, and nothing that was forged, foreign or old has begun.
"""
import collections
import datetime
import json
import pathlib
import random
import signal
import socket
import sqlite3
import time

from shop import ROOT, Shop, Unix, until

SETTLED = {"approved", "declined", "cancelled", "failed", "reversed", "stored"}
# Between two looks at all the books.
BATCH = 25
# Of a stranger's orders: they live for a minute, and four are handed out at a time.
QUEUE = 200


def seconds(text):
    return datetime.datetime.fromisoformat(text).timestamp()


class Deaths(Shop):
    backend_words = [str(ROOT / "Tests/Checks/Remote/backend.py")]

    def __init__(self, folder, arguments):
        super().__init__(folder, arguments)
        self.runs, self.forged = arguments.deaths, arguments.forged
        self.dice, self.life = random.Random(arguments.seed), collections.Counter()
        self.starts, self.bad, self.amounts, self.seen = [], [], {}, 0

    def post(self, name, **body):
        return self.backend("POST", f"/{name}", body)

    def card(self, *words):
        """As `nfc-tap virtual` says it. The daemon may be dead."""
        try:
            with socket.socket(socket.AF_UNIX) as control:
                control.settimeout(10)
                control.connect(f"{self.folder}/reader.sock")
                control.sendall(f"{' '.join(words)}\n".encode())
                control.recv(100)
        except OSError:
            pass

    def put(self):
        dice = self.dice
        amount = dice.randrange(1, 50) * 100 + dice.choice([0, 0, 0, 0, 51])
        more = {"confirmWithin": dice.choice([3, 60])} if dice.random() < 0.25 else {}
        request = {"type": "purchase", "amount": {"value": amount, "currency": "EUR"}, **more}
        order = self.post("put", life=dice.randrange(6, 30), request=request)["jti"]
        self.starts.append(order)
        self.amounts[order] = amount
        return order

    def pause(self, most):
        time.sleep(self.dice.random() * most)

    def reborn(self, name, start):
        """Dead for a moment, at any moment."""
        self.end(name)
        self.life[name] += 1
        self.pause(0.5)
        start()

    def happen(self):
        match self.dice.randrange(20):
            case 0 | 1: self.reborn("bridge", self.bridge)
            case 2 | 3: self.reborn("daemon", self.books)
            case 4 | 5: self.reborn("backend", self.serve)
            case 6:
                self.end("bridge")
                self.life["bridge"] += 1
                self.reborn("daemon", self.books)
                self.bridge()
            case 7: self.reborn("haproxy", self.line)
            case 8:
                name = self.dice.choice(["haproxy", "bridge", "daemon"])
                self.processes[name].send_signal(signal.SIGSTOP)
                self.pause(4)
                self.processes[name].send_signal(signal.SIGCONT)
            case 9: self.post("cancel", of=self.dice.choice(self.starts[-4:]))
            case 10: self.post("again", of=self.dice.choice(self.starts[-4:]))
            case 11:
                request = {"type": "purchase", "amount": {"value": 100, "currency": "EUR"}}
                self.bad.append(self.post("raw", kind=self.dice.choice(["forged", "foreign", "old"]), request=request)["jti"])
            case 12: self.post("skew", seconds=self.dice.choice([-20, 0, 0, 20]))
            case _: self.tap()

    def tap(self):
        self.card("present", "visa")
        self.pause(0.6)
        self.card("remove")

    def one(self):
        if self.dice.random() < 0.6:
            self.tap()
        order = self.put()
        if self.dice.random() < 0.6:
            end = time.monotonic() + 3
            while time.monotonic() < end and not any(e["jti"] == order and e["told"] for e in self.book()[-3:]):
                time.sleep(0.05)
        else:
            self.pause(0.3)
        for _ in range(self.dice.randrange(1, 4)):
            self.happen()
            self.pause(0.3)

    def book(self):
        return self.backend("GET", f"/book/{self.seen}")

    def word(self, entry):
        """The backend's last word of an order: the highest number counts."""
        if entry["told"]:
            body = entry["told"][-1][1]
            return body.get("transaction", {}).get("state") or body.get("outcome") or "error " + body["error"]["code"]
        return entry["stage"]

    # When all is quiet

    def quiet(self):
        """Everything is there, and nothing new comes. Of what was handed out and never heard of a report is asked for."""
        self.post("skew", seconds=0)
        asked = {}

        def settled():
            entries = {e["jti"]: e for e in self.book()}
            words = {jti: self.word(e) for jti, e in entries.items()}
            if any(word in ("queued", "again", "taken", "armed", "reversing") for word in words.values()):
                return False
            for order in (jti for jti, word in words.items() if word == "silent" and entries[jti]["do"] == "start"):
                # A report that ran out is asked for once more.
                if order not in asked or words.get(asked[order]) == "silent":
                    asked[order] = self.post("report", of=order)["jti"]
                    return False
            status = json.loads(open(f"{self.folder}/remote/status.json").read())[0]
            return status["untold"] == 0

        until("quiet", settled, 600)
        # What was approved may still be taken back, because nobody confirmed it.
        until("the end of each", lambda: all(self.agrees(e) for e in self.book() if e["do"] == "start"), 180)
        return {e["jti"]: e for e in self.book()}, asked

    def agrees(self, entry):
        found = self.found(entry["jti"])
        return found is None or found["state"] == self.word(entry) or entry["stage"] == "silent"

    def ledger(self):
        connection = Unix(f"{self.folder}/psp.sock")
        try:
            connection.request("GET", "/debug/ledger")
            return json.loads(connection.getresponse().read())["transactions"]
        finally:
            connection.close()

    def wrong(self, order, what, entry=None):
        self.faults.append(f"{order}: {what}")
        print(f"WRONG {order}: {what} {json.dumps(entry) if entry else ''}", flush=True)

    def judge(self):
        try:
            entries, asked = self.quiet()
        except RuntimeError as problem:
            self.faults.append(str(problem))
            for entry in self.book():
                if entry["do"] == "start" and not self.agrees(entry) or self.word(entry) in ("queued", "again", "taken", "armed"):
                    self.wrong(entry["jti"], f"not quiet: {self.word(entry)}", entry)
            return
        charged = collections.Counter()
        held = {}
        for row in self.ledger():
            held[row["id"]] = row["money"] + row["held"]
        transactions, words = {}, collections.Counter()
        for order in self.starts:
            entry, found = entries[order], self.found(order)
            word = self.word(entry)
            if any(seq < 0 for seq, _ in entry["told"]):
                self.wrong(order, "one number says two things", entry)
            if found:
                state = found["state"]
                if found["id"] in transactions:
                    self.wrong(order, f"has the transaction of {transactions[found['id']]}")
                transactions[found["id"]] = order
                if word == "silent":
                    word = self.word(entries[asked[order]]) if order in asked else word
                if word != state:
                    self.wrong(order, f"backend {word}, daemon {state}", entry)
                outstanding = held.pop(found["id"], 0)
                charged[order] += outstanding
                if outstanding != (self.amounts[order] if state == "approved" else 0):
                    self.wrong(order, f"{state}, and the payment service has {outstanding} of {self.amounts[order]}", entry)
                for step in found["history"]:
                    if step["state"] in ("armed", "reading") and seconds(step["at"]) > entry["exp"] + 1:
                        self.wrong(order, f"{step['state']} at {step['at']}, {seconds(step['at']) - entry['exp']:.1f} s after its end", entry)
            elif word == "silent":
                if order in asked and self.word(entries[asked[order]]) not in ("unknown", "cancelled"):
                    self.wrong(order, f"silent, and its report {self.word(entries[asked[order]])}", entry)
            elif word in SETTLED - {"cancelled"} or word in ("armed", "taken"):
                self.wrong(order, f"backend {word}, daemon has nothing", entry)
            words[word] += 1
        for order in self.bad:
            if self.found(order):
                self.wrong(order, "was not to begin", entries[order])
        for transaction, outstanding in held.items():
            if outstanding and transaction not in self.old:
                self.wrong(transaction, f"charged {outstanding} without an order")
        self.old |= set(transactions)
        self.words += words
        self.orders += len(self.starts)
        # What is judged is not looked at again.
        self.starts, self.bad, self.seen = [], [], self.seen + len(entries)

    def strangers(self):
        """Orders of a stranger's key, in a queue: they leave a counter, and nothing else."""
        request = {"type": "purchase", "amount": {"value": 100, "currency": "EUR"}}
        audit = self.entries()
        began, first = time.monotonic(), None
        # As many at a time as are handed out before they end: what only the backend's queue has seen proves nothing.
        for start in range(0, self.forged, QUEUE):
            for _ in range(min(QUEUE, self.forged - start)):
                self.bad.append(self.post("raw", kind="forged", request=request)["jti"])
            first = first or self.bad[0]
            until("refusals", lambda: all(e["stage"] == "refused order.signature" for e in self.book()), 120)
            self.seen += len(self.book())
        took, refused = time.monotonic() - began, self.seen
        ledger = pathlib.Path(self.folder, "remote/shop.orders").stat().st_size
        if ledger or self.entries() != audit:
            self.wrong("strangers", f"ledger of {ledger} bytes, entries {audit} and then {self.entries()}")
        lines = pathlib.Path(self.folder, "bridge.log").read_text().count("orders refused")
        began = time.monotonic()
        order = self.put()
        until("the next order", lambda: any(e["jti"] == order and e["told"] for e in self.book()))
        print(f"{self.forged} forged orders, {refused} handed out: {took:.0f} s, no byte in the ledger, no entry in the chain, {lines} lines in the log; "
              f"the next order was told of after {time.monotonic() - began:.2f} s", flush=True)
        if first and self.found(first):
            self.wrong(first, "was not to begin")

    def entries(self):
        with sqlite3.connect(f"file:{self.folder}/state/journal.sqlite?mode=ro", uri=True) as journal:
            return journal.execute("SELECT count(*) FROM audit").fetchone()[0]

    def run(self):
        if self.forged:
            self.strangers()
        self.old, self.words, self.orders = set(), collections.Counter(), 0
        began = time.monotonic()
        for number in range(1, self.runs + 1):
            self.one()
            if number % BATCH == 0 or number == self.runs:
                self.judge()
                print(f"{number} runs, {self.orders} orders, {len(self.faults)} wrong, {time.monotonic() - began:.0f} s: deaths {dict(self.life)}; "
                      f"{dict(self.words)}", flush=True)
                if self.faults:
                    return
