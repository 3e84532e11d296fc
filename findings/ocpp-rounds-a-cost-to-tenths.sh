#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): ocpp 2.1.0 (the library most central systems and charger simulators in Python are made of)
#
# Guess: money goes as a Decimal, and a Decimal is sent as it is: a charger that is told "total cost 12.55" shows 12.55.
# What happens: each Decimal of each message is written with one digit behind the point, so that 12.55 becomes 12.6 and a price of
# 0.35 a kilowatt hour becomes 0.3. A float, which everybody is warned of, is sent whole. No error, no warning, and the schema allows
# both. OCPP 2.0.1 gives `totalCost` no limit of digits.
#
# Seen:
# > float 12.55: CostUpdated 12.55
# > Decimal 12.55: CostUpdated 12.6
# > Decimal 12.45: CostUpdated 12.4
# > Decimal 0.35: CostUpdated 0.3
# > Decimal 0.05: CostUpdated 0.1
# > Decimal 0.04: CostUpdated 0.0
# > float 12.55: the answer to TransactionEvent 12.55
# > Decimal 12.55: the answer to TransactionEvent 12.6
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ocpp==2.1.0 jsonschema==4.26.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import asyncio
import json
from decimal import Decimal

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
    @on("CostUpdated")
    async def cost_updated(self, **cost):
        return call_result.CostUpdated()


class Central(ChargePoint):
    cost = None

    @on("TransactionEvent")
    async def transaction_event(self, **event):
        return call_result.TransactionEvent(total_cost=self.cost)


async def main():
    left, right = Line(), Line()
    left.other, right.other = right, left
    central, charger = Central("central", left, 60), Charger("charger", right, 60)
    tasks = [asyncio.create_task(side.start()) for side in (central, charger)]
    for cost in (12.55, Decimal("12.55"), Decimal("12.45"), Decimal("0.35"), Decimal("0.05"), Decimal("0.04")):
        await central.call(call.CostUpdated(total_cost=cost, transaction_id="1"), suppress=False)
        print(f"{type(cost).__name__} {cost}: CostUpdated {left.sent[-1][3]['totalCost']}")
    for cost in (12.55, Decimal("12.55")):
        central.cost = cost
        event = call.TransactionEvent(
            event_type="Ended", timestamp="2026-11-28T12:00:00Z", trigger_reason="StopAuthorized", seq_no=1, transaction_info={"transactionId": "1"}
        )
        await charger.call(event, suppress=False)
        print(f"{type(cost).__name__} {cost}: the answer to TransactionEvent {left.sent[-1][2]['totalCost']}")
    for task in tasks:
        task.cancel()


asyncio.run(main())
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
