#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Taps again and again on a daemon of its own and watches what it holds: Tests/Checks/Soak/soak.sh starts this.

Every tap is a whole one: request, card, envelope, payment service. In the end the service's books are compared with what
the point of sale was told. Prints a table; ends with 1 where a tap was lost or memory or descriptors grew.
"""
import argparse
import http.client
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

# What a run may differ by: caches, lane threads and pages that are not used at once. Memory that grows by 64 bytes with
# each of 100,000 taps is beyond it.
MEMORY_ROOM = 6 * 1024  # KiB
DESCRIPTOR_ROOM = 4


class UnixHTTP(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=90)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)

    def ask(self, method, target, body=None, fields={}):
        self.request(method, target, None if body is None else json.dumps(body), fields)
        answer = self.getresponse()
        return answer.status, json.loads(answer.read() or b"{}")


class Reader:
    """A lane's card, on the virtual reader."""

    def __init__(self, path):
        self.path = path

    def present(self):
        with socket.socket(socket.AF_UNIX) as stream:
            stream.connect(self.path)
            stream.sendall(b"swap visa\n")
            answer = stream.makefile().readline()
        if not answer.startswith("ok"):
            raise RuntimeError(f"virtual reader: {answer}")

    def leave(self):
        pass


class VPCDReader:
    """A lane's card, in a slot of vpcd."""

    # pcscd looks every 400 ms; a card that is back before it looked has never left.
    GAP = 0.9

    def __init__(self, program, port):
        self.command = [program, "simulate", "visa", "--vpcd", f"127.0.0.1:{port}"]
        self.process = None

    def present(self):
        self.process = subprocess.Popen(self.command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def leave(self):
        self.process.kill()
        self.process.wait()
        time.sleep(self.GAP)


class Soak:
    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nfc-tap-soak-"))
        self.approved = []
        self.lost = []
        self.lock = threading.Lock()
        self.left = arguments.taps

    def start(self):
        binaries = pathlib.Path(self.arguments.binaries)
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        psp, self.pos = str(self.folder / "psp.sock"), str(self.folder / "pos.sock")
        log = open(self.folder / "log", "wb")
        self.sandbox = subprocess.Popen([binaries / "nfc-tap-psp-sandbox", "--sandbox", "--socket", psp], stderr=log, **quiet)
        self.psp = psp
        self.wait_for(psp)
        lanes, self.readers = "", []
        for number in range(self.arguments.lanes):
            if self.arguments.kind == "virtual":
                path = str(self.folder / f"reader-{number}.sock")
                lanes += f'[[lane]]\nname = "lane-{number}"\nreader = "virtual:{path}"\n'
                self.readers.append(Reader(path))
            else:
                # One driver to a lane, as soak.sh lays them out; of its two slots the first.
                lanes += f'[[lane]]\nname = "lane-{number}"\nreader = "pcsc:Soak PICC {number} 00 00"\n'
                self.readers.append(VPCDReader(binaries / "nfc-tap", 35963 + 2 * number))
        configuration = self.folder / "nfc-tapd.toml"
        configuration.write_text(
            f'mode = "test"\n[pos]\nsocket = "{self.pos}"\n[psp]\nsocket = "{psp}"\n'
            f'[journal]\ndirectory = "{self.folder}/state"\n{lanes}')
        self.daemon = subprocess.Popen(
            [binaries / "nfc-tapd", "--config", configuration, "--log-level", "error"], stderr=log, **quiet)
        self.wait_for(self.pos)

    def wait_for(self, path):
        for _ in range(3000):
            if os.path.exists(path):
                return
            time.sleep(0.01)
        raise RuntimeError(f"no {path}: see {self.folder}/log")

    def stop(self):
        for process in (self.daemon, self.sandbox):
            process.terminate()
            process.wait()

    def held(self):
        """KiB of memory of its own, open descriptors and threads of the daemon.

        Pages of program files are not counted: they come and go as code is run and given back after the start, and no
        leak can be among them.
        """
        status = pathlib.Path(f"/proc/{self.daemon.pid}/status").read_text()
        value = lambda name: int(status.split(f"\n{name}:")[1].split()[0])
        return value("RssAnon"), len(os.listdir(f"/proc/{self.daemon.pid}/fd")), value("Threads")

    def tap(self, connection, lane):
        reader = self.readers[lane]
        request = {
            "type": "purchase", "amount": {"value": 1250, "currency": "EUR"}, "lane": f"lane-{lane}", "deadline": 30,
        }
        fields = {
            "Content-Type": "application/json", "Idempotency-Key": os.urandom(16).hex(), "Prefer": "wait=60",
        }
        reader.present()
        try:
            status, answer = connection.ask("POST", "/v1/transactions", request, fields)
        finally:
            reader.leave()
        with self.lock:
            if answer.get("state") == "approved":
                self.approved.append(answer["id"])
            else:
                self.lost.append((status, answer.get("error") or answer))

    def lane(self, number):
        connection = UnixHTTP(self.pos)
        while True:
            with self.lock:
                if self.left == 0 or len(self.lost) > 20:
                    return
                self.left -= 1
            try:
                self.tap(connection, number)
            except Exception as error:  # noqa: BLE001 – a tap that ends in any such way is a lost one
                with self.lock:
                    self.lost.append((0, repr(error)))
                connection.close()

    def run(self):
        for _ in range(3000):
            lanes = UnixHTTP(self.pos).ask("GET", "/v1/status")[1]["lanes"]
            if all(lane["state"] == "ready" for lane in lanes):
                break
            time.sleep(0.01)
        threads = [threading.Thread(target=self.lane, args=(n,)) for n in range(self.arguments.lanes)]
        begin, samples, due = time.monotonic(), [], 0
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.05)
            done = len(self.approved)
            if done >= due and done > 0:
                samples.append((done, *self.held()))
                due = done + max(1, self.arguments.taps // 100)
                if self.arguments.progress:
                    print(f"{done} taps, {samples[-1][1]} KiB, {samples[-1][2]} descriptors", file=sys.stderr, flush=True)
        self.seconds = time.monotonic() - begin
        time.sleep(3)
        samples.append((len(self.approved), *self.held()))
        return samples

    def books(self):
        """Ids that the payment service has approved and that are not taken back, and those nobody was told of."""
        ledger = UnixHTTP(self.psp).ask("GET", "/debug/ledger")[1]
        approved = [entry["id"] for entry in ledger["transactions"] if entry["state"] == "approved"]
        return approved, ledger["unseen"]


def course(samples):
    """The samples nearest after a twentieth of the taps, two of them, and so on."""
    end, twentieth = samples[-1][0], max(1, samples[-1][0] // 20)
    chosen = [next(s for s in samples if s[0] >= taps) for taps in range(0, end, twentieth)]
    return sorted(set(chosen + [samples[-1]]), key=lambda sample: (sample[0], sample is samples[-1]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["virtual", "pcsc"])
    parser.add_argument("binaries")
    parser.add_argument("--taps", type=int, required=True)
    parser.add_argument("--lanes", type=int, default=1)
    parser.add_argument("--progress", action="store_true")
    arguments = parser.parse_args()
    soak = Soak(arguments)
    soak.start()
    try:
        samples = soak.run()
        charged, unseen = soak.books()
    finally:
        soak.stop()
    # The first tenth makes caches, connections and threads.
    settled = next((s for s in samples if s[0] >= len(soak.approved) // 10), samples[0])
    rest = [s for s in samples if s[0] >= settled[0]]
    grown = rest[-1][1] - settled[1], rest[-1][2] - settled[2]
    same = sorted(charged) == sorted(soak.approved)
    print(f"| soak, {arguments.kind} reader, {arguments.lanes} lanes | |\n|---|---|")
    print(f"| taps approved, of | {len(soak.approved)}, {arguments.taps} |")
    print(f"| taps in the payment service's books | {len(charged)}, {'the same' if same else 'OTHERS'} |")
    print(f"| taps that nobody was told of | {len(unseen)} |")
    print(f"| time, rate | {soak.seconds:.0f} s, {len(soak.approved) / soak.seconds:.1f} taps/s |")
    print(f"| memory after a tenth, largest, at the end | {settled[1]}, {max(s[1] for s in rest)}, {rest[-1][1]} KiB |")
    print(f"| descriptors after a tenth, most, at the end | {settled[2]}, {max(s[2] for s in rest)}, {rest[-1][2]} |")
    print(f"| threads after a tenth, most, at the end | {settled[3]}, {max(s[3] for s in rest)}, {rest[-1][3]} |")
    print("\n| taps | memory, KiB | descriptors | threads |\n|---|---|---|---|")
    for sample in course(samples):
        print("| " + " | ".join(str(value) for value in sample) + " |")
    for fault in soak.lost[:20]:
        print(f"lost: {fault}", file=sys.stderr)
    flat = grown[0] <= MEMORY_ROOM and grown[1] <= DESCRIPTOR_ROOM
    complete = len(soak.approved) == arguments.taps and same and not unseen
    print(f"memory and descriptors: {'flat' if flat else 'GROWN'}; taps: {'none lost' if complete else 'LOST'}")
    sys.exit(0 if flat and complete else 1)


main()
