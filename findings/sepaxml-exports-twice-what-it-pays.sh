#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Package (PyPI): sepaxml 2.7.0 (files of SEPA transfers and direct debits)
#
# Guess: whoever writes a file of refunds twice, once to look at and once to send, has the same file twice; and if not, the check against the schema, which
# is made each time, or the bank's check of the sum finds it.
# What happens: in a file with batches each export appends all payments once more: the second one has every refund twice, under a new PmtInfId and the same
# MsgId, and both are valid by the schema. The header's sum is added up with the sum that stood there, so that it is three times the first one. Without
# batches the payments stay as they are, and the header says twice the sum. A payment's dict cannot be added again: its date has become a text.
#
# Seen:
# > batch, export 1: 2 payments of 17.50, header 2 of 17.50, R1 R2
# > batch, export 2: 4 payments of 35.00, header 6 of 52.50, R1 R2 R1 R2
# > no batch, export 1: 2 payments of 17.50, header 2 of 17.50, R1 R2
# > no batch, export 2: 2 payments of 17.50, header 4 of 35.00, R1 R2
# > MsgId is the same in both: True, PmtInfIds in the second batch file: 2
# > the same dict added to another file: AttributeError
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check sepaxml==2.7.0 xmlschema==4.3.2

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import datetime
import xml.etree.ElementTree as ElementTree
from decimal import Decimal

from sepaxml import SepaTransfer

SPACE = "{urn:iso:std:iso:20022:tech:xsd:pain.001.001.03}"
SHOP = {"name": "Shop", "IBAN": "DE89370400440532013000", "BIC": "COBADEFFXXX", "currency": "EUR"}


def refund(reference, cents):
    day = datetime.date(2026, 11, 30)
    return {
        "name": "Guest", "IBAN": "NL91ABNA0417164300", "amount": cents, "description": f"Refund {reference}",
        "execution_date": day, "endtoend_id": reference,
    }


def texts(root, name):
    return [element.text for element in root.iter(SPACE + name)]


messages, batches = set(), 0
for title, batch in (("batch", True), ("no batch", False)):
    file = SepaTransfer({**SHOP, "batch": batch}, clean=False)
    file.add_payment(refund("R1", 1250))
    file.add_payment(refund("R2", 500))
    for number in (1, 2):
        # validate=True: an invalid file would be an exception here.
        root = ElementTree.fromstring(file.export(validate=True))
        amounts = [Decimal(text) for text in texts(root, "InstdAmt")]
        header = f"header {texts(root, 'NbOfTxs')[0]} of {texts(root, 'CtrlSum')[0]}"
        print(f"{title}, export {number}: {len(amounts)} payments of {sum(amounts)}, {header},", *texts(root, "EndToEndId"))
        if batch:
            messages.update(texts(root, "MsgId"))
            batches = len(set(texts(root, "PmtInfId")))
print(f"MsgId is the same in both: {len(messages) == 1}, PmtInfIds in the second batch file: {batches}")
once = refund("R3", 100)
SepaTransfer({**SHOP, "batch": True}, clean=False).add_payment(once)
try:
    SepaTransfer({**SHOP, "batch": True}, clean=False).add_payment(once)
    said = "taken"
except Exception as error:
    said = type(error).__name__
print("the same dict added to another file:", said)
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
