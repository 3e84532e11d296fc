# SPDX-License-Identifier: Apache-2.0
"""A shop for power cuts: sandbox, daemon and bridge in one folder, and the story that they play. Its adapter's socket is
`/proc/self/cwd/psp.sock`, the same name in every folder: a payment service is known by its name and socket.
"""
import http.client
import json
import os
import pathlib
import socket
import subprocess
import time
import urllib.parse

from tills import Serial, text, zvt

ROOT = pathlib.Path(__file__).resolve().parents[3]
# Tills behind the bridge: protocol, and the lane that each has alone.
TILLS = {"web": ("hw-proxy", "main"), "zvt": ("zvt", "two"), "text": ("caisse-ap", "three"), "serial": ("caisse-e-plus", "four")}
ENDED = {"approved", "declined", "reversed", "cancelled", "failed"}


class Unix(http.client.HTTPConnection):
    def __init__(self, path, limit):
        super().__init__("localhost", timeout=limit)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def until(what, holds, seconds=60):
    begin, pause = time.monotonic(), 0.01
    while time.monotonic() < begin + seconds:
        try:
            found = holds()
            if found:
                return found
        except (OSError, http.client.HTTPException, ValueError):
            pass
        # What takes long is asked for less often: others need the processor.
        time.sleep(pause)
        pause = max(pause, min(0.5, (time.monotonic() - begin) / 10))
    raise RuntimeError(f"waited too long for {what}")


class Shop:
    """Programs in a folder: `state`, `ecr` and `psp` are their disks, everything else is lost with the power."""

    def __init__(self, binaries, folder, environment):
        self.binaries, self.folder, self.environment, self.processes = binaries, str(folder), environment, {}
        # What is written there is recorded, and fails, as all in the folder.
        self.logs = self.folder
        # Requests of tills that are no question.
        self.operations = 0
        self.ports, self.calls = {till: free_port() for till in TILLS if till != "serial"}, 0
        self.line = Serial(f"{folder}/line")
        terminal = pathlib.Path(ROOT, "docs/examples/terminal-test.json").read_text().replace('"floor": 0', '"floor": 100000')
        self.write("terminal.json", terminal)
        self.write("nfc-tapd.toml", f'''
            [pos]
            socket = "{folder}/pos.sock"
            [psp]
            socket = "/proc/self/cwd/psp.sock"
            answer-timeout = {1 if "DISK_RECORD" in environment else 10}
            connect-timeout = 2
            [journal]
            directory = "{folder}/state"
            [terminal]
            file = "{folder}/terminal.json"
            [offline]
            count = 100
            per-card = 100
            [[offline.currency]]
            code = "EUR"
            amount = 90000
            total = 900000
            [pin-devices.pad-1]
            socket = "{folder}/ped.sock"
            key = "{folder}/ped.jwk"
            key-set = "test-aes-dukpt"
            [[lane]]
            name = "main"
            reader = "virtual:{folder}/main.sock"
            pin-device = "pad-1"''' + "".join(f'''
            [[lane]]
            name = "{lane}"
            reader = "virtual:{folder}/{lane}.sock"''' for _, lane in TILLS.values() if lane != "main"))
        self.write("ecr.toml", f'''
            socket = "{folder}/pos.sock"
            directory = "{folder}/ecr"
            ''' + "".join(f'''
            [[till]]
            name = "{till}"
            protocol = "{protocol}"
            {f'device = "{folder}/line"' if till == "serial" else f'listen = "127.0.0.1:{self.ports[till]}"'}
            lane = "{lane}"
            test = true
            {'origins = ["https://shop.example"]' if till == "web" else ""}
            ''' for till, (protocol, lane) in TILLS.items()))

    def write(self, name, text):
        pathlib.Path(self.folder, name).write_text(text)

    # Programs

    def start(self, program, *words):
        log = open(f"{self.logs}/{program}.log", "ab")
        self.processes[program] = subprocess.Popen(
            [f"{self.binaries}/{program}", *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
            env={**os.environ, **self.environment})
        log.close()

    def start_sandbox(self):
        # Whoever was cut off in the middle of a request holds it for the lease.
        self.start("nfc-tap-psp-sandbox", "--sandbox", "--socket", f"{self.folder}/psp.sock", "--store",
                   f"{self.folder}/psp/book.sqlite", "--lease-seconds", "1", "--pin-device", f"{self.folder}/ped.sock")

    def start_service(self):
        """The payment service, and a PIN device with its key."""
        self.start_sandbox()
        until("the sandbox", lambda: self.get("/v1/health", to="psp.sock"))
        self.write("ped.jwk", json.dumps(self.get("/v1/keys", to="psp.sock")["keys"][0]))

    def start_daemon(self):
        self.start("nfc-tapd", "--config", f"{self.folder}/nfc-tapd.toml", "--runtime-directory", self.folder)

    def start_bridge(self):
        self.start("nfc-tap-ecr", "--config", f"{self.folder}/ecr.toml")

    def stop(self, program, signal=15):
        process = self.processes.pop(program, None)
        if process is None:
            return 0
        if process.poll() is None:
            process.send_signal(signal)
        return process.wait(60)

    def kill(self):
        for program in list(self.processes):
            self.stop(program, 9)

    def end(self):
        self.kill()
        self.line.close()

    def said(self, program):
        return pathlib.Path(self.logs, f"{program}.log").read_text(errors="replace")

    def ended(self, program):
        return self.processes[program].poll() is not None

    # Calls

    def ask(self, method, target, body=None, key=None, wait=None, to="pos.sock", limit=40):
        self.operations += method != "GET" and to == "pos.sock"
        connection = Unix(f"{self.folder}/{to}", limit)
        fields = {"Content-Type": "application/json"} if body is not None else {}
        if key:
            fields["Idempotency-Key"] = key
        if wait:
            fields["Prefer"] = f"wait={wait}"
        try:
            connection.request(method, target, None if body is None else json.dumps(body), fields)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"{}")
        finally:
            connection.close()

    def get(self, target, **more):
        return self.ask("GET", target, **more)[1]

    def card(self, line, lane="main"):
        with socket.socket(socket.AF_UNIX) as reader:
            reader.settimeout(10)
            reader.connect(f"{self.folder}/{lane}.sock")
            reader.sendall(line.encode() + b"\n")
            return reader.recv(100)

    def sell(self, key, value, card="visa", **more):
        """A sale from its beginning to what its till is told."""
        self.card(f"swap {card}")
        status, sale = self.ask("POST", "/v1/transactions", {
            "type": "purchase", "amount": {"value": value, "currency": "EUR"}, "order": key, "deadline": 20, **more},
            key=f"key-{key}", wait=20)
        self.card("remove")
        return sale

    def proxy(self, call, parameters):
        self.calls += 1
        connection = http.client.HTTPConnection("127.0.0.1", self.ports["web"], timeout=20)
        try:
            connection.request("POST", f"/hw_proxy/{call}", json.dumps(
                {"jsonrpc": "2.0", "method": "call", "id": self.calls, "params": parameters}),
                {"Content-Type": "application/json", "Origin": "https://shop.example"})
            return json.loads(connection.getresponse().read())["result"]
        finally:
            connection.close()

    def sell_at_bridge(self, order, amount):
        self.operations += 1
        self.card("swap mastercard")
        started = self.proxy("payment_terminal_transaction_start", {"payment_info": json.dumps({
            "amount": amount, "currency_iso": "EUR", "currency_decimals": 2, "payment_mode": "card", "payment_id": "1",
            "order_id": order})})
        if not started:
            raise RuntimeError(f"the bridge began nothing: {self.said('nfc-tap-ecr')}")
        told = until("the till's answer", lambda: self.poll(started["transaction_id"]))
        self.card("remove")
        return told

    def sell_by(self, till, value):
        """A sale at a till that waits for its answer. Whoever is told that it is not paid asks again: the service was away a moment ago."""
        lane = TILLS[till][1]
        sell = {"zvt": lambda: zvt(self.ports[till], value), "text": lambda: text(self.ports[till], value),
                "serial": lambda: self.line.sell(value)}[till]
        for _ in range(5):
            self.card("swap visa", lane)
            self.operations += 1
            is_paid = sell()
            self.card("remove", lane)
            if is_paid:
                return
        raise RuntimeError(f"the till {till} was not paid: {self.said('nfc-tap-ecr')}")

    def poll(self, transaction):
        # A page asks once a second; one that asks more often is heard too.
        time.sleep(0.2)
        found = self.proxy("status_json", {})["nfc_tap"]["transactions"].get(str(transaction), {})
        return found if found.get("success") is not None else None

    def is_ready(self):
        lanes = self.get("/v1/status", limit=2)["lanes"]
        return bool(lanes) and all(lane["state"] == "ready" for lane in lanes)

    def transactions(self):
        found, page = {}, self.get("/v1/transactions?limit=100")
        while True:
            found |= {each["id"]: each for each in page["transactions"]}
            if "next" not in page:
                return found
            page = self.get(f"/v1/transactions?limit=100&after={urllib.parse.quote(page['next'])}")

    def booked(self):
        return self.get("/debug/ledger", to="psp.sock")

    # A day

    def play(self, dice, more=0):
        """First start, every kind of sale, day end, one more sale, stop: in an order that the dice choose, if there are any, and `more` of
        those that need no other start of the payment service."""
        def paid(turn):
            self.sell(turn("paid"), 1250)

        def declined(turn):
            self.sell(turn("declined"), 1251)

        def stored(turn):
            self.stop("nfc-tap-psp-sandbox")
            sale = self.sell(turn("stored"), 1200, "visa-afl")
            self.start_sandbox()
            until("the adapter", lambda: self.get("/v1/health", to="psp.sock"))
            self.ask("POST", "/v1/queue/flush")
            until("the stored sale", lambda: self.get(f"/v1/transactions/{sale['id']}")["state"] == "approved")

        def held(turn):
            sale = self.sell(turn("held"), 2000, capture={"mode": "manual"})
            self.ask("POST", f"/v1/transactions/{sale['id']}/captures", {"amount": {"value": 1500, "currency": "EUR"}},
                     key=turn("key-captured"), wait=20)

        def adjusted(turn):
            sale = self.sell(turn("adjusted"), 3000, capture={"mode": "manual"})
            self.ask("POST", f"/v1/transactions/{sale['id']}/adjustments", {"total": {"value": 3500, "currency": "EUR"}},
                     key=turn("key-adjusted"), wait=20)
            self.ask("POST", f"/v1/transactions/{sale['id']}/releases", {"amount": {"value": 3500, "currency": "EUR"}},
                     key=turn("key-released"), wait=20)

        def batched(turn):
            self.stop("nfc-tap-psp-sandbox")
            sales = [self.sell(turn(f"batched-{number}"), 1100 + 10 * number, "visa-afl") for number in range(2)]
            batch = self.ask("POST", "/v1/queue/batches", {"size": 2})[1]
            self.ask("POST", f"/v1/queue/batches/{batch['id']}/reset", {})
            self.start_sandbox()
            until("the adapter", lambda: self.get("/v1/health", to="psp.sock"))
            self.ask("POST", "/v1/queue/flush")
            for sale in sales:
                until("a sale of the batch", lambda: self.get(f"/v1/transactions/{sale['id']}")["state"] == "approved")

        def linked(turn):
            link = self.ask("POST", "/v1/transactions", {"type": "link", "amount": {"value": 400, "currency": "EUR"}, "order": turn("linked")},
                            key=turn("key-linked"), wait=20)[1]
            self.ask("DELETE", f"/v1/transactions/{link['id']}")
            until("the link's end", lambda: self.get(f"/v1/transactions/{link['id']}")["state"] in ENDED)

        def cancelled(turn):
            sale = self.ask("POST", "/v1/transactions", {"type": "purchase", "amount": {"value": 300, "currency": "EUR"}},
                            key=turn("key-cancelled"))[1]
            self.ask("DELETE", f"/v1/transactions/{sale['id']}")

        def confirmed(turn):
            sale = self.sell(turn("confirmed"), 800, "mastercard", confirmWithin=5)
            self.ask("POST", f"/v1/transactions/{sale['id']}/confirmation")

        def with_pin(turn):
            self.sell(turn("pin"), 6000, "mastercard")

        def lost(turn):
            sale = self.sell(turn("lost"), 1298)
            until("a reversal", lambda: self.get(f"/v1/transactions/{sale['id']}")["state"] == "reversed")

        def given_back(turn):
            sale = self.sell(turn("kept"), 1350)
            self.ask("POST", "/v1/transactions", {"type": "refund", "of": sale["id"], "amount": {"value": 500, "currency": "EUR"}},
                     key=turn("key-back"), wait=20)

        often = [paid, declined, held, adjusted, linked, cancelled, confirmed, with_pin, given_back,
                 lambda turn: self.sell_at_bridge(turn("web"), 9.5), lambda _: self.sell_by("zvt", 1600), lambda _: self.sell_by("text", 1700),
                 lambda _: self.sell_by("serial", 1800)]
        steps = [*often, stored, batched, lost] + [often[number % len(often)] for number in range(more)]
        if dice:
            dice.shuffle(steps)
        self.begin()
        self.ask("POST", "/v1/lanes/main/prepare", wait=20)
        for number, step in enumerate(steps):
            step(lambda name, number=number: f"{name}-{number}")
        self.ask("POST", "/v1/days", {}, key="key-day", wait=20)
        self.sell("last", 900)
        self.stop("nfc-tapd")

    def begin(self, bridge=True):
        self.start_service()
        self.start_daemon()
        if bridge:
            self.start_bridge()
        until("a lane", lambda: self.ended("nfc-tapd") or self.is_ready())
        if bridge:
            until("the bridge", lambda: self.ended("nfc-tap-ecr") or self.proxy("status_json", {}))
