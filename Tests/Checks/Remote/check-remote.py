#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A backend orders payments through haproxy and nfc-tap-remote, over a line that fails.

    Tests/Checks/Remote/check-remote.py FOLDER-WITH-THE-PROGRAMS PYTHON-WITH-JOSERFC --orders 40 --seed 1
    Tests/Checks/Remote/check-remote.py FOLDER-WITH-THE-PROGRAMS PYTHON-WITH-JOSERFC --deaths 500 --seed 1

The backend is docs/examples/remote-backend.py; with --deaths it is backend.py of another hand. haproxy has docs/examples/haproxy-remote.cfg but for its addresses. Ends with 1 where a
payment begins that must not, is told wrongly, twice or not at all, or where a result has card data. The script starts itself with that Python.
"""
import argparse
import datetime
import http.server
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socketserver
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from deaths import Deaths
from shop import ROOT, Shop, until


class SlowBackend(socketserver.ThreadingUnixStreamServer):
    """A backend at the end of the line that hands out its orders with the first answer, so many seconds late, and none afterwards."""

    daemon_threads = True

    def __init__(self, path, delay, sets):
        self.delay, self.sets, self.polls = delay, sets, 0
        if os.path.exists(path):
            os.remove(path)
        super().__init__(path, SlowAnswer)
        os.chmod(path, 0o666)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def close(self):
        self.shutdown()
        self.server_close()
        os.remove(self.server_address)


class SlowAnswer(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        body = b""
        if self.path.endswith("/poll"):
            self.server.polls += 1
            is_first = self.server.polls == 1
            time.sleep(self.server.delay if is_first else 0.5)
            body = json.dumps({"sets": self.server.sets if is_first else {}}).encode()
        # Without a date: nobody says that the clocks differ.
        self.send_response_only(200 if body else 204)
        self.send_header("Content-Length", str(len(body)))
        try:
            self.end_headers()
            self.wfile.write(body)
        except BrokenPipeError:
            pass

    def log_message(self, *_):
        pass


class Story(Shop):
    def paid(self):
        began = time.monotonic()
        order = self.order()
        self.reaches(order, "armed")
        armed = time.monotonic() - began
        self.card("present", "visa")
        self.reaches(order, "approved")
        self.card("remove")
        self.expect(f"first payment: armed after {armed:.2f} s, told in order", self.told(order) == ["armed", "approved"])

    def refused(self):
        order = self.order(lane="main")
        self.reaches(order, "order.lane")
        self.expect("another lane: nothing began", self.found(order) is None)
        order = self.order(value=5001)
        self.reaches(order, "order.amount")
        self.expect("beyond the limit: nothing began", self.found(order) is None)

    def cancelled(self):
        order = self.order()
        self.reaches(order, "armed")
        cancel = self.backend("POST", f"/orders/{order}/cancel", {})["id"]
        self.reaches(cancel, "cancelled")
        self.reaches(order, "cancelled")
        self.expect("cancel while armed", self.found(order)["state"] == "cancelled")

    def busy(self):
        first = self.order()
        self.reaches(first, "armed")
        second = self.order()
        self.reaches(second, "reader.busy")
        self.backend("POST", f"/orders/{first}/cancel", {})
        self.reaches(first, "cancelled")
        self.expect("busy: said once, and not tried again", self.told(second) == ["reader.busy"])

    def cut(self):
        order = self.order()
        self.reaches(order, "armed")
        self.end("haproxy")
        self.card("present", "visa")
        until("approval", lambda: self.found(order)["state"] == "approved")
        self.card("remove")
        time.sleep(4)
        back = time.monotonic()
        self.line()
        self.reaches(order, "approved")
        self.expect(f"line cut: told {time.monotonic() - back:.1f} s after it was back, once",
                    self.told(order) == ["armed", "approved"])

    def late(self):
        time.sleep(1)
        self.processes["haproxy"].send_signal(signal.SIGSTOP)
        order = self.order(life=6)
        time.sleep(9)
        self.processes["haproxy"].send_signal(signal.SIGCONT)
        self.reaches(order, "order.expired", "silent", "expired")
        time.sleep(4)
        self.expect(f"late answer: {self.state(order)}, nothing began", self.found(order) is None)

    def held_up(self):
        """An answer that comes 30 s after its poll starts nothing, however fresh its order is by the bridge's clock: right, or ten minutes slow. In time it is taken."""
        clock = self.slow_clock()
        for number, (slow, delay) in enumerate(((False, 1), (False, 32), (True, 1), (True, 32))):
            self.end("bridge")
            self.end("haproxy")
            now, id = int(time.time()) - 600 * slow, f"held-up-{number}"
            claims = {"iss": "https://pos.example", "aud": self.installation, "jti": id, "iat": now, "exp": now + 120, "do": "start",
                      "lane": "kiosk", "request": {"type": "purchase", "amount": {"value": 1300, "currency": "EUR"}}}
            taken = pathlib.Path(self.folder, "bridge.log").read_text().count("order taken")
            backend = SlowBackend(f"{self.folder}/line.sock", delay, {id: self.sign(claims)})
            self.bridge(env={**os.environ, **(clock if slow else {})})
            until("polls after it", lambda: backend.polls > 2)
            time.sleep(1)
            backend.close()
            taken = pathlib.Path(self.folder, "bridge.log").read_text().count("order taken") - taken
            self.expect(f"answer after {delay} s, clock {'10 min slow' if slow else 'right'}: {taken} taken, "
                        f"{'one' if self.found(id) else 'none'} begun", taken == (delay < 30) and (delay < 30 or self.found(id) is None))
            if (self.found(id) or {}).get("state") == "armed":
                self.card("present", "visa")
                until("approval", lambda: self.found(id)["state"] == "approved")
                self.card("remove")
        self.end("bridge")
        self.line()
        self.bridge()

    def sign(self, claims):
        from joserfc import jws
        from joserfc.jwk import ECKey

        key = ECKey.import_key(json.loads(pathlib.Path(self.folder, "key.json").read_text()))
        return jws.serialize_compact({"alg": "ES256", "kid": "pos-1", "typ": "nfc-tap-order+jws"}, json.dumps(claims), key)

    def slow_clock(self):
        """What a program's environment needs to be ten minutes slow."""
        library = f"{self.folder}/clock.so"
        subprocess.run(["clang", "-shared", "-fPIC", "-O1", "-o", library, str(ROOT / "Tests/Rigs/Clock/clock.c")], check=True)
        self.write("slow", "-600\n")
        return {"LD_PRELOAD": library, "SHIFTED": f"{self.folder}/slow"}

    def killed(self):
        order = self.order()
        self.reaches(order, "armed")
        self.end("bridge")
        self.card("present", "visa")
        until("approval", lambda: self.found(order)["state"] == "approved")
        self.card("remove")
        self.bridge()
        self.reaches(order, "approved")
        time.sleep(2)
        same = [t for t in self.daemon("/v1/transactions?limit=100")["transactions"] if t["id"] == self.found(order)["id"]]
        self.expect("bridge killed while armed: one transaction, told once",
                    len(same) == 1 and self.told(order) == ["armed", "approved"])

    def confirmed(self):
        order = self.order(confirmWithin=60)
        self.reaches(order, "armed")
        self.card("present", "visa")
        self.reaches(order, "approved")
        self.card("remove")
        until("confirmation", lambda: self.found(order)["confirmation"]["confirmedAt"])
        self.expect("the answer to an approval confirms it", self.found(order)["state"] == "approved")

    def taken_back(self):
        order = self.order(confirmWithin=3)
        self.reaches(order, "armed")
        self.end("haproxy")
        self.card("present", "visa")
        until("reversal", lambda: self.found(order)["state"] == "reversed")
        self.card("remove")
        self.line()
        self.reaches(order, "reversed")
        self.expect("not heard: taken back, and never told as approved", self.told(order) == ["armed", "reversed"])

    def storm(self):
        """Orders in random order with deaths and cuts; in the end the backend's last word is the daemon's."""
        dice, orders = random.Random(self.seed), []
        for _ in range(self.count):
            orders.append(self.order(value=dice.randrange(1, 5000), life=dice.randrange(6, 20),
                                     **({"confirmWithin": 3} if dice.random() < 0.2 else {})))
            time.sleep(dice.random() / 2)
            match dice.randrange(7):
                case 0:
                    self.end("bridge")
                    time.sleep(dice.random())
                    self.bridge()
                case 1:
                    self.end("haproxy")
                    time.sleep(dice.random() * 3)
                    self.line()
                case 2:
                    self.processes["haproxy"].send_signal(signal.SIGSTOP)
                    time.sleep(dice.random() * 8)
                    self.processes["haproxy"].send_signal(signal.SIGCONT)
                case 3:
                    self.backend("POST", f"/orders/{dice.choice(orders)}/cancel", {})
                case _:
                    self.card("present", "visa")
                    time.sleep(0.3)
                    self.card("remove")
        open_words = ("queued", "taken", "silent", "armed", "created", "reading", "sealed", "sent", "unknown", "reversing")

        def quiet():
            return all(self.state(o) not in open_words for o in orders if self.found(o) or self.state(o) != "silent")

        until("quiet", quiet, 300)
        time.sleep(5)
        words = {}
        for order in orders:
            found, said = self.found(order), self.state(order)
            words[said] = words.get(said, 0) + 1
            if (found["state"] if found else said) != said or not found and said in ("approved", "armed", "reversed"):
                self.expect(f"{order}: backend {said}, daemon {found and found['state']}", False)
        ids = [t["id"] for t in (self.found(o) for o in orders) if t]
        self.expect(f"storm of {len(orders)} orders, seed {self.seed}: {words}", len(ids) == len(set(ids)))

    def times(self):
        """Medians: from an order to its reader, and from the end of a payment to the backend."""
        began, ended, cards = [], [], ["visa", "mastercard", "visa-phone", "visa-declines"]
        for number in range(self.payments):
            start = time.time()
            order = self.order(value=100 * (number % 40 + 1))
            self.reaches(order, "armed")
            began.append(time.time() - start)
            self.card("present", cards[number % len(cards)])
            self.reaches(order, "approved", "declined")
            told = time.time()
            self.card("remove")
            step = self.found(order)["history"][-1]
            ended.append(told - datetime.datetime.fromisoformat(step["at"]).timestamp())
        if began:
            print(f"ok    {len(began)} payments: order to armed {statistics.median(began):.3f} s, end to backend {statistics.median(ended):.3f} s "
                  "(medians)", flush=True)

    def clean(self):
        ids = re.findall(r'"id": "(\w+-\d+-\d+)"', json.dumps([self.backend("GET", f"/orders/{o}") for o in self.ids]))
        text = json.dumps([self.backend("GET", f"/orders/{o}")["results"] for o in ids])
        members = r'"(card|chip|pan|token|credential|receipt\w*|psp\w*|approvalCode)":'
        self.expect("no card data in any result", not re.search(members, text, re.I) and not re.search(r"\d{13,19}", text))
        log = pathlib.Path(self.folder, "bridge.log").read_text()
        self.expect("nothing of an order in the log", not any(o in log for o in ids) and "1250" not in log)

    def run(self):
        self.ids, backend = [], self.backend

        def remember(method, target, body=None):
            answer = backend(method, target, body)
            if method == "POST":
                self.ids.append(answer["id"])
            return answer

        self.backend = remember
        for step in (self.paid, self.refused, self.cancelled, self.busy, self.cut, self.late, self.held_up, self.killed, self.confirmed,
                     self.taken_back, self.storm, self.times, self.clean):
            step()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs")
    parser.add_argument("python")
    parser.add_argument("--orders", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--payments", type=int, default=0, help="payments whose times are taken, with a card of another kind each")
    parser.add_argument("--deaths", type=int, default=0, help="runs in which bridge, daemon and backend die")
    parser.add_argument("--forged", type=int, default=0, help="orders of a stranger's key that come before them")
    arguments = parser.parse_args()
    try:
        import joserfc  # noqa: F401
    except ImportError:
        os.execv(arguments.python, [arguments.python, *sys.argv])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = tempfile.mkdtemp(prefix="remote-", dir="/tmp")
    shop = None
    try:
        shop = (Deaths if arguments.deaths or arguments.forged else Story)(folder, arguments)
        shop.run()
    except Exception as problem:  # noqa: BLE001
        print(f"check-remote: {problem!r}; logs in {folder}", file=sys.stderr)
        return 1
    finally:
        if shop:
            shop.close()
    if shop.faults:
        print(f"check-remote: {len(shop.faults)} wrong; logs in {folder}", file=sys.stderr)
        return 1
    shutil.rmtree(folder)
    return 0


sys.exit(main())
