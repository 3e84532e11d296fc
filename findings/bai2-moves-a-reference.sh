#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Package (PyPI): bai2 0.15.0 (cash management files of US banks)
#
# Guess: a file that is read and written again is the same file, at least in its references: the bank's stays the bank's.
# What happens: a transaction that says nothing more of its funds (types blank, Z, 0, 1, 2) is written with one empty field too many. Who reads it has the
# bank's reference as the customer's, and after the next round it is text. Nothing counts fields, so that all checks of the file pass.
#
# Seen:
# > funds '': BANKREF/CUSTREF/CARD SETTLEMENT then None/BANKREF/CUSTREF,CARD SETTLEMENT then None/None/BANKREF,CUSTREF,CARD SETTLEMENT
# > funds 'Z': BANKREF/CUSTREF/CARD SETTLEMENT then None/BANKREF/CUSTREF,CARD SETTLEMENT then None/None/BANKREF,CUSTREF,CARD SETTLEMENT
# > funds '0': BANKREF/CUSTREF/CARD SETTLEMENT then None/BANKREF/CUSTREF,CARD SETTLEMENT then None/None/BANKREF,CUSTREF,CARD SETTLEMENT
# > funds '1': BANKREF/CUSTREF/CARD SETTLEMENT then None/BANKREF/CUSTREF,CARD SETTLEMENT then None/None/BANKREF,CUSTREF,CARD SETTLEMENT
# > funds '2': BANKREF/CUSTREF/CARD SETTLEMENT then None/BANKREF/CUSTREF,CARD SETTLEMENT then None/None/BANKREF,CUSTREF,CARD SETTLEMENT
# > funds 'V,260305,': BANKREF/CUSTREF/CARD SETTLEMENT then BANKREF/CUSTREF/CARD SETTLEMENT then BANKREF/CUSTREF/CARD SETTLEMENT
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check bai2==0.15.0

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from bai2 import bai2

FILE = """01,122099999,123456789,260302,0800,1,80,,2/
02,031001234,122099999,1,260301,,EUR,2/
03,0123456789,EUR,010,125000,,/
16,165,5000,FUNDS,BANKREF,CUSTREF,CARD SETTLEMENT/
49,130000,3/
98,130000,1,5/
99,130000,1,7/"""

for funds in ("", "Z", "0", "1", "2", "V,260305,"):
    text, seen = FILE.replace("FUNDS", funds), []
    for _ in range(3):
        transaction = bai2.parse_from_string(text).children[0].children[0].children[0]
        seen.append(f"{transaction.bank_reference}/{transaction.customer_reference}/{transaction.text}")
        text = bai2.write(bai2.parse_from_string(text))
    print(f"funds {funds!r}: " + " then ".join(seen))
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
