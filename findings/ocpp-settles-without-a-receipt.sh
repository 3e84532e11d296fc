#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): ocpp 2.1.0 (OCPP 1.6, 2.0.1 and 2.1)
#
# Guess: the library turns each member's name into Python's form and back, so that each message of the standard can be sent; a CALLERROR of
# the other side raises an exception.
# What happens: in 1.6 and 2.0.1 the way back is right for every name. In 2.1, the version with card terminals, 43 of 555 names come back
# changed: receiptUrl becomes receiptURL, which the library's own schema refuses, so a charger cannot report a settled card
# payment together with its receipt. An error that the other side answers is logged and given to the caller as None.
#
# Seen:
# > names that come back changed: 1.6 0 of 96, 2.0.1 0 of 244, 2.1 43 of 555
# > changed in NotifySettlement: receiptUrl becomes receiptURL
# > NotifySettlement without a receipt: sent
# > NotifySettlement with a receipt: FormatViolationError, 'receiptURL' was unexpected
# > RemoteStartTransaction (1.6) answered by Rejected: RemoteStartTransaction, status Rejected
# > RemoteStartTransaction (1.6) answered by a CALLERROR: None
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check ocpp==2.1.0 jsonschema==4.26.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import asyncio
import glob
import json
import os
import re

import ocpp
import ocpp.v16
import ocpp.v21
from ocpp.charge_point import camel_to_snake_case, snake_to_camel_case


def names(schema):
    found = set()
    if isinstance(schema, dict):
        members = schema.get("properties")
        found |= set(members) if isinstance(members, dict) else set()
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else []:
        found |= names(part)
    return found


def changed(found):
    return {name: back for name in found for back in snake_to_camel_case(camel_to_snake_case({name: 0})) if back != name}


def schemas(version, pattern):
    paths = glob.glob(f"{os.path.dirname(ocpp.__file__)}/{version}/schemas/{pattern}.json")
    return set().union(*(names(json.load(open(path, encoding="utf-8-sig"))) for path in paths))


counts = []
for title, version in (("1.6", "v16"), ("2.0.1", "v201"), ("2.1", "v21")):
    found = schemas(version, "*")
    counts.append(f"{title} {len(changed(found))} of {len(found)}")
print("names that come back changed:", ", ".join(counts))
for name, back in changed(schemas("v21", "NotifySettlementRequest")).items():
    print(f"changed in NotifySettlement: {name} becomes {back}")


class Line:
    def __init__(self, answer):
        self.answer, self.messages = answer, asyncio.Queue()

    async def recv(self):
        return await self.messages.get()

    async def send(self, text):
        kind, code, *rest = self.answer
        await self.messages.put(json.dumps([kind, json.loads(text)[1], *([code] if code else []), *rest]))


async def ask(version, call, answer):
    point = version.ChargePoint("charger", Line(answer))
    listening = asyncio.create_task(point.start())
    try:
        return await point.call(call)
    finally:
        listening.cancel()


async def main():
    settled = {"psp_ref": "1", "status": "Settled", "settlement_amount": 12.5, "settlement_time": "2026-11-28T10:00:00Z"}
    for title, more in (("without", {}), ("with", {"receipt_id": "7", "receipt_url": "https://shop.example/7"})):
        try:
            await ask(ocpp.v21, ocpp.v21.call.NotifySettlement(**settled, **more), [3, None, {}])
            said = "sent"
        except Exception as error:
            said = f"{type(error).__name__}, {re.search('[(](.* was unexpected)', str(error))[1]}"
        print(f"NotifySettlement {title} a receipt: {said}")
    start = ocpp.v16.call.RemoteStartTransaction(id_tag="04A1B2C3")
    answer = await ask(ocpp.v16, start, [3, None, {"status": "Rejected"}])
    print(f"RemoteStartTransaction (1.6) answered by Rejected: {type(answer).__name__}, status {answer.status}")
    answer = await ask(ocpp.v16, start, [4, "InternalError", "the charger is busy", {}])
    print(f"RemoteStartTransaction (1.6) answered by a CALLERROR: {answer}")


asyncio.run(main())
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
