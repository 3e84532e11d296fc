#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A payment service on one machine, many tills before it, and deaths of every part of it: in the end what tills believe, what the
switch's books say and what the acquirer's host has are the same, and what is open is listed.

    Tests/Checks/Estate/check-estate.py FOLDER-WITH-THE-PROGRAMS --tills 100 --taps 2000 --kills 40 --fail-overs 2 --seed 7

Ends with 1 where they are not. docs/service/estate.md says what is started, and what a run printed.
"""
import argparse
import collections
import json
import random
import subprocess
import sys
import threading
import time

from books import Judgement
from centre import Estate
from parts import Failed, until


class Killer(threading.Thread):
    """Kills parts one after the other, at random moments, and starts them again."""

    def __init__(self, estate, arguments):
        super().__init__(daemon=True)
        self.estate, self.arguments, self.dice = estate, arguments, random.Random(arguments.seed)
        self.done, self.is_over, self.fault = collections.Counter(), threading.Event(), None
        moments = ["part"] * arguments.kills + ["failover"] * arguments.fail_overs
        self.dice.shuffle(moments)
        self.moments = moments

    def run(self):
        try:
            for what in self.moments:
                if self.is_over.wait(self.dice.uniform(0.3, 2) * self.arguments.every):
                    break
                self.strike(what)
        except Exception as error:  # noqa: BLE001: told by whoever waits for the thread
            self.fault = error

    def strike(self, what):
        estate = self.estate
        if what == "failover":
            self.done["primary, standby promoted"] += 1
            estate.fail_over()
            return
        kind = self.dice.choice(["replica"] * 6 + ["link to the acquirer", "centre proxy", "tills' proxy", "database, started again"])
        self.done[kind] += 1
        if kind == "replica":
            part = self.dice.choice(estate.replicas)
        elif kind == "link to the acquirer":
            part = estate.host
        elif kind == "database, started again":
            estate.primary.crash()
            estate.primary.start()
            return
        else:
            part = estate.centre if kind == "centre proxy" else estate.till_side
        part.end()
        self.is_over.wait(self.dice.uniform(0, 0.5))
        part.start()

    def tend(self):
        """A replica that has lost its seat ends by itself; its service starts it again."""
        while not self.is_over.wait(0.2):
            for part in self.estate.replicas:
                if not part.is_running():
                    time.sleep(0.1)
                    if not part.is_running() and not self.is_over.is_set():
                        part.start()


def is_quiet(estate):
    return estate.primary.sql(
        "select (select count(*) from exchange where stage in ('awaiting', 'reversing', 'advising') or wanted is not null)"
        " + (select count(*) from payment where state in ('running', 'reversing'))") == "0"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("programs")
    parser.add_argument("--tills", type=int, default=1_000)
    parser.add_argument("--taps", type=int, default=100_000)
    parser.add_argument("--shops", type=int, default=10)
    parser.add_argument("--replicas", type=int, default=3)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--fail-overs", type=int, default=10)
    parser.add_argument("--every", type=float, default=4, help="seconds between two deaths, on average")
    parser.add_argument("--seconds", type=float, default=3_000, help="no tap begins later")
    parser.add_argument("--pause", type=int, default=0, help="milliseconds between two taps of a till")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-token", action="store_true", help="keys from a file instead of SoftHSM2")
    parser.add_argument("--keep", action="store_true", help="keep the folders")
    arguments = parser.parse_args()
    begin = time.monotonic()
    estate = Estate(
        arguments.programs, replicas=arguments.replicas, shops=arguments.shops, tills=arguments.tills,
        token=not arguments.no_token, host=["--lose", "1", "--twice", "1", "--delay", "1", "--seed", str(arguments.seed)])
    with estate:
        faults = day(estate, arguments, begin)
    if faults or arguments.keep:
        print(f"check-estate: logs and books are in {estate.folder}, {', '.join(str(d.folder) for d in estate.databases)}")
    else:
        estate.remove()
    sys.exit(1 if faults else 0)


def day(estate, arguments, begin):
    killer = Killer(estate, arguments)
    threading.Thread(target=killer.tend, daemon=True).start()
    killer.start()
    beliefs = estate.path("beliefs")
    words = [str(estate.programs / "rig-tills"), "pay", "--tills", str(arguments.tills), "--taps", str(arguments.taps), "--seed",
             str(arguments.seed), "--seconds", str(arguments.seconds), "--pause", str(arguments.pause), "--faults", "--beliefs", beliefs]
    for socket in estate.sockets:
        words += ["--socket", socket]
    tills = subprocess.run(words, capture_output=True, text=True, check=False)
    killer.moments.clear()
    killer.is_over.set()
    killer.join(180)
    if tills.returncode:
        raise Failed(f"rig-tills: {tills.stdout}{tills.stderr}")
    if killer.fault:
        raise killer.fault
    told = json.loads(tills.stdout)
    for part in estate.parts:
        if not part.is_running():
            part.start()
    try:
        until("an end of everything open", lambda: is_quiet(estate), limit=120)
    except Failed:
        pass  # What is open is listed.
    judgement = Judgement(estate, beliefs)
    balance = close(estate)
    if not arguments.taps or told["taps"] == 0 or judgement.believed["approved"] * 3 < told["taps"]:
        judgement.fault("fewer than a third of the taps were approved: this proves nothing")
    report(judgement, told, killer, arguments, balance, time.monotonic() - begin)
    return judgement.faults


def close(estate):
    """Day ends are compared by the acquirer too; what it has approved and the switch has taken back for want of an answer stands in
    its count and not in ours, so its word is told and judged by the books alone."""
    estate.close_day()
    try:
        until("the acquirer's word on the day", lambda: estate.primary.sql(
            "select count(*) from day_end where balance is null") == "0", limit=60)
    except Failed:
        return "no answer"
    return estate.primary.sql("select string_agg(distinct balance, ', ') from day_end") or "no day"


def report(judgement, told, killer, arguments, balance, seconds):
    def line(name, value):
        print(f"| {name} | {value} |")

    print("| what | figure |\n|---|---|")
    line("tills, shops, replicas", f"{arguments.tills}, {arguments.shops}, {arguments.replicas}")
    line("taps, in seconds", f"{told['taps']} in {told['seconds']:.0f}")
    line("to the tills", ", ".join(f"{count} {name}" for name, count in sorted(judgement.believed.items())))
    line("in the books", ", ".join(f"{count} {name}" for name, count in sorted(judgement.counts.items())))
    line("deaths", ", ".join(f"{count} {name}" for name, count in sorted(killer.done.items())) or "none")
    line("milliseconds until a till is sure", f"half {told['p50']:.0f}, 99 of 100 {told['p99']:.0f}")
    line("open items", len(judgement.open_items))
    line("minor units for the shops", ", ".join(f"{name} {total}" for name, total in judgement.sums.items()))
    line("the acquirer's word on the day", balance)
    line("doubles, losses and other differences", len(judgement.faults))
    for row in judgement.open_items[:20]:
        print("open:", " ".join(row))
    for text in judgement.faults[:20]:
        print("fault:", text)
    print(f"check-estate: SEED={arguments.seed}, {len(judgement.faults)} faults, {seconds:.0f} s")


if __name__ == "__main__":
    main()
