#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cards are tapped in front of nfc-tap-hub, while it and its broker are killed at any moment and its web server fails. In the end the
broker's subscriber and the web server have had each tap that the daemon completed, in order, and nothing else.

    Tests/Checks/check-hub.py FOLDER-WITH-THE-PROGRAMS PYTHON-WITH-THE-RECEIVERS --kills 50 --seed 1

The receivers are other people's: mosquitto, paho-mqtt and standardwebhooks. Ends with 1 where a tap is missing, comes out of order or has a
wrong signature, and where a card that can pay, or a random identifier, left the machine or lies in any file of it. Without kills it says how long a
tap takes to the broker's subscriber. With --house PROGRAM that is Home Assistant behind the broker: house.py. The script starts itself with that Python.
"""
import argparse
import datetime
import getpass
import http.server
import json
import os
import pathlib
import random
import re
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time

from house import HomeAssistant, watch
from local import free_port, get, judge, obey, start_again, until

# Test cards, and what of them is nowhere: numbers, and the UIDs of whatever can pay or changes.
CARDS = ["member-card", "member-tag", "apple-pass", "google-pass", "visa", "mastercard", "amex", "jcb", "discover", "unionpay", "c8", "visa-phone", "type-b", "random-uid"]
PASSES = {"member-card", "member-tag", "apple-pass", "google-pass"}
NUMBERS = ["4761739001010010", "5413330089601034", "374245455400001", "3569990010082211"]
NUMBERS_OF_ZEROS = ["6510000000000117", "6210948000000011", "9999990000000014"]
UIDS = ["084E4643", "4E464342", "08A1B2C3"]
SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"


def luhn(digits):
    return sum(int(c) if i % 2 == 0 else sum(divmod(2 * int(c), 10)) for i, c in enumerate(reversed(digits))) % 10 == 0


class Receiver:
    """A web server that verifies what it gets, and fails as the dice say."""

    def __init__(self, dice):
        from standardwebhooks import Webhook

        self.got, self.bodies, self.wrong, self.dice, self.mood = [], [], [], dice, "good"
        receiver, hook = self, Webhook(SECRET)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.bodies.append(body)
                try:
                    hook.verify(body, dict(self.headers))
                    said = json.loads(body)
                    if self.headers["webhook-id"] != "msg_" + said["data"]["id"]:
                        raise ValueError("another id")
                except Exception as problem:  # noqa: BLE001
                    receiver.wrong.append(f"{problem!r}: {body[:200]!r}")
                    return self.answer(400)
                if receiver.mood == "bad":
                    receiver.mood = "good"
                    fate = receiver.dice.choice(["redirect", "cut", "error"])
                    if fate == "cut":
                        return self.connection.close()
                    return self.answer({"redirect": 302, "error": 503}[fate])
                receiver.got.append(said["data"])
                self.answer(204)

            def do_GET(self):
                receiver.wrong.append("a redirect was followed")
                self.answer(404)

            def answer(self, status):
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "/elsewhere")
                if status == 503:
                    self.send_header("Retry-After", "0")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class House:
    def __init__(self, folder, arguments):
        self.folder, self.arguments = folder, arguments
        self.dice = random.Random(arguments.seed)
        self.pos, self.port, self.processes = f"{folder}/pos.sock", free_port(), {}
        self.receiver = Receiver(self.dice)
        self.heard, self.retained, self.payloads, self.arrived, self.shown = [], [], [], {}, []
        os.makedirs(f"{folder}/state")
        pathlib.Path(f"{folder}/nfc-tapd.toml").write_text(
            f'[[lane]]\nname = "door"\nreader = "virtual:{folder}/reader.sock"\n'
            + ('[lane.standing]\nmode = "read"\ndebounce-seconds = 0\ntaps-per-hour = 3600\n' if arguments.standing else ""))
        pathlib.Path(f"{folder}/mosquitto.conf").write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence true\npersistence_location {folder}/\n"
            f"log_type all\nuser {getpass.getuser()}\nautosave_interval 1\nautosave_on_changes true\nmax_queued_messages 0\n")
        pathlib.Path(f"{folder}/key").write_text(SECRET)
        pathlib.Path(f"{folder}/hub.toml").write_text(
            f'socket = "{self.pos}"\ndirectory = "{folder}"\n'
            f'[[output]]\nname = "house"\nkind = "mqtt"\nlanes = ["door"]\nbroker = "127.0.0.1:{self.port}"\n'
            f'discovery = "homeassistant"\nttl-seconds = {10 if arguments.house else 0}\n'
            f'[[output]]\nname = "shop"\nkind = "webhook"\nlanes = ["door"]\nkey = "{folder}/key"\n'
            f'url = "http://127.0.0.1:{self.receiver.port}/hooks"\n')
        self.start("broker", "mosquitto", "-c", f"{folder}/mosquitto.conf")
        self.start("daemon", f"{arguments.binaries}/nfc-tapd", "--runtime-directory", folder, "--state-directory",
                   f"{folder}/state", "--config", f"{folder}/nfc-tapd.toml")
        until("the lane", lambda: get(self.pos, "/v1/status")["lanes"][0]["state"] in ("ready", "busy"))
        self.listen()
        self.hub()
        self.home = HomeAssistant(folder, arguments.house, self.port) if arguments.house else None

    def start(self, name, *words):
        log = open(f"{self.folder}/{name}.log", "ab")
        self.processes[name] = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def kill(self, name):
        self.processes[name].send_signal(signal.SIGKILL)
        self.processes[name].wait()

    def hub(self):
        self.start("hub", f"{self.arguments.binaries}/nfc-tap-hub", "--config", f"{self.folder}/hub.toml")

    def listen(self):
        import paho.mqtt.client as mqtt

        client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "check", clean_session=False)
        client.on_connect = lambda c, *_: c.subscribe([("nfc-tap/#", 1), ("homeassistant/#", 1)])

        def heard(_, __, message):
            if message.topic == "nfc-tap/door/tag":
                self.heard.append(json.loads(message.payload))
                self.payloads.append(message.payload)
                self.arrived.setdefault(self.heard[-1]["id"][:36], time.monotonic())
                if message.retain:
                    self.retained.append(message.payload)

        client.on_message = heard
        client.reconnect_delay_set(1, 1)
        until("the broker", lambda: socket.create_connection(("127.0.0.1", self.port)).close() is None)
        client.connect("127.0.0.1", self.port, keepalive=5)
        client.loop_start()
        until("the subscription", client.is_connected)
        self.client = client

    def card(self, *words):
        return obey(f"{self.folder}/reader.sock", *words)

    def last(self):
        found = get(self.pos, "/v1/transactions?limit=1&type=loyalty")["transactions"]
        return found[0] if found else None

    def tap(self, card):
        """Taps once the hub waits, or a lane that stands alone, and until the daemon has settled that read: how it ended, which it is, and when."""
        if self.arguments.standing:
            until("a lane that waits", lambda: "feedback=ready" in self.card("state"))
            before, began = self.last(), time.monotonic()
            self.card("present", card)
            id = until("a tap", lambda: (self.last()["id"] != (before or {}).get("id")) and self.last()["id"])
        else:
            # The read is over, and the hub has begun the next one, before anybody could ask for it afterwards.
            id = until("a read", lambda: (last := self.last())["state"] == "armed" and last["id"])
            began = time.monotonic()
            self.card("present", card)
        shown = time.time() - (time.monotonic() - began)
        self.disturb()
        until("its end", lambda: get(self.pos, f"/v1/transactions/{id}")["state"]
              not in ("created", "preparing", "armed", "reading"))
        self.card("remove")
        self.shown.append((id, shown, time.time()))
        return get(self.pos, f"/v1/transactions/{id}")["state"], id, began

    def story(self, id):
        """Of a read that no tap has waited for: when it came, and which card lay there. A virtual card that stays for two seconds after a read counts as presented anew."""
        steps = [(step["state"], datetime.datetime.fromisoformat(step["at"]).timestamp()) for step in get(self.pos, f"/v1/transactions/{id}")["history"]]
        before = [tap for tap in self.shown if tap[1] <= steps[-1][1]][-1:]
        return f"{id} {[(state, round(at % 1_000, 2)) for state, at in steps]}, " + "".join(
            f"of the card that lay there for {tap[0]} from {tap[1] % 1_000:.2f} to {tap[2] % 1_000:.2f}" for tap in before)

    def disturb(self):
        if self.arguments.kills <= 0:
            return
        fate = self.dice.random()
        time.sleep(self.dice.random() * 0.15)
        if fate < 0.4:
            self.arguments.kills -= 1
            self.kill("hub")
            self.hub()
        elif fate < 0.5:
            self.arguments.kills -= 1
            # In order: it writes down what it has acknowledged. What SIGKILL costs a broker is the broker's own.
            self.processes["broker"].terminate()
            self.processes["broker"].wait()
            self.start("broker", "mosquitto", "-c", f"{self.folder}/mosquitto.conf")
        elif fate < 0.7:
            self.receiver.mood = "bad"

    def run(self):
        completed, taps, times, kills = [], 0, {}, self.arguments.kills
        while self.arguments.kills > 0 or taps < self.arguments.taps:
            card = self.dice.choice(CARDS)
            state, id, began = self.tap(card)
            taps += 1
            if state == "completed" and card in PASSES:
                completed.append(id)
                times[id] = began
        self.arguments.kills = 0
        wanted = set(completed)
        until("the receivers", lambda: wanted <= self.ids(self.heard) and wanted <= self.ids(self.receiver.got))
        faults = list(self.receiver.wrong)
        faults += [f"retained: {tap}" for tap in self.retained]
        for name, got in (("broker", self.heard), ("web server", self.receiver.got)):
            faults += [f"{name}: not of a completed tap: {self.story(stray)}" for stray in self.ids(got) - wanted]
            firsts = list(dict.fromkeys(tap["id"][:36] for tap in got))
            if firsts != completed:
                faults.append(f"{name}: out of order")
        print(f"{taps} taps, {len(completed)} with a pass; broker heard {len(self.heard)}, web server {len(self.receiver.got)}")
        if kills == 0 and len(times) > 1:
            took = sorted(1_000 * (self.arrived[id] - began) for id, began in times.items())
            print(f"card to subscriber: median {statistics.median(took):.1f} ms, p99 {took[len(took) * 99 // 100]:.1f} ms")
        return faults + self.leaks()

    def leaks(self):
        """What must be nowhere: in what the receivers got, the broker's files, outboxes, journal and logs."""
        got = pathlib.Path(self.folder, "got")
        got.write_bytes(b"\n".join(self.payloads + self.receiver.bodies))
        scan = subprocess.run([sys.executable, str(pathlib.Path(__file__).parent / "Secrets/scan-secrets.py"), self.folder],
                              input="\n".join(NUMBERS), capture_output=True, text=True)
        faults = [] if scan.returncode == 0 else [f"card numbers: {scan.stdout[-500:]}{scan.stderr}"]
        files = [file for file in pathlib.Path(self.folder).rglob("*") if file.is_file()]
        for file in files:
            data = file.read_bytes()
            faults += [f"{file.name}: {number}" for number in NUMBERS_OF_ZEROS if number.encode() in data]
            faults += [f"{file.name}: {uid}" for uid in UIDS if uid.encode() in data.upper() or bytes.fromhex(uid) in data]
        # Of what left, whatever looks like a card number.
        faults += [f"{run} left" for run in re.findall(rb"(?<!\d)\d{13,19}(?!\d)", got.read_bytes()) if luhn(run.decode())]
        print(f"{len(files)} files without a card's number or a UID that must stay; {scan.stdout.strip()}")
        return faults

    @staticmethod
    def ids(got):
        return {tap["id"][:36] for tap in got}

    def stop(self):
        if self.home:
            self.home.stop()
        for process in self.processes.values():
            process.kill()
            process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binaries", type=os.path.abspath)
    parser.add_argument("python")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--taps", type=int, default=12, help="so many at least")
    parser.add_argument("--house", help="the program hass of Home Assistant")
    parser.add_argument("--outages", type=int, default=20, help="of the broker before Home Assistant")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--standing", action="store_true", help="on a lane that stands alone, which the daemon reads by itself")
    arguments = parser.parse_args()
    if arguments.house:
        arguments.kills = 0
    start_again(arguments.python)
    os.environ["PATH"] += ":/usr/sbin"
    judge("check-hub", lambda folder: House(folder, arguments), lambda house: (
        watch(house, arguments.taps, arguments.outages) + house.leaks() if arguments.house else house.run()))


if __name__ == "__main__":
    main()
