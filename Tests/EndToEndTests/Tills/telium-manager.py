#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pays by Caisse E+ with pyTeliumManager, which waits for the end of each payment: telium-manager.py DEVICE SECONDS AMOUNT[:credit]…

Prints a line of JSON for each: whether the terminal took the request, and the result that it told (0 paid, 7 refused) within so
many seconds, or null.
"""
import json
import sys

from telium import Telium, TeliumAsk
from telium.manager import TerminalInitializationFailedException

for text in sys.argv[3:]:
    amount, _, mode = text.partition(":")
    request = TeliumAsk.new_payment(
        float(amount), payment_mode=mode or "debit", target_currency="EUR", collect_payment_source_info=False)
    report = {"taken": False, "result": None}
    device = Telium(sys.argv[1], timeout=5)
    try:
        report["taken"] = device.ask(request)
        answer = device.verify(request, waiting_timeout=float(sys.argv[2])) if report["taken"] else None
        if answer:
            report |= {"result": answer.transaction_result, "amount": answer.amount}
    except TerminalInitializationFailedException:
        pass
    except OSError as error:
        report["error"] = repr(error)
    device.close()
    print(json.dumps(report), flush=True)
