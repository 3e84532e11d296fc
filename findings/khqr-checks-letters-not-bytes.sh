#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Packages (PyPI): konthaina-khqr 0.1.7, cambodia-bank 1.0.3, vietqr-emvco 1.0.0, qriskit 0.2.0 (payment codes by EMV's QR specification: Cambodia, Vietnam,
# Indonesia)
#
# Guess: libraries for the same code make the same checksum of a shop's name, in Khmer or with an accent, and whoever checks a code takes the other's; fields
# that each have the length that EMV gives them (25 letters) make a code that can be read.
# What happens: konthaina-khqr reckons the checksum of the letters' numbers, the others of the UTF-8 bytes: its code for a Khmer or a French name is wrong for
# all others, theirs is wrong for it, and it takes its own; an ASCII name hides it. A bill's number, a telephone, a store and a till of full length are 100
# letters in a field whose length has two digits: three are written, the checksum is right, and what follows is read at the wrong place. A long memo does it too.
#
# Seen:
# > Chan Shop: konthaina-khqr's code is right for konthaina-khqr True, qriskit True, vietqr-emvco True
# > Chan Shop: cambodia-bank's code is right for konthaina-khqr True, qriskit True, vietqr-emvco True
# > ហាងចាន់: konthaina-khqr's code is right for konthaina-khqr True, qriskit False, vietqr-emvco False
# > ហាងចាន់: cambodia-bank's code is right for konthaina-khqr False, qriskit True, vietqr-emvco True
# > Café Lune: konthaina-khqr's code is right for konthaina-khqr True, qriskit False, vietqr-emvco False
# > Café Lune: cambodia-bank's code is right for konthaina-khqr False, qriskit True, vietqr-emvco True
# > konthaina-khqr with full labels: field 62 has length 100, checksum right True, read: QRISParseError
# > cambodia-bank with full labels: field 62 has length 100, checksum right True, read: QRISParseError
# > vietqr-emvco, a memo of 96 letters: checksum right True, its own memo ''
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check konthaina-khqr==0.1.7 cambodia-bank==1.0.3 vietqr-emvco==1.0.0 qriskit==0.2.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from cambodia_bank.khqr import KHQRBuilder
from konthaina_khqr import KHQRGenerator, verify
from qriskit import crc, tlv
from vietqr_emvco import VietQRGenerator, VietQRParser

LABELS = {"bill": "INV-2026-11-29-0000012345", "phone": "012345678", "store": "Central Market, stall 117", "till": "Till 3 at the north gate."}
assert all(len(label) <= 25 for label in LABELS.values())


def konthaina(name, labels=None):
    code = KHQRGenerator().set_bakong_account_id("shop@bank").set_merchant_name(name).set_currency("KHR").set_amount(50000)
    if labels:
        code.set_bill_number(labels["bill"]).set_mobile_number(labels["phone"])
        code.set_store_label(labels["store"]).set_terminal_label(labels["till"])
    return code.generate().qr


def cambodia(name, labels=None):
    more = {}
    if labels:
        more = {
            "bill_number": labels["bill"], "phone_number": labels["phone"],
            "store_label": labels["store"], "terminal_label": labels["till"],
        }
    return KHQRBuilder("shop@bank", name, amount=50000, currency="KHR", **more).build()


def right(code):
    return crc.crc16(code[:-4]) == code[-4:]


def read(code):
    try:
        return "all fields" if tlv.decode(code) else "none"
    except ValueError as error:
        return type(error).__name__


for name in ("Chan Shop", "ហាងចាន់", "Café Lune"):
    for maker, make in (("konthaina-khqr", konthaina), ("cambodia-bank", cambodia)):
        code = make(name)
        checks = f"konthaina-khqr {verify(code)}, qriskit {right(code)}, vietqr-emvco {VietQRParser.verify_checksum(code)}"
        print(f"{name}: {maker}'s code is right for {checks}")
for maker, make in (("konthaina-khqr", konthaina), ("cambodia-bank", cambodia)):
    code = make("Chan Shop", LABELS)
    # Behind the city comes field 62, and what it is told to be long by.
    place = code.index("6010Phnom Penh62") + len("6010Phnom Penh62")
    print(f"{maker} with full labels: field 62 has length {code[place:place + 3]}, checksum right {right(code)}, read: {read(code)}")
code = VietQRGenerator("970436", "0123456789").generate(50000, "x" * 96)
print(f"vietqr-emvco, a memo of 96 letters: checksum right {VietQRParser.verify_checksum(code)}, its own memo {VietQRParser.parse(code)['memo']!r}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
