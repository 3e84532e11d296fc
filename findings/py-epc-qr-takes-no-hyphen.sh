#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-29
# Package (PyPI): py-epc-qr 0.1.3 (the EPC's QR code for a SEPA transfer, "GiroCode")
#
# Guess: a shop's name and a bill's number are taken with the signs that SEPA has, among them "-" and "."; a transfer may have no text, or a creditor's
# reference (RF) instead of one; never both (EPC069-12); row 3 says how the bytes are written; an IBAN is checked.
# What happens: only letters, digits and blanks are taken in name and text: no hyphen, no full stop. The text must not be empty, so that a reference cannot
# stand alone, and beside a text, where the EPC forbids it, it can. Row 3 may say ISO 8859-1, and the code's bytes are UTF-8 all the same: whoever believes
# the row reads LÃ¼beck. An IBAN with wrong check digits is taken, and one with blanks, as it is printed, is not.
#
# Seen:
# > name Meyer-Schulz: ValueError
# > name St. Pauli Kiosk: ValueError
# > text RE-2026-117: ValueError
# > no text: ValueError
# > reference RF18539007547034 alone: ValueError
# > reference RF18539007547034 and a text: taken
# > IBAN DE00370400440532013000: taken
# > IBAN DE89 3704 0044 0532 0130 00: ValueError
# > row 3 is 2, ISO 8859-1; the name's bytes 43616665204cc3bc6265636b
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check py-epc-qr==0.1.3

(cd "$folder" && venv/bin/python -) 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
import contextlib
import io

import qrcode
from py_epc_qr.transaction import epc_qr

IBAN = "DE89370400440532013000"
REFERENCE = "RF18539007547034"


def transfer(**rows):
    """A transfer of 12.50 EUR with the rows of EPC069-12 that are given."""
    return epc_qr(**{
        "version": "002", "encoding": 1, "bic": "", "beneficiary": "Cafe Luna", "iban": IBAN, "amount": 12.5, "purpose": "",
        "remittance_structured": "", "remittance_unstructured": "Bill 117", "originator_information": "", **rows,
    })


def attempt(title, **rows):
    try:
        transfer(**rows).to_str()
        said = "taken"
    except Exception as error:
        said = type(error).__name__
    print(f"{title}: {said}")


for name in ("Meyer-Schulz", "St. Pauli Kiosk"):
    attempt(f"name {name}", beneficiary=name)
attempt("text RE-2026-117", remittance_unstructured="RE-2026-117")
attempt("no text", remittance_unstructured="")
attempt(f"reference {REFERENCE} alone", remittance_structured=REFERENCE, remittance_unstructured="")
attempt(f"reference {REFERENCE} and a text", remittance_structured=REFERENCE)
for iban in ("DE00370400440532013000", "DE89 3704 0044 0532 0130 00"):
    attempt(f"IBAN {iban}", iban=iban)

drawn = []
make = qrcode.QRCode.make


def keep(self, *words, **names):
    drawn.append(b"".join(part.data for part in self.data_list))
    return make(self, *words, **names)


qrcode.QRCode.make = keep
with contextlib.redirect_stdout(io.StringIO()):
    transfer(encoding=2, beneficiary="Cafe Lübeck").to_qr("code.png")
rows = drawn[0].split(b"\n")
print(f"row 3 is {rows[2].decode()}, ISO 8859-1; the name's bytes {rows[5].hex()}")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
