#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Day: 2026-11-28
# Packages (PyPI): emv 1.0.14, pycountry 26.2.16
#
# Guess: a card may ask for a data element in another length than it has, and the library fits it as EMV Book 3, 5.4 says: numbers on the left,
# all else on the right.
# What happens: what is too short gets its zeros on the left, whatever it is, so an unpredictable number of four bytes that a card wants in
# eight starts with zeros: the cryptogram is made over another input than the issuer's. What is too long is an exception,
# where a number loses its first digits and all else its last bytes: a card that asks for the country in one byte cannot be read.
#
# Seen:
# > amount (n) 000000001250 asked in 8 bytes: 0000000000001250
# > unpredictable number (b) A1B2C3D4 asked in 8 bytes: 00000000A1B2C3D4; by Book 3 A1B2C3D400000000
# > amount (n) 000000001250 asked in 4 bytes: Exception; by Book 3 00001250
# > verification results (b) 8000000000 asked in 3 bytes: Exception; by Book 3 800000
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
# Without the readers' library that it asks for, which has to be compiled: lists are made without a reader.
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps emv==1.0.14 pycountry==26.2.16

"$folder/venv/bin/python" - 2>"$folder/errors" <<'PYTHON' | tee "$folder/now" || true
from emv.protocol.data import Tag
from emv.protocol.structures import DOL


def asked(title, tag, value, length, right=None):
    try:
        filled = bytes(DOL.unmarshal([*tag, length]).serialise({Tag(list(tag)): list(bytes.fromhex(value))})).hex().upper()
    except Exception as error:
        filled = type(error).__name__
    print(f"{title} {value} asked in {length} bytes: {filled}" + (f"; by Book 3 {right}" if right else ""))


asked("amount (n)", b"\x9f\x02", "000000001250", 8)
asked("unpredictable number (b)", b"\x9f\x37", "A1B2C3D4", 8, "A1B2C3D400000000")
asked("amount (n)", b"\x9f\x02", "000000001250", 4, "00001250")
asked("verification results (b)", b"\x95", "8000000000", 3, "800000")
PYTHON

diff <(sed -n 's/^# > //p' "$0") "$folder/now" || { cat "$folder/errors" >&2; echo "$(basename "$0"): the behaviour has changed" >&2; exit 1; }
