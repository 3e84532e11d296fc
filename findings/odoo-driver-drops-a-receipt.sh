#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages (PyPI): odoo-driver 3.1.1, odoo-driver-plugin-printer-escpos 2.1.0 (Odoo's hw_proxy for a till's devices)
#
# Guess: a receipt to which hw_proxy said True is printed, late if the printer is off, or somebody hears that it is not; a full queue refuses.
# What happens: the queue has three places, and True is said when a receipt is put in it. For a fourth one the oldest is taken out and thrown away: of five
# receipts made while the printer's cable was out two are left, and the drawer's opening took the place of one. The log has a warning that does not say which.
#
# Seen:
# > receipt 1: HTTP 200, result True
# > receipt 2: HTTP 200, result True
# > receipt 3: HTTP 200, result True
# > receipt 4: HTTP 200, result True
# > receipt 5: HTTP 200, result True
# > the drawer: HTTP 200, result True
# > waiting for the printer: receipt 4, receipt 5, the drawer
# > the log: 3 times "Removing obsolete task in queue."
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check odoo-driver==3.1.1 odoo-driver-plugin-printer-escpos==2.1.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import base64
import io

from flask import Flask
from loguru import logger
from odoo_driver.tools.tools_interface import interface
from odoo_driver_plugin_printer_escpos.printer_escpos_driver import DriverPrinterEscPos
from odoo_driver_plugin_printer_escpos.routes_odoo import driver_routes_odoo
from PIL import Image

log = []
logger.remove()
logger.add(log.append, level="WARNING")


def picture(height):
    file = io.BytesIO()
    Image.new("1", (8, height)).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


# The application, with a printer that is not plugged in: no USB device, so that the queue waits.
interface._log_folder = False
printer = DriverPrinterEscPos()
interface.drivers["printer"] = printer
till = Flask(__name__)
till.register_blueprint(driver_routes_odoo)
client = till.test_client()

receipts = {picture(number): f"receipt {number}" for number in range(1, 6)}
orders = [(name, {"action": "print_receipt", "receipt": image}) for image, name in receipts.items()]
for name, order in (*orders, ("the drawer", {"action": "cashbox"})):
    answer = client.post("/hw_proxy/default_printer_action", json={"params": {"data": order}})
    print(f"{name}: HTTP {answer.status_code}, result {answer.json['result']}")
waiting = (task.data for task in printer._queue.queue)
print("waiting for the printer:", ", ".join(receipts[value] if action == "print" else "the drawer" for action, value in waiting))
told = [line.record["message"].split(": ", 1)[1] for line in log]
print(f'the log: {len(told)} times "{" ".join(sorted(set(told)))}"')
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
