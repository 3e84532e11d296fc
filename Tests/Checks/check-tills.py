#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tills of four protocols pay through nfc-tap-ecr, while the bridge, the daemon and the tills themselves are killed at any
moment. In the end the till's books, the daemon's and the sandbox's say the same of every sale, or the till does not know.

    Tests/Checks/check-tills.py FOLDER-WITH-THE-PROGRAMS PYTHON-WITH-THE-TILLS --kills 200 --seed 1

Each protocol has a shop of its own: sandbox, daemon, bridge and a card that stays on the reader. The seed decides who is killed
and when: so long after a sale's begin, and on a serial line after so many messages of either side. Which of two things comes first,
the machine decides. Ends with 1 where books differ, and prints each such sale.
"""
import argparse
import json
import os
import pathlib
import random
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import tty

from local import free_port, get, until

TILLS = pathlib.Path(__file__).resolve().parents[2] / "Tests/EndToEndTests/Tills"
PROTOCOLS = ("caisse-ap", "zvt", "hw-proxy", "caisse-e-plus")
MOVING = {"created", "preparing", "armed", "reading", "sealed", "sent", "unknown", "reversing"}


class Cable(threading.Thread):
    """Between two serial lines, which are pseudo-terminals with these names; it says when so many messages have passed."""

    def __init__(self, *names):
        super().__init__(daemon=True)
        self.ends, self.left, self.passed = [], 0, threading.Event()
        for name in names:
            inner, outer = os.openpty()
            tty.setraw(outer)
            # The outer end stays open here, so that a program may die and its line stays.
            self.ends.append(inner)
            os.symlink(os.ttyname(outer), name)
        self.start()

    def tell_after(self, messages):
        self.left = messages
        self.passed.clear()

    def run(self):
        while True:
            for end in select.select(self.ends, [], [])[0]:
                os.write(self.ends[end == self.ends[0]], os.read(end, 4096))
                self.left -= 1
                if self.left == 0:
                    self.passed.set()


class Shop:
    def __init__(self, protocol, folder, arguments):
        self.protocol, self.folder, self.arguments = protocol, str(folder), arguments
        self.dice = random.Random(f"{arguments.seed}/{protocol}")
        self.pos, self.port, self.processes = f"{folder}/pos.sock", free_port(), {}
        self.kills = {"bridge": 0, "daemon": 0, "till": 0}
        self.sales, self.faults = [], []
        pathlib.Path(f"{folder}/state").mkdir()
        pathlib.Path(f"{folder}/nfc-tapd.toml").write_text(
            f'[[lane]]\nname = "main"\nreader = "virtual:{folder}/reader.sock"\n')
        more = 'origins = ["https://shop.example"]\n' if protocol == "hw-proxy" else ""
        self.cable = Cable(f"{folder}/terminal-end", f"{folder}/till-end") if protocol == "caisse-e-plus" else None
        line = f'device = "{folder}/terminal-end"' if self.cable else f'listen = "127.0.0.1:{self.port}"'
        pathlib.Path(f"{folder}/ecr.toml").write_text(
            f'socket = "{self.pos}"\ndirectory = "{folder}"\n[[till]]\nname = "{protocol}"\nprotocol = "{protocol}"\n'
            f'{line}\nlane = "main"\ntest = true\n{more}')
        self.start("sandbox", "nfc-tap-psp-sandbox", "--sandbox", "--socket", f"{folder}/psp.sock")
        self.begin()

    # Programs

    def start(self, name, program, *words):
        log = open(f"{self.folder}/{name}.log", "ab")
        self.processes[name] = subprocess.Popen(
            [f"{self.arguments.binaries}/{program}", *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def lives(self, name):
        return name in self.processes and self.processes[name].poll() is None

    def begin(self):
        """Whatever is not running is started, and a card is on the reader."""
        if not self.lives("daemon"):
            self.start("daemon", "nfc-tapd", "--runtime-directory", self.folder, "--state-directory",
                       f"{self.folder}/state", "--config", f"{self.folder}/nfc-tapd.toml")
            until("the lane", lambda: get(self.pos, "/v1/status")["lanes"][0]["state"] in ("ready", "busy"))
            until("a card", lambda: subprocess.run(
                [f"{self.arguments.binaries}/nfc-tap", "virtual", "--control", f"{self.folder}/reader.sock", "present",
                 "visa"], capture_output=True).returncode == 0)
        if not self.lives("bridge"):
            log = pathlib.Path(f"{self.folder}/bridge.log")
            before = log.read_text().count(" baud\n") if log.exists() else 0
            self.start("bridge", "nfc-tap-ecr", "--config", f"{self.folder}/ecr.toml")
            until("the bridge", lambda: log.read_text().count(" baud\n") > before if self.cable
                  else socket.create_connection(("127.0.0.1", self.port), 5).close() is None)

    def kill(self, name, process=None):
        process = process or self.processes[name]
        if process.poll() is None:
            self.kills[name] += 1
            process.kill()
        process.wait()

    # Sales

    def till(self, number, value):
        """The command of a till that pays once."""
        python, major = self.arguments.python, f"{value / 100:.2f}"
        if self.protocol == "caisse-ap":
            return [python, TILLS / "oca-caisse.py", "127.0.0.1", str(self.port), major]
        if self.cable:
            # A real one waits longer; here the next sale is waited for.
            return [python, TILLS / "telium-manager.py", f"{self.folder}/till-end", "15", major]
        if self.protocol == "zvt":
            return [python, TILLS / "zvt-till.py", f"127.0.0.1:{self.port}", "register", "--", "sale", str(value)]
        script = subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"], capture_output=True, text=True)
        module = f"{script.stdout.strip()}/odoo/addons/pos_payment_terminal/static/src/app/payment_terminal.esm.js"
        return ["node", TILLS / "oca-terminal.mjs", module, f"http://127.0.0.1:{self.port}", "https://shop.example",
                f"Order 1-{number}", f"line-{number}", major]

    def sell(self, number):
        # The cents decide what the sandbox says; the rest names the sale.
        value = (number + 1) * 100 + self.dice.choice([0, 0, 0, 51])
        victim = self.dice.choice(["bridge", "daemon", "till"]) if self.dice.random() < 0.8 else None
        if self.cable:
            # ENQ, ACK, request, ACK, EOT, and the same for the answer.
            self.cable.tell_after(self.dice.randint(1, 10))
        process = subprocess.Popen(self.till(number, value), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        if victim:
            if self.cable:
                self.cable.passed.wait(self.arguments.moment)
                time.sleep(self.dice.choice([0, 0, 0.001, 0.01, self.dice.uniform(0, 1)]))
            else:
                time.sleep(self.dice.uniform(0, self.arguments.moment))
            self.kill(victim, process if victim == "till" else None)
            # As the service manager does, while the till goes on waiting.
            time.sleep(self.dice.uniform(0, 1))
            self.begin()
        try:
            output, errors = process.communicate(timeout=200)
        except subprocess.TimeoutExpired:
            process.kill()
            output, errors = process.communicate()
        self.sales.append((number, value, victim, self.meaning(output), (output + errors).strip()))
        self.begin()

    def meaning(self, output):
        """What the till has in its books: paid, not paid, or unknown."""
        try:
            answer = json.loads(output.splitlines()[-1])
        except (IndexError, ValueError):
            return "unknown"
        if self.protocol == "caisse-ap":
            return {"success": "paid", "failure": "not paid"}.get(answer["payment_status"], "unknown")
        if self.cable:
            return {0: "paid", 7: "not paid"}.get(answer["result"], "unknown" if answer["taken"] else "not paid")
        if self.protocol == "hw-proxy":
            return {True: "paid", False: "not paid"}.get(answer["success"], "unknown")
        if answer["command"] != "sale":
            return "unknown"
        outcome = {"completed": "paid", "aborted": "not paid", "refused": "not paid"}.get(answer["outcome"])
        return outcome or "unknown"

    def run(self):
        number = 0
        while sum(self.kills.values()) < self.arguments.kills:
            self.sell(number)
            number += 1
        # Whoever still asks for a payment, or has to say that it has one, gets his time.
        until("every end", self.is_quiet, 240)
        self.judge()

    def transactions(self):
        found, after = [], ""
        while True:
            page = get(self.pos, f"/v1/transactions?limit=100{after}")
            found += page["transactions"]
            if "next" not in page:
                return found
            after = f"&after={page['next']}"

    def is_quiet(self):
        return not any(
            transaction["state"] in MOVING or
            (transaction["state"] == "approved" and "confirmedAt" not in transaction.get("confirmation", {}))
            for transaction in self.transactions())

    # Books

    def judge(self):
        charged = {entry["id"]: entry["authorised"] - entry["reversed"]
                   for entry in get(f"{self.folder}/psp.sock", "/debug/ledger")["transactions"]}
        books = {}
        for transaction in self.transactions():
            books.setdefault(transaction["amount"]["value"], []).append(transaction)
            paid = transaction["amount"]["value"] if transaction["state"] == "approved" else 0
            if charged.get(transaction["id"], 0) != paid:
                self.faults.append(f"{transaction['id']} is {transaction['state']}, charged {charged[transaction['id']]}")
        # Each death in the moment of telling is told in the log, and excuses one sale.
        excuses = pathlib.Path(f"{self.folder}/bridge.log").read_text().count("may show it as paid")
        for number, value, victim, meaning, output in self.sales:
            states = [transaction["state"] for transaction in books.get(value, [])]
            kept = states.count("approved")
            story = f"sale {number} over {value}, {victim} killed: till {meaning}, books {states}: {output}"
            if kept > 1:
                self.faults.append(f"charged twice: {story}")
            elif meaning == "not paid" and kept:
                self.faults.append(f"not paid, and charged: {story}")
            elif meaning == "paid" and not kept and victim == "bridge" and excuses:
                excuses -= 1
            elif meaning == "paid" and not kept:
                self.faults.append(f"paid, and not charged: {story}")

    def end(self):
        for process in self.processes.values():
            process.kill()
            process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=os.path.abspath)
    parser.add_argument("python")
    parser.add_argument("--kills", type=int, default=200, help="of each protocol")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--moment", type=float, default=2.5, help="seconds after a sale's begin, within which is killed")
    parser.add_argument("--only", choices=PROTOCOLS, help="this protocol alone")
    parser.add_argument("--keep", action="store_true", help="leave the shops' folders where they are")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = tempfile.mkdtemp(prefix="tills-")
    shops = []
    try:
        for protocol in [arguments.only] if arguments.only else PROTOCOLS:
            place = pathlib.Path(folder, protocol)
            place.mkdir()
            shops.append(Shop(protocol, place, arguments))
        failures = []

        def work(shop):
            try:
                shop.run()
            except Exception as error:  # A shop that does not come to its end is a fault, whatever the reason.
                failures.append(f"{shop.protocol}: {error!r}")

        threads = [threading.Thread(target=work, args=(shop,)) for shop in shops]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for shop in shops:
            told = [sale[3] for sale in shop.sales]
            print(f"check-tills: {shop.protocol}: {len(told)} sales, {told.count('paid')} paid, "
                  f"{told.count('not paid')} not paid, {told.count('unknown')} unknown; killed "
                  f"{shop.kills['bridge']} bridges, {shop.kills['daemon']} daemons, {shop.kills['till']} tills; "
                  f"{len(shop.faults)} faults")
            failures += [f"{shop.protocol}: {fault}" for fault in shop.faults]
        print("\n".join(failures))
        return 1 if failures else 0
    finally:
        for shop in shops:
            shop.end()
        if arguments.keep:
            print(f"check-tills: folders in {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
