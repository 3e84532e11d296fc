#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Asks for payments by Caisse E+ with the driver of pypostelium, as pywebdriver does: postelium.py DEVICE AMOUNT… prints a line of
JSON for each, with what the driver returned."""
import json
import sys

from pypostelium import Driver

for amount in sys.argv[2:]:
    driver = Driver({"telium_terminal_device_name": sys.argv[1]})
    payment = {"amount": float(amount), "payment_mode": "card", "currency_iso": "EUR", "currency_decimals": 2}
    print(json.dumps({"taken": driver.transaction_start(json.dumps(payment))}), flush=True)
