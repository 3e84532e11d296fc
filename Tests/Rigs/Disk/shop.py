# SPDX-License-Identifier: Apache-2.0
"""A shop for power cuts: sandbox, daemon and bridge in one folder, the story that they play, and what has to be true of the books
after a cut. Its adapter's socket is `/proc/self/cwd/psp.sock`, the same name in every folder: a payment service is known by its name
and socket.
"""
import http.client
import json
import os
import pathlib
import socket
import subprocess
import time

ENDED = {"approved", "declined", "reversed", "cancelled", "failed"}
BACK = {"reversing", "reversed", "declined"}
NOT_CHARGED = BACK | {"cancelled", "failed"}
# What may have become of what was told, since nobody has asked for anything else.
AFTER = {"approved": {"approved"}, "declined": {"declined", "reversing", "reversed"}, "stored": {"stored", "approved"},
         "reversing": BACK, "reversed": BACK, "unknown": BACK | {"unknown"}, "cancelled": NOT_CHARGED, "failed": NOT_CHARGED}


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
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            found = holds()
            if found:
                return found
        except (OSError, http.client.HTTPException, ValueError):
            pass
        time.sleep(0.01)
    raise RuntimeError(f"waited too long for {what}")


class Shop:
    """Programs in a folder: `state`, `ecr` and `psp` are their disks, everything else is lost with the power."""

    def __init__(self, binaries, folder, environment):
        self.binaries, self.folder, self.environment, self.processes = binaries, str(folder), environment, {}
        self.port, self.calls = free_port(), 0
        root = pathlib.Path(__file__).resolve().parents[3]
        terminal = pathlib.Path(root, "docs/examples/terminal-test.json").read_text().replace('"floor": 0', '"floor": 100000')
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
            [[lane]]
            name = "main"
            reader = "virtual:{folder}/reader.sock"''')
        self.write("ecr.toml", f'''
            socket = "{folder}/pos.sock"
            directory = "{folder}/ecr"
            [[till]]
            name = "web"
            protocol = "hw-proxy"
            listen = "127.0.0.1:{self.port}"
            lane = "main"
            test = true
            origins = ["https://shop.example"]''')

    def write(self, name, text):
        pathlib.Path(self.folder, name).write_text(text)

    # Programs

    def start(self, program, *words):
        log = open(f"{self.folder}/{program}.log", "ab")
        self.processes[program] = subprocess.Popen(
            [f"{self.binaries}/{program}", *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
            env={**os.environ, **self.environment})
        log.close()

    def start_sandbox(self):
        # Whoever was cut off in the middle of a request holds it for the lease.
        self.start("nfc-tap-psp-sandbox", "--sandbox", "--socket", f"{self.folder}/psp.sock", "--store",
                   f"{self.folder}/psp/book.sqlite", "--lease-seconds", "1")

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

    def end(self):
        for program in list(self.processes):
            self.stop(program, 9)

    def said(self, program):
        return pathlib.Path(self.folder, f"{program}.log").read_text(errors="replace")

    def ended(self, program):
        return self.processes[program].poll() is not None

    # Calls

    def ask(self, method, target, body=None, key=None, wait=None, to="pos.sock", limit=40):
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

    def card(self, line):
        with socket.socket(socket.AF_UNIX) as reader:
            reader.settimeout(10)
            reader.connect(f"{self.folder}/reader.sock")
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
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request("POST", f"/hw_proxy/{call}", json.dumps(
                {"jsonrpc": "2.0", "method": "call", "id": self.calls, "params": parameters}),
                {"Content-Type": "application/json", "Origin": "https://shop.example"})
            return json.loads(connection.getresponse().read())["result"]
        finally:
            connection.close()

    def sell_at_bridge(self, order, amount):
        self.card("swap mastercard")
        started = self.proxy("payment_terminal_transaction_start", {"payment_info": json.dumps({
            "amount": amount, "currency_iso": "EUR", "currency_decimals": 2, "payment_mode": "card", "payment_id": "1",
            "order_id": order})})
        if not started:
            raise RuntimeError(f"the bridge began nothing: {self.said('nfc-tap-ecr')}")
        told = until("the till's answer", lambda: self.poll(started["transaction_id"]))
        self.card("remove")
        return told

    def poll(self, transaction):
        # A page asks once a second; one that asks more often is heard too.
        time.sleep(0.2)
        found = self.proxy("status_json", {})["nfc_tap"]["transactions"].get(str(transaction), {})
        return found if found.get("success") is not None else None

    def is_ready(self):
        lanes = self.get("/v1/status", limit=2)["lanes"]
        return bool(lanes) and all(lane["state"] == "ready" for lane in lanes)

    def transactions(self):
        return {each["id"]: each for each in self.get("/v1/transactions?limit=100")["transactions"]}

    def booked(self):
        return self.get("/debug/ledger", to="psp.sock")

    # A day

    def play(self, dice):
        """First start, every kind of sale, day end, one more sale, stop: in an order that the dice choose, if there are any."""
        sales = {}

        def paid():
            sales["paid"] = self.sell("paid", 1250)

        def stored():
            self.stop("nfc-tap-psp-sandbox")
            sale = self.sell("stored", 1200, "visa-afl")
            self.start_sandbox()
            until("the adapter", lambda: self.get("/v1/health", to="psp.sock"))
            self.ask("POST", "/v1/queue/flush")
            until("the stored sale", lambda: self.get(f"/v1/transactions/{sale['id']}")["state"] == "approved")

        def held():
            sale = self.sell("held", 2000, capture={"mode": "manual"})
            self.ask("POST", f"/v1/transactions/{sale['id']}/captures", {"amount": {"value": 1500, "currency": "EUR"}},
                     key="key-captured", wait=20)

        def cancelled():
            sale = self.ask("POST", "/v1/transactions", {"type": "purchase", "amount": {"value": 300, "currency": "EUR"}},
                            key="key-cancelled")[1]
            self.ask("DELETE", f"/v1/transactions/{sale['id']}")

        def confirmed():
            sale = self.sell("confirmed", 800, "mastercard", confirmWithin=5)
            self.ask("POST", f"/v1/transactions/{sale['id']}/confirmation")

        def lost():
            sale = self.sell("lost", 1298)
            until("a reversal", lambda: self.get(f"/v1/transactions/{sale['id']}")["state"] == "reversed")

        steps = [paid, lambda: self.sell("declined", 1251), stored, held, cancelled, confirmed, lost,
                 lambda: self.sell_at_bridge("web", 9.5)]
        if dice:
            dice.shuffle(steps)
        self.begin()
        self.ask("POST", "/v1/lanes/main/prepare", wait=20)
        for step in steps:
            step()
        self.ask("POST", "/v1/transactions", {"type": "refund", "of": sales["paid"]["id"], "amount": {"value": 500, "currency": "EUR"}},
                 key="key-back", wait=20)
        self.ask("POST", "/v1/day-ends", {}, key="key-day", wait=20)
        self.sell("last", 900)
        self.stop("nfc-tapd")

    def begin(self, bridge=True):
        self.start_sandbox()
        until("the sandbox", lambda: self.get("/v1/health", to="psp.sock"))
        self.start_daemon()
        if bridge:
            self.start_bridge()
        until("a lane", lambda: self.ended("nfc-tapd") or self.is_ready())
        if bridge:
            until("the bridge", lambda: self.ended("nfc-tap-ecr") or self.proxy("status_json", {}))


class Facts:
    """What had been said before a cut, or before several."""

    def __init__(self):
        self.told, self.confirmed, self.asked, self.operations, self.days, self.sold = {}, set(), set(), set(), {}, 0

    def listen(self, said, moment):
        for message in said:
            if message.number >= moment:
                break
            if message.program == "tap" and message.line.startswith("POST /v1/authorizations HTTP"):
                self.asked.add(message.fields["idempotency-key"])
            if message.program == "tap" and message.line.startswith("HTTP/1.1 20") and message.body:
                self.hear(message.body)
            if message.program == "ecr" and message.body and message.line.startswith("HTTP/1.1 200"):
                result = message.body.get("result")
                told = result.get("nfc_tap", {}).get("transactions", {}) if isinstance(result, dict) else {}
                if any(each["success"] for each in told.values()):
                    self.sold = self.sold or message.number

    def hear(self, body):
        for it in body.get("transactions", []) + [body.get("transaction", body)]:
            if not isinstance(it, dict) or "state" not in it:
                continue
            if "kind" in it:
                self.operations |= {(it["transaction"], it["id"])} if it["state"] == "done" else set()
            elif "type" in it:
                self.told[it["id"]] = it["state"]
                if it["state"] == "approved" and "confirmedAt" in it.get("confirmation", {"confirmedAt": 0}):
                    self.confirmed.add(it["id"])
        if "totals" in body and "closedAt" in body.get("day", {}):
            self.days[body["day"]["id"]] = body["totals"]


def judge(shop, facts, is_sold):
    """After a cut: every fault of the books, held against what was said before it and what the payment service has booked."""
    faults = []

    def books():
        """Both at one moment: what nobody confirms is taken back while the next customer pays."""
        def seen():
            here = shop.transactions()
            there = {each["id"]: each for each in shop.booked()["transactions"]}
            return (here, there) if is_quiet() and shop.transactions() == here else None

        return until("books that stay as they are", seen, 180)

    def named():
        """What a person is told of: it waits for that person."""
        return {item["transaction"] for item in shop.get("/v1/open-items")["items"]}

    def of_till():
        return [each for each in shop.transactions().values() if "confirmation" in each and (each.get("order") or "").startswith("ecr-")]

    def is_kept():
        """The bridge confirms after its start what its till has as paid."""
        return any(each["state"] == "approved" and "confirmedAt" in each["confirmation"] for each in of_till())

    def is_quiet():
        if is_sold and not is_kept() and any(each["state"] == "approved" for each in of_till()):
            return False
        open_ones = named()
        here = shop.transactions().values()
        return all(each["state"] in ENDED or each["id"] in open_ones for each in here) and not any(
            each.get("account", {}).get("pendingCapture") or each.get("account", {}).get("pendingRefund") for each in here)

    try:
        # What an operation has become is asked after 1, 5, 30 and 120 s.
        until("quiet books", is_quiet, 180)
    except RuntimeError:
        faults.append(f"no end after three minutes: {[each['state'] for each in shop.transactions().values() if each['state'] not in ENDED]}")
    next_sale = shop.sell("next", 700)
    if next_sale.get("state") != "approved":
        faults.append(f"the next sale is {next_sale.get('state', next_sale)}")
    here, there = books()
    open_ones = named()
    for id, state in facts.told.items():
        now = here.get(id, {}).get("state", "unknown to the daemon")
        wanted = AFTER.get(state, {now})
        if state == "approved" and id not in facts.confirmed:
            wanted = wanted | BACK
        if id not in open_ones and now not in wanted and not (now == "unknown to the daemon" and state in ("cancelled", "failed")):
            faults.append(f"{id} was told {state}, and is {now}")
    for id in facts.asked - set(here):
        faults.append(f"{id} was asked for, and is unknown to the daemon")
    for transaction, id in facts.operations:
        known = shop.get(f"/v1/operations/{id}")
        if known.get("state") != "done":
            faults.append(f"operation {id} was told done, and is {known.get('state', known)}")
    for day, totals in facts.days.items():
        if shop.get(f"/v1/day-ends/{day}").get("totals") != totals:
            faults.append(f"day {day} was told closed, and is not, or has other figures")
    orders = [each.get("order") for each in here.values() if each["state"] == "approved" and each["type"] == "purchase"]
    faults += [f"order {order} is charged twice" for order in set(orders) if order and orders.count(order) > 1]
    for id, each in there.items():
        account = here.get(id, {}).get("account", {}) if here.get(id, {}).get("state") == "approved" else {}
        wanted = account.get("captured", 0) - account.get("refunded", 0)
        if each["money"] != wanted and id not in open_ones:
            faults.append(f"{id}: {each['money']} are charged there, {wanted} here ({here.get(id, {}).get('state')})")
    booked = shop.booked()
    faults += [f"nobody has seen {each}" for each in booked["unseen"] + booked["unseenOperations"]]
    if is_sold and not is_kept():
        faults.append(f"the bridge's till has it as paid, and it is {[(each['state'], each['confirmation']) for each in of_till()]}")
    return faults
