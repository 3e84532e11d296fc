#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages (PyPI): odoo-driver 3.1.1, odoo-driver-plugin-scale-toledo-8217 2.1.0 (Odoo's hw_proxy for a till's scale)
#
# Guess: a scale that gives no weight gives the till none: it says why in its status, whose bits are motion 1, over capacity 2, under zero 4, outside the
# zero range 8, centre of zero 16, net 32, bad command 64; and a scale that is off is an error.
# What happens: where the driver knows no bit of a status, and where nothing comes at all, it answers with the weight of what was weighed before: the next
# customer's goods, or an empty scale whose plug is out, weigh 1.250 kg. Bits are looked for by their numbers 1, 2, 3 and 4, so that motion is also under
# zero, under zero is another fault, and outside the zero range is none. A tare of 1.001 kg is sent as 1000 g.
#
# Seen:
# > 01.250: weight 1.25 kilogram, status -
# > status 01: weight 0.0 False, status scale_in_moving under_zero
# > status 04: weight 0.0 False, status outside_zero_capture_range
# > status 08: weight 1.25 kilogram, status none
# > status 10: weight 1.25 kilogram, status none
# > status 40: weight 1.25 kilogram, status none
# > no answer: weight 1.25 kilogram, status -
# > tare 1.001: sent T01000
# > of 100 tares from 1.001 to 1.100 sent a gram less: 12
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check odoo-driver==3.1.1 odoo-driver-plugin-scale-toledo-8217==2.1.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from flask import Flask
from loguru import logger
from odoo_driver.tools.tools_interface import interface
from odoo_driver_plugin_scale_toledo_8217.routes_odoo import driver_routes_odoo
from odoo_driver_plugin_scale_toledo_8217.scale_toledo_8217_driver import DriverScaleToledo8217

logger.remove()


class Line:
    """A serial line: takes a tare in silence, and answers "W" with what it was given."""

    def __init__(self):
        self.answer, self.sent, self.left = b"", [], b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def write(self, data):
        self.sent.append(data)
        self.left = self.answer if data == b"W" else b""

    def read(self, size):
        taken, self.left = self.left[:size], self.left[size:]
        return taken


class Scale(DriverScaleToledo8217):
    name = "Scale"

    def _get_serial(self):
        return line


line = Line()
interface.drivers["scale"] = Scale()
till = Flask(__name__)
till.register_blueprint(driver_routes_odoo)
client = till.test_client()


def read(answer, tare=0.0):
    line.answer, line.sent = answer, []
    return client.post("/hw_proxy/scale_read", json={"params": {"tare": tare}}).json["result"]


asked = [("01.250", b"\x0201.250\r")]
asked += [(f"status {bits:02x}", b"\x02?" + bytes([bits]) + b"\r") for bits in (0x01, 0x04, 0x08, 0x10, 0x40)]
for title, answer in (*asked, ("no answer", b"")):
    result = read(answer)
    status = result["result"].get("status_list")
    said = "-" if status is None else " ".join(status) or "none"
    print(f"{title}: weight {result['weight']} {result['weight_unit']}, status {said}")


def tare(grams):
    read(b"\x0200.000N\r", grams / 1000)
    return line.sent[0].decode().strip()


print("tare 1.001: sent", tare(1001))
print("of 100 tares from 1.001 to 1.100 sent a gram less:", sum(tare(grams) == f"T{grams - 1:05}" for grams in range(1001, 1101)))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
