#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): wallet-py3k 0.0.4 (makes .pkpass files)
#
# Guess: what a program sets on a pass by its name in Apple's pass.json is in the pass, or there is an error. A member's card that a
# reader shall take by a tap gets its `nfc` dictionary so, and an end by `expirationDate`.
# What happens: the pass is made and signed without both, and without an error. A list of known names is written, `nfc`, `barcodes`,
# `sharingProhibited` and `groupingIdentifier` are not in it, and the expiry date's own attribute is misspelt. The card shows its
# barcode in the wallet, and on a reader nothing happens.
#
# Seen:
# > in pass.json of what was set: barcode, voided
# > not in it, without an error: barcodes, expirationDate, groupingIdentifier, nfc, sharingProhibited
# > in it as exprirationDate, which is what the library looks for: expirationDate 2027-01-01T00:00:00Z
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check wallet-py3k==0.0.4
openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=Test -keyout "$folder/key.pem" -out "$folder/certificate.pem" 2>"$folder/openssl"

"$folder/venv/bin/python" - "$folder" 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import json
import sys
import zipfile

from wallet.models import Barcode, BarcodeFormat, Pass, StoreCard

END = "2027-01-01T00:00:00Z"


def made(**more):
    card = Pass(StoreCard(), passTypeIdentifier="pass.example.shop", organizationName="Shop", teamIdentifier="TEAM000001")
    card.serialNumber, card.description = "1", "Member's card"
    for name, value in more.items():
        setattr(card, name, value)
    folder = sys.argv[1]
    card.create(f"{folder}/certificate.pem", f"{folder}/key.pem", f"{folder}/certificate.pem", "", f"{folder}/card.pkpass")
    with zipfile.ZipFile(f"{folder}/card.pkpass") as package:
        return json.loads(package.read("pass.json"))


code = Barcode("4200001", format=BarcodeFormat.QR)
wanted = {
    "barcode": code,
    "barcodes": [code],
    "expirationDate": END,
    "groupingIdentifier": "shop",
    "nfc": {"message": "4200001", "encryptionPublicKey": "MDkwEwYHKoZIzj0CAQ"},
    "sharingProhibited": True,
    "voided": True,
}
written = made(**wanted)
print("in pass.json of what was set:", ", ".join(name for name in wanted if name in written))
print("not in it, without an error:", ", ".join(name for name in wanted if name not in written))
print("in it as exprirationDate, which is what the library looks for: expirationDate", made(exprirationDate=END).get("expirationDate"))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
