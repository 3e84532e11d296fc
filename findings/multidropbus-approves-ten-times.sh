#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): pymultidropbus 0.0.1 (a cashless reader on the MDB bus of vending machines)
#
# Guess: who approves a vend with the price that the library reported in cents approves that price.
# What happens: the machine's number is multiplied by ten for the price, and is not divided when it goes back: a drink for 1.50 (15 on a bus that counts
# ten cents) is approved with 150 on the wire, 15.00. On a bus that counts cents the price is reported as ten times too much.
# The largest and smallest prices are divided by ten. The scale that would tell, a reader's answer to SETUP, is never sent.
#
# Seen:
# > SETUP, configuration: nothing written
# > SETUP, prices from 5 to 100: {'max_price': 10.0, 'min_price': 0.5}
# > VEND REQUEST for 15 (000F): {'item_price': 150, 'item_number': 1}
# > approved with 150: 05 00 96 9B written
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pymultidropbus==0.0.1

timeout -s KILL 60 "$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import os
import pty
import queue
import select
import sys

from pymultidropbus import MDB

machine, line = pty.openpty()
events = queue.Queue()
reader = MDB(events, com_port=os.ttyname(line))


def ask(command):
    """Gives the reader a command of the machine and returns what it wrote on the bus."""
    reader.process_cmd(command)
    written = b""
    while select.select([machine], [], [], 0.5)[0]:
        written += os.read(machine, 100)
    return written.hex(" ").upper() or "nothing"


print("SETUP, configuration:", ask("110003100200"), "written")
ask("1101006400050000")
print("SETUP, prices from 5 to 100:", events.queue[-1]["data"])
ask("1401")
reader.start_cashless_session()
ask("12")
ask("1300000F0001")
price = events.queue[-1]["data"]["item_price"]
print("VEND REQUEST for 15 (000F):", events.queue[-1]["data"])
reader.approve_vend(price)
print(f"approved with {price}:", ask("12"), "written")
sys.stdout.flush()
os._exit(0)
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
