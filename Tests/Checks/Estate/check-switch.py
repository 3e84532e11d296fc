#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The switch against an acquirer's host of another hand (Tests/Rigs/Host), with a book of its own and the ways of hosts on a bad day: tills pay, hold,
capture, release, refund and take back, while replicas and the host die. In the end every difference between the two books is an open item that a
person sees, nothing is charged twice, and what tills were told is true.

    Tests/Checks/Estate/check-switch.py FOLDER-WITH-THE-PROGRAMS --taps 10000 --seed 7

Ends with 1 where it is not so. docs/service/payment-service.md says what the host does."""
import argparse
import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time
from socket import create_connection

HERE = pathlib.Path(__file__).resolve().parent
RIG = HERE.parents[1] / "Rigs/Host"
sys.path[:0] = [str(HERE), str(RIG)]
from book import Book  # noqa: E402
from books import Judgement, rows  # noqa: E402
from centre import Estate  # noqa: E402
from parts import Certificates, Failed, free_port, until  # noqa: E402

# Of tests alone.
ZONE = "5a" * 32
UNSETTLED = (
    "select (select count(*) from exchange where (stage in ('awaiting', 'reversing', 'advising') or wanted is not null) and not given_up)"
    # What nobody may have listened for is taken back once more nine times an answer's time after its end.
    " + (select count(*) from exchange where stage = 'reversed' and sealed is not null and changed < created + interval '18 s')"
    " + (select count(*) from payment p where state in ('running', 'reversing')"
    " and not exists (select 1 from exchange x where x.payment = p.id and x.given_up))")


class OtherBooks(Judgement):
    """The books of the second host, told as the judgement of an estate wants them."""

    # The host's references are its own, and nobody has heard those of answers that were lost.
    NAME = "trace || '/' || transmitted"

    def __init__(self, estate, beliefs, host):
        self.host, self.exchanges = host, {}
        for id, payment, stage, trace, transmitted, reference, settlement, given_up in rows(
                estate.primary, "select id, payment, stage, trace, transmitted, coalesce(reference, ''), coalesce(settlement, ''), given_up from exchange where kind <> 'day'"):
            self.exchanges[f"{trace}/{transmitted}"] = (id, payment, stage, reference, settlement, given_up)
        estate.holder_book = self.lines
        super().__init__(estate, beliefs)
        self.judge_host()

    def exchange(self, entry):
        return self.exchanges.get(entry.key.split("/", 1)[1])

    def lines(self):
        for entry in self.host.entries.values():
            known = self.exchange(entry)
            if known is None:
                self.fault(f"{entry.key}: the host has a {entry.kind} that the books never sent")
            yield {
                "reference": entry.key.split("/", 1)[1], "type": "0220" if entry.kind == "capture" else "0200",
                "held": entry.held, "taken": abs(entry.taken), "isCredit": entry.kind == "credit"}

    def judge_host(self):
        for what, count in collections.Counter(self.host.violations).items():
            self.fault(f"the host's manual is broken {count} times: {what}")
        for first, second in self.host.doubles():
            self.fault(f"one cryptogram has paid twice: {first} and {second}")
        for entry in self.host.entries.values():
            known = self.exchange(entry)
            if known is None or entry.kind == "capture" or known[2] != "answered" or not entry.answers:
                continue
            if known[3] != entry.reference:
                self.fault(f"{entry.key}: {entry.reference} at the host is {known[3]} in the books")
            if known[4] not in {day for _, day in entry.answers}:
                self.fault(f"{entry.key}: settled on {entry.answers} at the host, on {known[4]} in the books")
        # Open items that nobody has given a reason for would hide everything.
        lies = {self.exchange(self.host.entries[key])[1] for key in self.host.lies if self.exchange(self.host.entries[key])}
        self.contradicted = sum(row[4] == "t" for row in self.open_items)
        for row in self.open_items:
            if row[4] == "t" and row[0] not in lies:
                self.fault(f"{' '.join(row)}: an open item without a contradiction of the host")

    def judge(self, lines):
        super().judge(list(lines))


class Deaths(threading.Thread):
    def __init__(self, estate, host, seed, every):
        super().__init__(daemon=True)
        self.estate, self.host, self.dice, self.every = estate, host, random.Random(seed), every
        self.is_over, self.done = threading.Event(), collections.Counter()

    def run(self):
        while not self.is_over.wait(self.dice.uniform(0.3, 1.7) * self.every):
            part = self.dice.choice([*self.estate.replicas] * 3 + [self.host])
            self.done["host" if part is self.host else "replica"] += 1
            part.end()
            self.is_over.wait(self.dice.uniform(0, 0.5))
            part.start()

    def tend(self):
        """A replica that has lost its seat ends by itself; its service starts it again."""
        while not self.is_over.wait(0.2):
            for part in self.estate.replicas:
                part.start()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--tills", type=int, default=32)
    parser.add_argument("--taps", type=int, default=1_000)
    parser.add_argument("--every", type=float, default=5, help="seconds between two deaths, on average; 0 for none")
    parser.add_argument("--seconds", type=float, default=3_000, help="no tap begins later")
    parser.add_argument("--faults", type=float, default=100, help="of the host, per cent of the usual share")
    parser.add_argument("--quiet", type=float, default=150, help="seconds until what is open then counts as an open item")
    parser.add_argument("--tls", action="store_true", help="two lines with TLS on both sides, by docs/examples/haproxy-acquirer.cfg; ports are closed for a while")
    parser.add_argument("--mac", nargs="?", const="cmac", choices=["cmac", "retail"], help="messages carry codes, and the host hands over their keys")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="keep the folders")
    arguments = parser.parse_args()
    port, more = free_port(), []
    estate = Estate(
        arguments.programs, replicas=2, shops=2, tills=arguments.tills, standby=False, token=bool(arguments.mac), acquirer=f"127.0.0.1:{port}",
        packager=str(RIG / "second-host.json"), answer_seconds=2, secrets=[("zone", "AES:32", "--usage-wrap", ZONE)] if arguments.mac else [],
        switch=["--zone-key", "zone"] if arguments.mac else [])
    if arguments.mac:
        packager = json.loads(pathlib.Path(estate.packager).read_text(encoding="utf-8"))
        estate.packager = estate.path("host-with-codes.json")
        packager["fields"] += [{"field": field, "name": "Code", "format": "b8", "encoding": "hex"} for field in (64, 128)]
        pathlib.Path(estate.packager).write_text(json.dumps({**packager, "mac": {"algorithm": arguments.mac, "exchange": 48}}), encoding="utf-8")
    if arguments.tls:
        second, here = free_port(), (free_port(), free_port())
        # The acquirer's authority is another one than the tills'.
        line = estate.folder / "line"
        line.mkdir()
        Certificates(line).make(["acquirer.example", "switch.example"])
        more = ["--second", second, "--certificate", line / "acquirer.example.pem", "--authority", line / "ca.pem"]
        estate.part("haproxy-acquirer", "/usr/sbin/haproxy", "-db", "-f", HERE.parents[2] / "docs/examples/haproxy-acquirer.cfg", environment={
            "FIRST_PORT": str(here[0]), "SECOND_PORT": str(here[1]), "FIRST_ADDRESS": f"127.0.0.1:{port}", "SECOND_ADDRESS": f"127.0.0.1:{second}",
            "ACQUIRER_CA": str(line / "ca.pem"), "ACQUIRER_NAME": "acquirer.example", "OUR_CERTIFICATE": str(line / "switch.example.pem")})
        estate.acquirer = f"127.0.0.1:{here[0]}"
        estate.switch_options += ["--acquirer", f"127.0.0.1:{here[1]}"]
    host = estate.part(
        "host", os.environ.get("NFC_TAP_PYTHON", sys.executable), RIG / "host.py", port, estate.path("host.book"), "--seed", arguments.seed, "--answer-seconds", 2,
        "--faults", arguments.faults, *(["--zone", ZONE, "--algorithm", arguments.mac] if arguments.mac else []), *more)
    with estate:
        faults = day(estate, host, port, arguments)
    if faults or arguments.keep:
        print(f"check-switch: logs and books are in {estate.folder}, {estate.primary.folder}")
    else:
        estate.remove()
    sys.exit(1 if faults else 0)


def day(estate, host, port, arguments):
    begin, beliefs = time.monotonic(), estate.path("beliefs")
    deaths = Deaths(estate, host, arguments.seed, arguments.every)
    if arguments.every:
        threading.Thread(target=deaths.tend, daemon=True).start()
        deaths.start()
    words = [str(estate.programs / "rig-tills"), "pay", "--tills", str(arguments.tills), "--taps", str(arguments.taps), "--seed",
             str(arguments.seed), "--seconds", str(arguments.seconds), "--beliefs", beliefs]
    for socket in estate.sockets:
        words += ["--socket", socket]
    tills = subprocess.run(words, capture_output=True, text=True, check=False)
    deaths.is_over.set()
    if arguments.every:
        deaths.join(60)
    if tills.returncode:
        raise Failed(f"rig-tills: {tills.stdout}{tills.stderr}")
    told = json.loads(tills.stdout)
    for part in estate.parts:
        part.start()
    # One that was started this moment would die of it.
    until("the host", lambda: create_connection(("127.0.0.1", port), 1).close() or True)
    host.process.send_signal(signal.SIGUSR1)
    try:
        until("an end of everything open", lambda: estate.primary.sql(UNSETTLED) == "0", limit=arguments.quiet)
    except Failed:
        pass  # What is open is listed.
    estate.close_day()
    try:
        until("the host's word on the day", lambda: estate.primary.sql("select count(*) from day_end where balance is null") == "0", limit=60)
    except Failed:
        pass
    balance = estate.primary.sql("select string_agg(distinct coalesce(balance, 'nothing'), ', ') from day_end")
    book = Book(estate.path("host.book"))
    judgement = OtherBooks(estate, beliefs, book)
    if judgement.believed["approved"] * 3 < told["taps"] or not told["taps"]:
        judgement.fault("fewer than a third of the taps were approved: this proves nothing")
    differ = judgement.sums["switch"] != judgement.sums["acquirer"]
    if balance != ("outOfBalance" if differ else "inBalance"):
        judgement.fault(f"the host's word on the day is {balance}, with {judgement.sums}")
    report(judgement, book, told, deaths, balance, arguments, time.monotonic() - begin)
    return judgement.faults


def report(judgement, book, told, deaths, balance, arguments, seconds):
    def line(name, value):
        print(f"| {name} | {value} |")

    def counted(counter):
        return ", ".join(f"{count} {name}" for name, count in sorted(counter.items())) or "none"

    print("| what | figure |\n|---|---|")
    line("taps, in seconds", f"{told['taps']} in {told['seconds']:.0f}")
    line("to the tills", counted(judgement.believed))
    line("in the books", counted(judgement.counts))
    line("deaths", counted(deaths.done))
    line("what the host did", counted({name[7:]: count for name, count in book.counts.items() if name.startswith("fault: ")}))
    line("cut-overs", book.cut_overs)
    line("minor units for the shops", ", ".join(f"{name} {total}" for name, total in judgement.sums.items()))
    line("the host's word on the day", balance)
    line("open items, of them by a contradiction of the host", f"{len(judgement.open_items)}, {judgement.contradicted}")
    line("differences that are no open item", len(judgement.faults))
    for row in judgement.open_items[:20]:
        print("open:", " ".join(row))
    for text in judgement.faults[:20]:
        print("fault:", text)
    print(f"check-switch: SEED={arguments.seed}, {len(judgement.faults)} faults, {seconds:.0f} s")


if __name__ == "__main__":
    main()
