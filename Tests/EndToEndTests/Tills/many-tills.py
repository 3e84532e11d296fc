#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tills that all sell at once through the gateway: many-tills.py PORT FILE SALES

FILE is a list of objects with till, lane and token. Each till makes SALES sales with amounts of its own; a lane that is busy,
and whatever else may succeed later, is asked again with the same key. A sale that was answered before its end, because too many
wait, is asked about until it has one. Prints a line for each sale: id, till, amount, state.
"""
import http.client
import json
import sys
import threading
import time

ENDS = ["approved", "declined", "failed", "cancelled", "reversed", "unknown"]
port, file, sales = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
tills = json.load(open(file))
lines, faults, lock = [], [], threading.Lock()
start = threading.Barrier(len(tills))


def sell(connection, till, number, index):
    # The last two digits choose the sandbox's answer: 00 is approved.
    value = (number * sales + index + 1) * 100
    body = json.dumps(
        {"type": "purchase", "amount": {"value": value, "currency": "EUR"}, "lane": till["lane"],
         "order": f"{till['till']}-{index}"})
    end = time.monotonic() + 120
    while time.monotonic() < end:
        connection.request(
            "POST", "/v1/transactions", body,
            {"Authorization": "Bearer " + till["token"], "Content-Type": "application/json", "Prefer": "wait=30",
             "Idempotency-Key": f"sale-{index}"})
        answer = connection.getresponse()
        found = json.loads(answer.read())
        if answer.status == 201:
            while found["state"] not in ENDS and time.monotonic() < end:
                time.sleep(0.2)
                connection.request(
                    "GET", "/v1/transactions/" + found["id"], headers={"Authorization": "Bearer " + till["token"]})
                found = json.loads(connection.getresponse().read())
            return f"{found['id']} {found['till']} {value} {found['state']}"
        if not found["error"]["retryable"]:
            raise RuntimeError(f"{till['till']}: {found}")
        time.sleep(0.05)
    raise RuntimeError(f"{till['till']}: not sold in time")


def run(number, till):
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        start.wait()
        for index in range(sales):
            line = sell(connection, till, number, index)
            with lock:
                lines.append(line)
    except Exception as fault:
        with lock:
            faults.append(repr(fault))


threads = [threading.Thread(target=run, args=entry) for entry in enumerate(tills)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("\n".join(lines))
print("\n".join(faults), file=sys.stderr)
sys.exit(1 if faults else 0)
