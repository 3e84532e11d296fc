#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): ocpp 2.1.0
#
# Guess: the `data` of a DataTransfer belongs to the two parties, as OCPP 2.0.1 says, and arrives as it was sent. It is where a payment
# terminal at a charger passes what OCPP has no field for.
# What happens: the keys inside are renamed as if they were the library's own, on the way out and again on the way in. `auth_code` goes
# out as `authCode`, `rrn_12` as `rrn12`, `social_club` as `SoCialClub`; two keys that differ in their underscore become one and a
# value is lost. Who gets `terminalId` and `cardBIN` from another maker finds `terminal_id` and `card_bin`.
#
# Seen:
# > the program sends: {'auth_code': 'A1', 'rrn_12': '000123', 'social_club': True, 'terminalId': 'T1', 'cardBIN': '476173'}
# > on the wire: {'authCode': 'A1', 'rrn12': '000123', 'SoCialClub': True, 'terminalId': 'T1', 'cardBIN': '476173'}
# > the other side's program gets: {'auth_code': 'A1', 'rrn12': '000123', 'so_cial_club': True, 'terminal_id': 'T1', 'card_bin': '476173'}
# > the program sends: {'unit_1': 'kWh', 'unit1': 'min'}
# > on the wire: {'unit1': 'min'}
# > the other side's program gets: {'unit1': 'min'}
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ocpp==2.1.0 jsonschema==4.26.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import asyncio
import json

from ocpp.routing import on
from ocpp.v201 import ChargePoint, call, call_result


class Line:
    """One end of a connection in memory, with what it has sent."""

    def __init__(self):
        self.arrived, self.other, self.sent = asyncio.Queue(), None, []

    async def send(self, text):
        self.sent.append(json.loads(text))
        await self.other.arrived.put(text)

    async def recv(self):
        return await self.arrived.get()


class Charger(ChargePoint):
    got = None

    @on("DataTransfer")
    async def data_transfer(self, data, **more):
        self.got = data
        return call_result.DataTransfer(status="Accepted")


async def main():
    left, right = Line(), Line()
    left.other, right.other = right, left
    central, charger = ChargePoint("central", left, 60), Charger("charger", right, 60)
    tasks = [asyncio.create_task(side.start()) for side in (central, charger)]
    for data in (
        {"auth_code": "A1", "rrn_12": "000123", "social_club": True, "terminalId": "T1", "cardBIN": "476173"},
        {"unit_1": "kWh", "unit1": "min"},
    ):
        print("the program sends:", data)
        await central.call(call.DataTransfer(vendor_id="com.example", message_id="Paid", data=data), suppress=False)
        print("on the wire:", left.sent[-1][3]["data"])
        print("the other side's program gets:", charger.got)
    for task in tasks:
        task.cancel()


asyncio.run(main())
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
