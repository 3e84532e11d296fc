#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A backend orders payments through haproxy and nfc-tap-remote, over a line that fails.

    Tests/Checks/check-remote.py FOLDER-WITH-THE-PROGRAMS PYTHON-WITH-JOSERFC --orders 40 --seed 1

The backend is docs/examples/remote-backend.py, and haproxy has docs/examples/haproxy-remote.cfg but for its addresses. Ends with 1 where a
payment begins that must not, is told wrongly, twice or not at all, or where a result has card data. The script starts itself with that Python.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOKEN = "a-token-of-this-check"
# Nobody, whose group stands for the bridge's.
USER = 65534


class Unix(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(what, value, seconds=180):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            if found := value():
                return found
        except (OSError, http.client.HTTPException, KeyError, IndexError, TypeError):
            pass
        time.sleep(0.01)
    raise RuntimeError(f"waited too long for {what}")


class Shop:
    def __init__(self, folder, arguments):
        from joserfc.jwk import ECKey

        self.folder, self.programs, self.processes = folder, arguments.programs, {}
        self.port, self.pos, self.faults = free_port(), f"{folder}/pos.sock", []
        self.count, self.seed = arguments.orders, arguments.seed
        key = ECKey.generate_key("P-256", {"kid": "pos-1"}, private=True)
        self.write("key.json", json.dumps(key.as_dict(private=True)))
        self.write("keys.jwks", json.dumps({"keys": [key.as_dict(private=False)]}))
        self.write("token", TOKEN + "\n")
        self.write("nfc-tapd.toml", f'[pos]\ngroup = "{USER}"\n[remote]\ngroup = "{USER}"\nlanes = ["kiosk"]\nlimits = {{ EUR = 5000 }}\nunseen = true\n'
                   f'[[lane]]\nname = "kiosk"\nreader = "virtual:{folder}/reader.sock"\n')
        self.write("remote.toml", f"""
socket = "{self.pos}"
directory = "{folder}/remote"
status = "{folder}/remote/status.json"
[[backend]]
name = "shop"
socket = "{folder}/line.sock"
authority = "pos.example"
token = "{folder}/token"
[[sender]]
name = "https://pos.example"
keys = "{folder}/keys.jwks"
lanes = ["kiosk"]
limits = {{ EUR = 5000 }}
""")
        text = (ROOT / "docs/examples/haproxy-remote.cfg").read_text()
        text = re.sub(r"bind .*", f"bind unix@{folder}/line.sock mode 666", text)
        text = re.sub(r"server pos .*", f"server pos 127.0.0.1:{self.port}", text)
        self.write("haproxy.cfg", text)
        os.makedirs(f"{folder}/state")
        # The bridge is another user, whom the daemon knows by its group.
        os.chmod(folder, 0o755)
        os.makedirs(f"{folder}/remote")
        os.chown(f"{folder}/remote", USER, USER)
        self.start("sandbox", f"{self.programs}/nfc-tap-psp-sandbox", "--sandbox", "--socket", f"{folder}/psp.sock")
        self.start("daemon", f"{self.programs}/nfc-tapd", "--runtime-directory", folder, "--state-directory",
                   f"{folder}/state", "--config", f"{folder}/nfc-tapd.toml")
        until("a ready lane", lambda: self.daemon("/v1/status")["lanes"][0]["state"] == "ready")
        self.installation = self.daemon("/v1/status")["support"]
        self.start("backend", sys.executable, str(ROOT / "docs/examples/remote-backend.py"), str(self.port),
                   f"{folder}/key.json", self.installation, TOKEN)
        until("the backend", lambda: self.backend("GET", "/orders/none") == {})
        self.line()
        self.bridge()

    def write(self, name, text):
        pathlib.Path(self.folder, name).write_text(text)

    def start(self, name, *words, **more):
        log = open(f"{self.folder}/{name}.log", "ab")
        self.processes[name] = subprocess.Popen(words, stdout=log, stderr=log, stdin=subprocess.DEVNULL, **more)

    def line(self):
        self.start("haproxy", "haproxy", "-db", "-q", "-f", f"{self.folder}/haproxy.cfg")
        until("haproxy", lambda: os.path.exists(f"{self.folder}/line.sock"))

    def bridge(self):
        self.start("bridge", f"{self.programs}/nfc-tap-remote", "--config", f"{self.folder}/remote.toml",
                   user=USER, group=USER, extra_groups=[])

    def end(self, name, how=signal.SIGKILL):
        self.processes[name].send_signal(how)
        self.processes[name].wait()

    def close(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
        for process in self.processes.values():
            process.wait()

    def daemon(self, target, till=None):
        if till:
            # What belongs to the bridge's till the daemon shows to its group alone.
            asked = subprocess.run(["curl", "-sS", "--max-time", "60", "--unix-socket", self.pos, "-H", f"NFC-Tap-On-Behalf-Of: {till}",
                                    "-H", "NFC-Tap-Roles: cashier", f"http://localhost{target}"],
                                   capture_output=True, check=True, user=USER, group=USER, extra_groups=[])
            return json.loads(asked.stdout)
        connection = Unix(self.pos)
        try:
            connection.request("GET", target)
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def backend(self, method, target, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, target, body=None if body is None else json.dumps(body))
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

    def order(self, value=1250, life=60, lane="kiosk", **more):
        request = {"type": "purchase", "amount": {"value": value, "currency": "EUR"}, **more}
        return self.backend("POST", "/orders", {"lane": lane, "request": request, "life": life})["id"]

    def state(self, order):
        return self.backend("GET", f"/orders/{order}")["state"]

    def reaches(self, order, *states):
        until(f"{order} {states}", lambda: self.state(order) in states)

    def found(self, order):
        return self.daemon(f"/v1/transactions?key={order}", till="remote-shop").get("transactions", [None])[0]

    def card(self, *words):
        subprocess.run([f"{self.programs}/nfc-tap", "virtual", "--control", f"{self.folder}/reader.sock", *words],
                       check=True, stdout=subprocess.DEVNULL)

    def told(self, order):
        results = self.backend("GET", f"/orders/{order}")["results"]
        return [r.get("transaction", {}).get("state") or r.get("outcome") or r["error"]["code"] for r in results]

    def expect(self, what, holds):
        print(f"{'ok   ' if holds else 'WRONG'} {what}", flush=True)
        if not holds:
            self.faults.append(what)

    # What happens

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
        for step in (self.paid, self.refused, self.cancelled, self.busy, self.cut, self.late, self.killed, self.confirmed,
                     self.taken_back, self.storm, self.clean):
            step()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs")
    parser.add_argument("python")
    parser.add_argument("--orders", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    try:
        import joserfc  # noqa: F401
    except ImportError:
        os.execv(arguments.python, [arguments.python, *sys.argv])
    folder = tempfile.mkdtemp(prefix="remote-", dir="/tmp")
    shop = None
    try:
        shop = Shop(folder, arguments)
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
