#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (PyPI): pypostelium 0.0.5 (Telium protocol E+ for Odoo's POS box), pyserial 3.5
#
# Guess: `transaction_start` is true where the terminal says 0 (paid), and false where it says 7 (refused) or says nothing.
# What happens: it is true as soon as the terminal has acknowledged the request. The result, the amount and the checksum of the
# answer are looked at and thrown away; a terminal that is switched off after its ACK was a payment too.
# The terminal here is a pseudo-terminal that plays the protocol: ENQ/ACK, request/ACK, EOT, then ENQ/ACK, answer/ACK, EOT.
#
# Seen:
# > request: 01 00001250 0 1 0 978 A011 B010
# > the terminal says paid (0), 12.50: True
# > the terminal says refused (7), 12.50: True
# > the terminal says paid (0), 1.25: True
# > the terminal says paid (0) with a wrong LRC: True
# > the terminal acknowledges and says nothing: True
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pypostelium==0.0.5 pyserial==3.5 simplejson==4.3.0 pycountry==26.2.16

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import functools
import json
import os
import pty
import threading
import tty

from pypostelium import Driver

STX, ETX, EOT, ENQ, ACK = b"\x02", b"\x03", b"\x04", b"\x05", b"\x06"


def read(port, count):
    data = b""
    while len(data) < count:
        data += os.read(port, count - len(data))
    return data


def terminal(port, result, amount, lrc_error, asked):
    read(port, 1)  # ENQ
    os.write(port, ACK)
    asked.append(read(port, 37)[1:35].decode())
    os.write(port, ACK)
    read(port, 1)  # EOT
    if result is None:
        return
    os.write(port, ENQ)
    read(port, 1)  # ACK
    body = f"01{result}{amount:08}1978{' ' * 10}".encode() + ETX
    lrc = functools.reduce(lambda left, right: left ^ right, body) ^ lrc_error
    os.write(port, STX + body + bytes([lrc]))
    read(port, 1)  # ACK
    os.write(port, EOT)


cases = [
    ("paid (0), 12.50", "0", 1250, 0),
    ("refused (7), 12.50", "7", 1250, 0),
    ("paid (0), 1.25", "0", 125, 0),
    ("paid (0) with a wrong LRC", "0", 1250, 1),
    (None, None, 0, 0),
]
for title, result, amount, lrc_error in cases:
    port, line = pty.openpty()
    tty.setraw(line)
    asked = []
    player = threading.Thread(target=terminal, args=(port, result, amount, lrc_error, asked), daemon=True)
    player.start()
    driver = Driver({"telium_terminal_device_name": os.ttyname(line)})
    answer = driver.transaction_start(json.dumps({"amount": 12.50, "payment_mode": "card", "currency_iso": "EUR"}))
    player.join(20)
    text = asked[0]
    if title and result == "0" and amount == 1250 and not lrc_error:
        print("request:", text[:2], text[2:10], text[10], text[11], text[12], text[13:16], text[26:30], text[30:])
    said = f"says {title}" if title else "acknowledges and says nothing"
    print(f"the terminal {said}: {answer}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
