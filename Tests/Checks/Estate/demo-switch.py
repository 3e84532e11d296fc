#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One payment with a virtual card through everything that a real one passes: nfc-tapd, haproxy at the till, mutual TLS, haproxy at the
centre, nfc-tap-switch, the token, PostgreSQL, ISO 8583, the acquirer's host. Prints the path and where the time went.

    Tests/Checks/Estate/demo-switch.py FOLDER-WITH-THE-PROGRAMS

Every time is one that a part has measured itself: journal, logs of both proxies, metrics of the switch.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import time

from centre import Estate
from parts import run, until


def proxy_times(estate, name):
    """What a proxy has logged of the payment, in milliseconds: until its own server answered, and all of it."""
    pattern = re.compile(r"POST /v1/authorizations (\d+) queue (-?\d+) connect (-?\d+) answer (-?\d+) all (\d+)")

    def found():
        lines = [pattern.search(line) for line in pathlib.Path(estate.path(f"{name}.log")).read_text().splitlines()]
        return [line for line in lines if line]
    line = until(f"the log of {name}", found)[-1]
    return int(line.group(3)), int(line.group(4)), int(line.group(5))


def stages(estate):
    """Milliseconds of the one payment's stages, from the metrics of whichever replica had it."""
    totals = {}
    for number in range(estate.count):
        text = estate.get(estate.path(f"desk-{number}.sock"), "/metrics")
        for stage, seconds in re.findall(r'nfc_tap_switch_stage_seconds_sum\{stage="(\w+)"\} (\S+)', text):
            totals[stage] = totals.get(stage, 0) + float(seconds) * 1_000
    return totals


def main():
    with Estate(sys.argv[1], replicas=3, shops=1, tills=1, standby=False, log=True) as estate:
        kid = estate.start_daemon(f"virtual:{estate.path('reader.sock')}")
        print(f"== till: nfc-tapd, sealing to {kid}, whose private half is in a SoftHSM2 token of the payment service")
        run(estate.programs / "nfc-tap", "virtual", "--control", estate.path("reader.sock"), "present", "visa")
        print("== nfc-tap pay 12.50 EUR")
        begin = time.monotonic()
        paid = subprocess.run(
            [str(estate.programs / "nfc-tap"), "pay", "12.50", "EUR", "--socket", estate.path("pos.sock")],
            capture_output=True, text=True, check=False)
        whole = (time.monotonic() - begin) * 1_000
        print(paid.stdout + paid.stderr, end="")
        if paid.returncode == 0:
            tell(estate, whole)
    estate.remove()
    sys.exit(paid.returncode)


def tell(estate, whole):
    book = [json.loads(line) for line in estate.book.read_text().splitlines()]
    sale = next(line for line in book if line["event"] == "sale")
    payment = estate.primary.sql("select state, amount, currency, last4, answer is not null from payment")
    sealed = estate.primary.sql("select octet_length(sealed) from exchange")
    times, till, centre = stages(estate), proxy_times(estate, "haproxy-tills"), proxy_times(estate, "haproxy-centre")
    print("\n| stage | milliseconds | measured by |\n|---|---|---|")
    for stage, milliseconds, source in [
        ("tap, seal, pay: the whole command", f"{whole:.0f}", "this script's clock"),
        ("till: haproxy, Unix socket in, TLS with the shop's certificate out", till[2], "its log, all of the request"),
        ("  of it: until there was a connection to the centre", till[0], "its log"),
        ("centre: haproxy, TLS in, certificate checked, Unix socket out", centre[2], "its log, all of the request"),
        ("  of it: until the replica answered", centre[1], "its log"),
        ("switch: token opens the envelope and names the card", f"{times['keys']:.1f}", "metrics of the replica"),
        ("switch: first commit, before anybody is asked", f"{times['first_commit']:.1f}", "metrics of the replica"),
        ("acquirer: ISO 8583 there and back, cryptogram verified", f"{times['acquirer']:.1f}", "metrics of the replica"),
        ("switch: second commit, before the till is told", f"{times['second_commit']:.1f}", "metrics of the replica"),
    ]:
        print(f"| {stage} | {milliseconds} | {source} |")
    print(f"\nBooks of the switch: {payment.replace('|', ' ')}; {sealed} sealed bytes for a reversal.")
    print(f"Book of the acquirer: {sale['type']}, reference {sale['reference']}, terminal {sale['terminal']}, {sale['booked']} minor "
          f"units, code {sale['code']}, cryptogram {sale['cryptogram']}.")


if __name__ == "__main__":
    main()
